"""Explorations of the shipped flows, and of copies of the project with something changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from local_sim.explore import Answer, Plan, Report, explore
from scripts.bench.explore import CASES

ROOT = Path(__file__).resolve().parents[2]
TASK, ORDER = CASES["content_review"], CASES["order_saga"]
_COPIED = ("flows", "functions", "ledger", "scripts")


def explored(flow: str, value: Mapping[str, Any], *, root: Path = ROOT, jobs: int = 1, **more: Any) -> Report:
    """Explore a flow; `answers` as {state: [value, ...]}."""
    given: Mapping[str, list[Any]] = more.pop("answers", {})
    answers = tuple(Answer(state, one) for state, values in given.items() for one in values)
    return explore(Plan(root, flow, dict(value), answers=answers, **more), jobs=jobs)


def variant(folder: Path, changes: Mapping[str, tuple[str, str]] | None = None) -> Path:
    """Copy the project into `folder`, with one text replaced in each file that `changes` names; return its root."""
    root = folder / "project"
    for name in _COPIED:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    for name in ("s.yaml", "pyproject.toml"):
        shutil.copy(ROOT / name, root / name)
    for file, (old, new) in (changes or {}).items():
        text = (root / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{file} has {old!r} {text.count(old)} times"
        (root / file).write_text(text.replace(old, new), encoding="utf-8")
    return root


def rules(report: Report) -> set[str]:
    """The rules that were broken."""
    return {one["rule"] for run in report.broken for one in run["violations"]}


def told(report: Report) -> str:
    """What is broken, for the message of a failing assertion."""
    return json.dumps([[run["id"], run["violations"], run["path"]] for run in report.broken][:10], indent=1)
