"""The engine's commands ReadItems and WriteResults as calls, and the outcomes of those calls as events."""

from __future__ import annotations

from local_sim.definition.model import TaskMode
from local_sim.engine import Event, ItemsRead, MapIoFailed, ReadItems, ResultsWritten, WriteResults

from .model import Call, CallFailed, Json, Outcome

READ_ITEMS = "Map:ReadItems"
WRITE_RESULTS = "Map:WriteResults"


def map_call(execution: str, command: ReadItems | WriteResults) -> Call:
    """Return the call that carries a command out. Parameters: `{reader, max_items}`, or `{writer, results, name}`."""
    given: Json
    if isinstance(command, ReadItems):
        name, given = READ_ITEMS, {"reader": command.reader, "max_items": command.max_items}
    else:
        name = WRITE_RESULTS
        given = {"writer": command.writer, "results": command.results, "name": command.name}
    stamp = f"1-00000000-{command.map_run:024x}"
    return Call(execution, command.path, name, TaskMode.REQUEST_COMPLETE, given, stamp)


def map_event(command: ReadItems | WriteResults, outcome: Outcome, now_ms: int) -> Event:
    """Return the event that tells the engine how it ended."""
    if isinstance(outcome, CallFailed):
        return MapIoFailed(now_ms, command.map_run, outcome.error, outcome.cause)
    if isinstance(command, ReadItems):
        if not isinstance(outcome.output, list):
            return MapIoFailed(now_ms, command.map_run, "FnF.RuntimeError", f"{READ_ITEMS} returned no list of items")
        return ItemsRead(now_ms, command.map_run, outcome.output)
    return ResultsWritten(now_ms, command.map_run, outcome.output)
