"""`local-sim history`."""

from __future__ import annotations

import json
from pathlib import Path

from local_sim.definition.loader import load_flow
from local_sim.engine import HistoryEvent, iso_time, to_api
from local_sim.errors import LocalSimError
from local_sim.journal import Journal
from local_sim.runner.children import execution_of
from local_sim.runner.live import LiveExecution

from .places import choose_data, choose_project


class BadFormat(LocalSimError):
    """A format that does not exist."""


def history_command(execution: str, data: Path | None, project: Path | None, output_format: str) -> int:
    """Print an execution's history, also while another process drives it."""
    if output_format not in ("text", "json"):
        raise BadFormat(f"--format is text or json, not {output_format!r}")
    folder = choose_data(data, choose_project(project))
    with Journal(folder, read_only=True) as journal:
        record = journal.find(execution)
        live = LiveExecution(record, execution_of(record, load_flow(record.definition, record.source)))
        live.replay(journal.events(record.id))
    events = list(live.engine.history)
    if output_format == "json":
        document = {
            "Flow": record.flow,
            "Execution": record.name,
            "Status": live.engine.status.value,
            "Events": [to_api(event) for event in events],
        }
        print(json.dumps(document, ensure_ascii=False, indent=2))  # noqa: T201
    else:
        print(f"{record.name} of {record.flow}: {live.engine.status.value}")  # noqa: T201
        for event in events:
            print(_line(event))  # noqa: T201
    return 0


def _line(event: HistoryEvent) -> str:
    detail = json.dumps(dict(event.detail), ensure_ascii=False)
    shown = detail if len(detail) <= 120 else f"{detail[:117]}..."
    return f"{event.event_id:>5} {iso_time(event.time_ms)} {event.type:<18} {event.step_name:<24} {shown}"
