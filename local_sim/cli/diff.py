"""`local-sim diff`: where two executions of a journal part."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from local_sim.masks import mask

if TYPE_CHECKING:
    from local_sim.engine import HistoryEvent

SAME, DIFFERENT = 0, 1
_COMMON_SHOWN = 3


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(diff)


def diff(
    one: Annotated[str, typer.Argument(metavar="A", help="Execution name.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Execution name.")],
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Data folder (default: .local-sim in the project).")
    ] = None,
    project: Annotated[
        Path | None, typer.Option("--project", metavar="DIR", help="Project folder (default: found upwards).")
    ] = None,
    output_format: Annotated[str, typer.Option("--format", metavar="text|json", help="How to print it.")] = "text",
    json_output: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
) -> int:
    """Show where two executions part, for example: local-sim diff yesterday today

    That is the first event whose data differs, and the first that goes another way.
    Times, event ids, request ids, callback tokens and the executions' names do not count. Exits 0 when they are alike,
    1 when they part, 2 when there is no such execution.
    """
    from .places import choose_data, choose_format, choose_project

    output_format = choose_format(output_format, as_json=json_output)
    folder = choose_data(data, choose_project(project))
    sides = [(name, *_history(name, folder)) for name in (one, other)]
    comparison = compare(*sides)
    sys.stdout.write(
        json.dumps(comparison, ensure_ascii=False, indent=2) + "\n" if output_format == "json" else _text(comparison)
    )
    return SAME if comparison["Same"] else DIFFERENT


def _history(name: str, folder: Path) -> tuple[str, list[HistoryEvent]]:
    from local_sim.definition.loader import load_flow
    from local_sim.journal import Journal
    from local_sim.runner.children import execution_of
    from local_sim.runner.live import LiveExecution

    with Journal(folder, read_only=True) as journal:
        record = journal.find(name)
        live = LiveExecution(record, execution_of(record, load_flow(record.definition, record.source)))
        live.replay(journal.events(record.id))
    return live.engine.status.value, list(live.engine.history)


Side = tuple[str, str, Sequence["HistoryEvent"]]
"""An execution's name, its status and its events."""


def compare(one: Side, other: Side) -> dict[str, Any]:
    """Return what differs: `Data` is the first event that is not alike, `Path` the first of another type or step."""
    data = _first(one, other, _content)
    path = _first(one, other, lambda event, name: f"{event.type} {event.step_name}")
    return {
        "Executions": [
            {"Execution": name, "Status": status, "Events": len(events)} for name, status, events in (one, other)
        ],
        "Same": data is None,
        "Data": data,
        "Path": path,
    }


def _first(one: Side, other: Side, key: Callable[[HistoryEvent, str], str]) -> dict[str, Any] | None:
    left, right = one[2], other[2]
    for number in range(max(len(left), len(right))):
        a = left[number] if number < len(left) else None
        b = right[number] if number < len(right) else None
        if a is None or b is None or key(a, one[0]) != key(b, other[0]):
            before = [_short(event) for event in left[max(0, number - _COMMON_SHOWN) : number]]
            return {"Event": number + 1, "Before": before, "Sides": [_shown(a), _shown(b)]}
    return None


def _content(event: HistoryEvent, name: str) -> str:
    """Return what counts of an event, as text: without what differs between any two runs."""
    detail = json.dumps(dict(event.detail), ensure_ascii=False, sort_keys=True)
    return f"{event.type} {event.step_name} {mask(detail, name)}"


def _short(event: HistoryEvent) -> str:
    return f"{event.event_id} {event.type} {event.step_name}".rstrip()


def _shown(event: HistoryEvent | None) -> dict[str, Any] | None:
    if event is None:
        return None
    return {
        "EventId": event.event_id,
        "Type": event.type,
        "StepName": event.step_name,
        "EventDetail": dict(event.detail),
    }


def _text(comparison: dict[str, Any]) -> str:
    names = [side["Execution"] for side in comparison["Executions"]]
    lines = [f"{side['Execution']}: {side['Status']}, {side['Events']} events" for side in comparison["Executions"]]
    if comparison["Same"]:
        return "\n".join([*lines, "alike, event by event", ""])
    data, path = comparison["Data"], comparison["Path"]
    lines += _place("data first differs", data, names)
    if path is None:
        lines.append("both take the same path")
    elif path["Event"] != data["Event"]:
        lines += _place("paths part", path, names)
    else:
        lines.append("their paths part there too")
    return "\n".join([*lines, ""])


def _place(what: str, found: dict[str, Any], names: Sequence[str]) -> list[str]:
    lines = [f"{what} at event {found['Event']}"]
    lines += [f"    = {event}" for event in found["Before"]]
    for name, event in zip(names, found["Sides"], strict=True):
        lines.append(f"    {name}: {_event_text(event)}")
    return lines


def _event_text(event: dict[str, Any] | None) -> str:
    if event is None:
        return "no more events"
    detail = json.dumps(event["EventDetail"], ensure_ascii=False)
    return f"{event['Type']} {event['StepName']} {detail if len(detail) <= 400 else detail[:397] + '...'}"
