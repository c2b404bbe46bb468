"""Which tasks wait for a person now, and which of them a new definition would strand.

The service keeps a running execution's definition (cloudflow-api page, 5.2: STATED for the old product, INFERRED for
the present one). A change that takes away a state somebody waits in would lose the task if that inference were wrong,
and leaves people a token whose state nobody can look up any more: so it wants to be meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import yaml

from scripts.cloud import Event, Flows

__all__ = ["Waiting", "stranded", "waiting_states", "waiting_tasks"]

_LOOKED_AT = 200
_ENDS = ("TaskSucceeded", "TaskFailed", "TaskTimedOut")
_CALLBACKS = ("WaitForCustomCallback", "WaitForSystemCallback")


@dataclass(frozen=True)
class Waiting:
    """An execution that waits in `states`, and since when (the service's text)."""

    execution: str
    states: tuple[str, ...]
    since: str


def waiting_tasks(flows: Flows, flow: str) -> list[Waiting]:
    """The executions of a flow that wait for a callback; the newest 200 running ones are looked at."""
    found = []
    for execution in flows.executions(flow, status="Running")[:_LOOKED_AT]:
        states = waiting_states(flows.history(flow, execution.name))
        if states:
            found.append(Waiting(execution.name, tuple(states), max(states.values())))
    return found


def waiting_states(events: Iterable[Event]) -> Mapping[str, str]:
    """The states that were submitted and have not ended, with the time at which they began to wait."""
    waiting: dict[str, list[str]] = {}
    for event in events:
        if event.type == "TaskSubmitted":
            waiting.setdefault(event.step, []).append(event.time)
        elif event.type in _ENDS and waiting.get(event.step):
            waiting[event.step].pop(0)
    return {step: times[-1] for step, times in waiting.items() if times}


def stranded(waiting: Iterable[Waiting], definition: str) -> list[str]:
    """In words, the waiting tasks whose state the new definition has no longer, or no longer lets wait."""
    modes = _task_modes(yaml.safe_load(definition))
    lost = []
    for task in waiting:
        for state in task.states:
            if state not in modes:
                lost.append(f"{task.execution} waits in {state}, which is gone")
            elif modes[state] not in _CALLBACKS:
                lost.append(f"{task.execution} waits in {state}, which waits no longer")
    return lost


def _task_modes(value: object) -> dict[str, str]:
    """Task mode by name of every state at any depth."""
    found: dict[str, str] = {}
    if isinstance(value, dict):
        if "Type" in value and "Name" in value and value["Type"] != "StateMachine":
            found[str(value["Name"])] = str(value.get("TaskMode", ""))
        for inner in value.values():
            found.update(_task_modes(inner))
    elif isinstance(value, list):
        for inner in value:
            found.update(_task_modes(inner))
    return found
