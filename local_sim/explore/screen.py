"""The report for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from .faults import description, place
from .model import Verdict
from .report import Report

_STYLES = {
    Verdict.RECOVERED: "green",
    Verdict.COMPENSATED: "cyan",
    Verdict.TO_A_PERSON: "yellow",
    Verdict.BROKEN: "bold red",
}
_SHORT = {
    Verdict.RECOVERED: "ok",
    Verdict.COMPENSATED: "undone",
    Verdict.TO_A_PERSON: "person",
    Verdict.BROKEN: "BROKEN",
}
_MOST_CAUSES = 10


def show(report: Report, console: Console) -> None:
    """Print matrix, what is broken, coverage."""
    if report.plan.replay:
        for line in _replayed(report.runs[0]):
            console.print(line, highlight=False, soft_wrap=True, markup=False)
    elif report.runs:
        console.print(f"{report.plan.flow}: how each fault ends")
        console.print(_matrix(report))
    for run, count in report.causes[:_MOST_CAUSES]:
        console.print()
        for line in _cause(report, run, count):
            console.print(line, highlight=False, soft_wrap=True)
    left = len(report.causes) - _MOST_CAUSES
    if left > 0:
        console.print(f"\n... and {left} more ways of being broken; --json has all of them")
    if not report.plan.replay:
        console.print()
        console.print(_sum(report), highlight=False, soft_wrap=True)


def _replayed(run: Mapping[str, Any]) -> Iterator[str]:
    """Everything about one run, for whoever looks for a cause."""
    faults = {placed["boundary"]: placed["fault"] for placed in run["schedule"]}
    yield f"{run['id']}: {run['verdict']}, ended {run['status']} in {run['end']} {run['error']}".rstrip()
    yield "\nboundaries"
    for one in run["boundaries"]:
        fault = f"   <-- {faults[one['number']]}" if one["number"] in faults else ""
        yield f"  {one['number']:>4} {one['text']}{'   ' if one['line'] else ''}{one['line']}{fault}"
    yield "\nhistory"
    for event in run["history"]:
        said = f"  {event['detail']['error']}" if "error" in event["detail"] else ""
        yield f"  {event['at_ms']} {event['type']} {event['state']}{said}"
    yield "\neffects"
    yield from (f"  {effect}" for effect in run["effects"] or ["none"])


def _matrix(report: Report) -> Table:
    """Faults below each other and states side by side, since a flow has fewer of these."""
    cells = report.matrix()
    table = Table(padding=(0, 1, 0, 0))
    table.add_column("fault", no_wrap=True)
    for state in cells:
        table.add_column(state, overflow="fold")
    for fault in sorted({fault for row in cells.values() for fault in row}, key=place):
        table.add_row(fault, *(_cell(row.get(fault, Counter())) for row in cells.values()))
    return table


def _cell(cell: Counter[str]) -> Text:
    text = Text()
    for verdict in Verdict:
        if cell[verdict.value]:
            text.append((" " if text else "") + f"{cell[verdict.value]} {_SHORT[verdict]}", style=_STYLES[verdict])
    return text


def _cause(report: Report, run: Mapping[str, Any], count: int) -> Iterator[str]:
    shared = f" ({count} runs)" if count > 1 else ""
    yield f"[bold red]BROKEN[/]{shared}: " + (" and ".join(_faults(run)) or "without any fault")
    for one in run["violations"]:
        place = f"  [dim]{one['line']}[/]" if one["line"] else ""
        yield f"  {one['rule']}: {escape(one['text'])}{place}"
        inner = [line for line in one["stack"] if line != one["line"]]
        if inner:
            yield f"    [dim]on the way: {' < '.join(reversed(inner))}[/]"
    yield f"  path: {' -> '.join(run['path'])}"
    if run["id"]:
        yield f"  replay: {report.command(run['id'])}"


def _faults(run: Mapping[str, Any]) -> Iterator[str]:
    for placed, at in zip(run["schedule"], run["at"], strict=True):
        yield f"{placed['fault']} at {at} ({description(placed['fault'])})"


def _sum(report: Report) -> str:
    counts = report.verdicts
    parts = [f"[{_STYLES[one]}]{counts[one.value]} {one.value}[/]" for one in Verdict if counts[one.value]]
    lines = [
        f"{', '.join(parts) or 'no runs'}; tried {report.coverage.text} of boundaries x faults, seed {report.plan.seed}"
    ]
    if report.plan.faults:
        lines.append(f"Only these faults were looked at: {', '.join(report.plan.faults)}")
    for text, count in report.irreversible.items():
        lines.append(f"Cannot be undone: {escape(text)} ({count} runs)")
    if not report.coverage.whole:
        lines.append("Not everything was tried: nothing is said about the rest. Give it more time (--budget).")
    return "\n".join(lines)
