"""`local-sim history`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from local_sim.definition.loader import load_flow
from local_sim.engine import HistoryEvent, iso_time, to_api
from local_sim.journal import Journal
from local_sim.runner.children import execution_of
from local_sim.runner.live import LiveExecution

from .durations import durations
from .places import choose_data, choose_project


def history_command(execution: str, data: Path | None, project: Path | None, output_format: str) -> int:
    """Print an execution's history, also while another process drives it."""
    folder = choose_data(data, choose_project(project))
    with Journal(folder, read_only=True) as journal:
        record = journal.find(execution)
        live = LiveExecution(record, execution_of(record, load_flow(record.definition, record.source)))
        live.replay(journal.events(record.id))
    events = list(live.engine.history)
    took = durations(events)
    if output_format == "json":
        document = {
            "Flow": record.flow,
            "Execution": record.name,
            "Status": live.engine.status.value,
            "DurationMs": _whole(events),
            "Events": [_document(event, took.get(event.event_id)) for event in events],
        }
        print(json.dumps(document, ensure_ascii=False, indent=2))  # noqa: T201
    else:
        print(f"{record.name} of {record.flow}: {live.engine.status.value}, {_seconds(_whole(events))}")  # noqa: T201
        for event in events:
            print(_line(event, took.get(event.event_id)))  # noqa: T201
    return 0


def _whole(events: Sequence[HistoryEvent]) -> int:
    """Return the milliseconds from the first event to the last."""
    return events[-1].time_ms - events[0].time_ms if events else 0


def _document(event: HistoryEvent, took_ms: int | None) -> dict[str, Any]:
    return to_api(event) if took_ms is None else {**to_api(event), "DurationMs": took_ms}


def _seconds(took_ms: int | None) -> str:
    return "" if took_ms is None else f"{took_ms / 1000:.3f} s"


def _line(event: HistoryEvent, took_ms: int | None) -> str:
    detail = json.dumps(dict(event.detail), ensure_ascii=False)
    shown = detail if len(detail) <= 120 else f"{detail[:117]}..."
    took = _seconds(took_ms)
    return f"{event.event_id:>5} {iso_time(event.time_ms)} {took:>12} {event.type:<18} {event.step_name:<24} {shown}"
