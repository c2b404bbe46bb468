"""Pass, Choice, Wait, Succeed and Fail (language page 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_sim.definition.model import ChoiceState, FailState, PassState, SucceedState, WaitState
from local_sim.expression.values import type_name

from .cursor import Cursor
from .evaluation import compute, number_of, view, whole_between
from .events import Json
from .faults import RUNTIME_ERROR, StateFailure
from .visit import begin, complete

if TYPE_CHECKING:
    from .machine import Machine


def attempt_pass(run: Machine, cursor: Cursor, state: PassState | SucceedState) -> bool:
    """Hand the constructed input on; a Succeed ends its scope by having no `Next`."""
    begin(run, cursor, state)
    complete(run, cursor, state, cursor.input)
    return True


def attempt_choice(run: Machine, cursor: Cursor, state: ChoiceState) -> bool:
    """Take the first branch whose condition holds, else `Default`."""
    begin(run, cursor, state)
    scope = view(run, cursor)
    target = state.default
    taken = len(state.branches)
    for index, branch in enumerate(state.branches):
        if compute(branch.condition, scope):
            target, taken = branch.next, index
            break
    if run.trace is not None:
        run.trace.chose(state, taken, len(state.branches))
    complete(run, cursor, state, cursor.input, target)
    return True


def attempt_wait(run: Machine, cursor: Cursor, state: WaitState) -> bool:
    """Wait the given seconds; the input is handed on afterwards."""
    begin(run, cursor, state)
    value = number_of(run, cursor, state.seconds)
    seconds = whole_between(value, f"Seconds of {state.name}", 1, run.limits.max_wait_seconds)
    cursor.waits = run.start_timer(run.now + seconds * 1000, "wait", cursor, _waited)
    return False


def attempt_fail(run: Machine, cursor: Cursor, state: FailState) -> bool:
    """Fail under `Code`; an enclosing Parallel or Map may take it (A13)."""
    begin(run, cursor, state)
    code = _text(run, cursor, state.code, f"Code of {state.name}")
    detail = _text(run, cursor, state.detail, f"Detail of {state.name}")
    raise StateFailure(code, detail)


def _waited(run: Machine, cursor: Cursor) -> None:
    cursor.waits = None
    cursor.arrived = cursor.input
    run.ready.append(cursor)


def _text(run: Machine, cursor: Cursor, part: Json, what: str) -> str:
    value = number_of(run, cursor, part)
    if type(value) is not str:
        raise StateFailure(RUNTIME_ERROR, f"{what} must be text, not {type_name(value)}")
    return value
