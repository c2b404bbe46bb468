"""What the ledger has to show in the console: named in `[tool.local-sim] panels` of pyproject.toml.

`overview()` gives the six figures of the last day with a small chart each, and the stuck tasks; `execution()` the rows
of a task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, TypeAlias

from ledger import Figures, Ledger, LedgerError, RealClock, StepRow, TaskHistory, figures_of
from scripts.report import REFUSALS, business_errors

__all__ = ["execution", "overview"]

Panel: TypeAlias = dict[str, Any]
_HOUR_MS = 3_600_000
_HOURS = 24
_MOST_TASKS = 300


def overview() -> list[Panel]:
    """Return the figures of the tasks begun in the last day, the newest 300 of them."""
    now_ms = RealClock().now_ms()
    ledger = Ledger.open()
    try:
        begun = sorted(ledger.tasks(now_ms - _HOURS * _HOUR_MS, now_ms + _HOUR_MS), key=lambda task: task.begun_ms)
        newest = begun[-_MOST_TASKS:]
        histories = [(task.begun_ms, ledger.history(task.task_id)) for task in newest]
    except LedgerError as error:
        return [{"title": "Ledger", "note": str(error)}]
    hours: list[list[TaskHistory]] = [[] for _ in range(_HOURS)]
    for begun_ms, history in histories:
        hours[max(0, min(_HOURS - 1, _HOURS - 1 - (now_ms - begun_ms) // _HOUR_MS))].append(history)
    whole = _figures([history for _, history in histories], now_ms)
    note = f"tasks begun in the last {_HOURS} h: {len(begun)}" + (
        f", the newest {_MOST_TASKS} counted" * (len(begun) > _MOST_TASKS)
    )
    lines = [_figure(name, read, whole, [_figures(hour, now_ms) for hour in hours]) for name, read in _FIGURES]
    return [{**lines[0], "note": note}, *lines[1:], _stuck(whole)]


def execution(described: Mapping[str, Any]) -> list[Panel]:
    """Return the ledger's rows of the task that an execution's input names."""
    given = described.get("input")
    task_id = given.get("task_id") if isinstance(given, dict) else None
    if not isinstance(task_id, str):
        return [{"title": "Ledger", "note": "the execution's input has no task_id"}]
    try:
        rows = Ledger.open().rows(task_id)
    except LedgerError as error:
        return [{"title": "Ledger", "note": str(error)}]
    columns = ["step", "direction", "state", "attempt", "epoch", "started", "finished", "error", "result"]
    return [{"title": f"Ledger: {task_id}", "columns": columns, "rows": [_row(row) for row in rows]}]


def _figures(histories: Sequence[TaskHistory], now_ms: int) -> Figures:
    return figures_of(histories, now_ms, business_errors=business_errors(), refusals=REFUSALS)


def _share(figures: Figures) -> float:
    started = sum(figures.started.values())
    return round(100 * sum(figures.first_try.values()) / started, 1) if started else 0.0


_FIGURES: tuple[tuple[str, Callable[[Figures], float]], ...] = (
    ("first-try success, %", _share),
    ("transient errors that later succeeded", lambda figures: figures.recovered),
    ("business errors that went to a person", lambda figures: figures.to_person),
    ("retries exhausted", lambda figures: figures.exhausted),
    ("compensations done", lambda figures: figures.compensations.get("done", 0)),
)


def _figure(name: str, read: Callable[[Figures], float], whole: Figures, hours: Sequence[Figures]) -> Panel:
    return {"title": f"{name}: {read(whole):g}", "chart": [read(hour) for hour in hours]}


def _stuck(figures: Figures) -> Panel:
    rows = [[stuck.task_id, stuck.step, stuck.state, f"{stuck.seconds:.0f} s"] for stuck in figures.stuck]
    return {"title": f"stuck: {len(rows)}", "columns": ["task", "step", "state", "for"], "rows": rows}


def _row(row: StepRow) -> list[Any]:
    times = [_moment(row.started_ms), _moment(row.finished_ms) if row.finished_ms else ""]
    error = f"{row.error_type}: {row.error}" if row.error_type else ""
    return [row.step, row.direction, row.state, row.attempt, row.epoch, *times, error, row.result_summary]


def _moment(time_ms: int) -> str:
    return f"{datetime.fromtimestamp(time_ms / 1000, timezone.utc):%Y-%m-%d %H:%M:%S}"
