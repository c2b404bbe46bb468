"""The loop: runs whatever is ready until everything waits. Never recursive, however deep the nesting."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from local_sim.definition.model import (
    ChoiceState,
    FailState,
    MapState,
    ParallelState,
    PassState,
    State,
    SucceedState,
    TaskState,
    WaitState,
)

from . import log
from .branches import attempt_inline_map, attempt_parallel, collect, start_next
from .cursor import ABSENT, Cursor
from .distributed import attempt_map_run
from .events import Status
from .failure import fail
from .faults import StateFailure
from .simple import attempt_choice, attempt_fail, attempt_pass, attempt_wait
from .tasks import attempt_task
from .visit import complete

if TYPE_CHECKING:
    from .machine import Machine


def drive(run: Machine) -> None:
    """Follow every line of control that can go on, the newest first."""
    ready = run.ready
    while ready:
        item = ready.pop()
        if not isinstance(item, Cursor):
            start_next(run, item)
        elif item.live:
            _walk(run, item)


def _walk(run: Machine, cursor: Cursor) -> None:
    try:
        if cursor.arrived is not ABSENT:
            result, cursor.arrived = cursor.arrived, ABSENT
            complete(run, cursor, cursor.state, result)
        states = cursor.scope.states
        while cursor.target is not None:
            state = states[cursor.target]
            if not _ATTEMPTS[type(state)](run, cursor, state):
                return
    except StateFailure as failure:
        fail(run, cursor, failure)
        return
    if cursor.fan is None:
        cursor.live = False
        run.finish(Status.SUCCEEDED, log.EXECUTION_SUCCEEDED, output=cursor.raw)
    else:
        collect(run, cursor)


def _attempt_map(run: Machine, cursor: Cursor, state: MapState) -> bool:
    if state.distributed is None:
        return attempt_inline_map(run, cursor, state)
    return attempt_map_run(run, cursor, state, state.distributed)


class _Attempts(dict[type[State], Callable[["Machine", Cursor, Any], bool]]):
    """Steps of the older dialect come in when the first one runs."""

    def __missing__(self, kind: type[State]) -> Callable[[Machine, Cursor, Any], bool]:
        from .legacy.steps import ATTEMPTS

        self.update(ATTEMPTS)
        return ATTEMPTS[kind]


_ATTEMPTS = _Attempts(
    {
        PassState: attempt_pass,
        SucceedState: attempt_pass,
        ChoiceState: attempt_choice,
        WaitState: attempt_wait,
        FailState: attempt_fail,
        TaskState: attempt_task,
        ParallelState: attempt_parallel,
        MapState: _attempt_map,
    }
)
"""Runs one attempt of a state; true when the cursor moved on, false when it waits."""
