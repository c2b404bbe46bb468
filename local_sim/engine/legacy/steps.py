"""Choice, wait and foreach of the older dialect (legacy page, section 2.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from local_sim.definition.legacy.model import ChoiceStep, ForeachStep, Option, WaitStep
from local_sim.definition.legacy.steps import MAX_WAIT_SECONDS
from local_sim.definition.legacy.timestamps import BadTimestamp, parse_timestamp
from local_sim.definition.model import State
from local_sim.engine.branches import Same, items_at, open_fan
from local_sim.engine.cursor import Cursor
from local_sim.engine.evaluation import compute, number_of, view, whole_between
from local_sim.engine.events import Json
from local_sim.engine.faults import RUNTIME_ERROR, StateFailure
from local_sim.engine.visit import begin, complete
from local_sim.expression.values import type_name

if TYPE_CHECKING:
    from local_sim.engine.machine import Machine

MAX_AT_ONCE = 100
"""Iterations of a foreach in flight (STATED)."""


def attempt_choice_step(run: Machine, cursor: Cursor, state: ChoiceStep) -> bool:
    """Run the nested steps of the first option that holds; its `goto` is followed when they have ended."""
    begin(run, cursor, state)
    option = _chosen(run, cursor, state)
    target = state.next if option is None or option.goto is None else option.goto
    if option is None or option.branch is None:
        complete(run, cursor, state, {}, target)
        return True
    cursor.frozen = target
    return open_fan(run, cursor, [state.branches[option.branch]], [cursor.input], 1, is_map=False)


def _chosen(run: Machine, cursor: Cursor, state: ChoiceStep) -> Option | None:
    scope = view(run, cursor)
    taken = len(state.options)
    for index, option in enumerate(state.options):
        if option.condition is not None and compute(option.condition, scope):
            taken = index
            break
    if run.trace is not None:
        run.trace.chose(state, taken, len(state.options))
    return state.options[taken] if taken < len(state.options) else state.default


def attempt_wait_step(run: Machine, cursor: Cursor, state: WaitStep) -> bool:
    """Wait seconds, or until a moment; one in the past ends at once."""
    begin(run, cursor, state)
    if state.timestamp is not None:
        due = _moment(run, cursor, state)
    else:
        due = run.now + 1000 * _seconds(number_of(run, cursor, state.duration), state.name)
    if due <= run.now:
        complete(run, cursor, state, {})
        return True
    if due - run.now > MAX_WAIT_SECONDS * 1000:
        days = (due - run.now) / 86_400_000
        raise StateFailure(RUNTIME_ERROR, f"{state.name} would wait {days:.1f} days, at most 2 are allowed")
    cursor.waits = run.start_timer(due, "wait", cursor, _waited)
    return False


def _seconds(value: Json, name: str) -> int:
    if type(value) is str and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    return whole_between(value, f"duration of {name}", 0, MAX_WAIT_SECONDS)


def _moment(run: Machine, cursor: Cursor, state: WaitStep) -> int:
    value = number_of(run, cursor, state.timestamp)
    if type(value) is not str:
        raise StateFailure(RUNTIME_ERROR, f"timestamp of {state.name} must be text, not {type_name(value)}")
    try:
        return parse_timestamp(value)
    except BadTimestamp as error:
        raise StateFailure(RUNTIME_ERROR, f"timestamp of {state.name}: {error}") from None


def _waited(run: Machine, cursor: Cursor) -> None:
    cursor.waits = None
    cursor.arrived = {}
    run.ready.append(cursor)


def attempt_foreach(run: Machine, cursor: Cursor, state: ForeachStep) -> bool:
    """Run the steps once an item; each sees the foreach's input with the item and its number laid over it."""
    begin(run, cursor, state)
    inputs: list[Json] = []
    for index, item in enumerate(items_at(run, cursor, state)):
        given = dict(cursor.input)
        if state.item is not None:
            given[state.item] = item
        if state.index is not None:
            given[state.index] = index
        inputs.append(given)
    return open_fan(run, cursor, Same(state.processor, len(inputs)), inputs, MAX_AT_ONCE, is_map=True)


ATTEMPTS: Mapping[type[State], Callable[[Machine, Cursor, Any], bool]] = {
    ChoiceStep: attempt_choice_step,
    WaitStep: attempt_wait_step,
    ForeachStep: attempt_foreach,
}
"""Runs one attempt of a step; true when the cursor moved on, false when it waits."""
