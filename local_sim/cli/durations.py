"""How long the states, tasks and the whole of an execution took, read from its history."""

from __future__ import annotations

from collections.abc import Sequence

from local_sim.engine import HistoryEvent

_OPENS = {
    "StepExited": "StepEntered",
    "BranchExited": "BranchEntered",
    "IterationExited": "IterationEntered",
    "TaskSucceeded": "TaskScheduled",
    "TaskFailed": "TaskScheduled",
    "TaskTimedOut": "TaskScheduled",
}
"""What closes, and the event that opened it."""


def durations(events: Sequence[HistoryEvent]) -> dict[int, int]:
    """Return milliseconds by event id, for each event that ends a state, a task or the execution.

    A state's time runs from its StepEntered, retries included; a task's from its TaskScheduled. The opening event is
    the nearest one of the same step up the chain of causes.
    """
    found: dict[int, int] = {}
    for event in events:
        opening = _opening(events, event)
        if opening is not None:
            found[event.event_id] = event.time_ms - opening.time_ms
    return found


def _opening(events: Sequence[HistoryEvent], end: HistoryEvent) -> HistoryEvent | None:
    if not end.step_name and end.type.startswith("Execution") and end.event_id > 1:
        return events[0]
    wanted = _OPENS.get(end.type)
    nested, at = 0, end.schedule_event_id
    while wanted is not None and at > 0:
        event = events[at - 1]
        if event.step_name == end.step_name and event.type == end.type:
            nested += 1  # a state of the same name inside, which has a scope of its own
        elif event.step_name == end.step_name and event.type == wanted:
            if nested == 0:
                return event
            nested -= 1
        at = event.schedule_event_id
    return None
