"""The report as one HTML page that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from .faults import DESCRIPTIONS, ERROR, place
from .model import Verdict
from .report import Report, worst

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;color:#1b1f24;background:#fff}
table{border-collapse:collapse;font-size:13px}th,td{border:1px solid #d0d7de;padding:.25rem .5rem;text-align:center}
th{background:#f6f8fa;font-weight:600}th.state,td.state{text-align:left}th.fault{writing-mode:vertical-rl;height:9rem}
.recovered{background:#dafbe1}.compensated{background:#ddf4ff}.person{background:#fff8c5}.broken{background:#ffcecb}
.broken{font-weight:700}pre{background:#f6f8fa;padding:.75rem;overflow:auto;font-size:12px}summary{cursor:pointer}
@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}th,pre{background:#161b22}
th,td{border-color:#30363d}td.recovered,td.compensated,td.person,td.broken{color:#1b1f24}}
"""
_CLASSES = {
    Verdict.RECOVERED: "recovered",
    Verdict.COMPENSATED: "compensated",
    Verdict.TO_A_PERSON: "person",
    Verdict.BROKEN: "broken",
}


def page(report: Report) -> str:
    """Return the page's text."""
    body = "\n".join([*_head(report), *_matrix(report), *_broken(report), *_legend()])
    title = f"Fault exploration of {escape(report.plan.flow)}"
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style>\n<h1>{title}</h1>\n{body}\n</html>\n"
    )


def _head(report: Report) -> Iterator[str]:
    counts = report.verdicts
    parts = ", ".join(f"{counts[one.value]} {one.value}" for one in Verdict if counts[one.value])
    yield f"<p>{escape(parts)}.</p>"
    yield f"<p>Tried {escape(report.coverage.text)} of boundaries x faults, depth {report.plan.depth}, seed "
    yield f"{escape(report.plan.seed)}. <code>{escape(report.command())}</code></p>"
    for text, count in report.irreversible.items():
        yield f"<p>Cannot be undone: {escape(text)} ({count} runs).</p>"
    if not report.coverage.whole:
        yield "<p><strong>Not everything was tried: nothing is said about the rest.</strong></p>"


def _matrix(report: Report) -> Iterator[str]:
    cells = report.matrix()
    faults = sorted({fault for row in cells.values() for fault in row}, key=place)
    yield "<table><tr><th class=state>state</th>"
    yield "".join(f'<th class="fault">{escape(fault)}</th>' for fault in faults) + "</tr>"
    for state, row in cells.items():
        yield f'<tr><td class="state">{escape(state)}</td>'
        yield "".join(_cell(row.get(fault)) for fault in faults) + "</tr>"
    yield "</table>"


def _cell(cell: Mapping[str, int] | None) -> str:
    if not cell:
        return "<td></td>"
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(cell.items()))
    bad = cell.get(Verdict.BROKEN.value, 0)
    text = f"{bad}/{sum(cell.values())}" if bad else str(sum(cell.values()))
    return f'<td class="{_CLASSES[worst(cell)]}" title="{escape(told)}">{text}</td>'


def _broken(report: Report) -> Iterator[str]:
    causes = report.causes
    yield "<h2>Broken</h2>" if causes else "<p>Nothing is broken in what was tried.</p>"
    for run, count in causes:
        yield f"<h3>{escape(', '.join(run['at']) or 'without any fault')}</h3>"
        yield f"<p>{count} runs; the shortest: <code>{escape(report.command(run['id']))}</code></p><ul>"
        for one in run["violations"]:
            place = f" <code>{escape(one['line'])}</code>" if one["line"] else ""
            yield f"<li>{escape(one['rule'])}: {escape(one['text'])}{place}</li>"
        yield "</ul>"
        for name in ("boundaries", "history", "effects", "tables", "logs"):
            if name in run:
                yield f"<details><summary>{name}</summary><pre>{escape(_lines(run[name]))}</pre></details>"


def _lines(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in value)
    return json.dumps(value, ensure_ascii=False, indent=1)


def _legend() -> Iterator[str]:
    yield "<h2>Faults</h2><table>"
    for fault, text in DESCRIPTIONS.items():
        name = "error:NAME" if fault == ERROR else fault
        yield f'<tr><td class="state">{escape(name)}</td><td class="state">{escape(text)}</td></tr>'
    yield "</table>"
