"""Parallel and inline Map: starting lines of control, and collecting what they bring back (language page 5.4, 5.6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from local_sim.definition.model import MapState, ParallelState, Scope
from local_sim.expression.values import type_name

from . import log
from .cursor import ABSENT, Cursor
from .evaluation import check_input, compute, number_of, view, whole_between
from .events import Json
from .fan import Fan
from .faults import RUNTIME_ERROR, StateFailure
from .visit import begin

if TYPE_CHECKING:
    from .machine import Machine


def attempt_parallel(run: Machine, cursor: Cursor, state: ParallelState) -> bool:
    """Start every branch on the same input. A retry runs all of them again (A33)."""
    if cursor.frozen is ABSENT:
        begin(run, cursor, state)
        cursor.frozen = [cursor.input] * len(state.branches)
    else:
        begin_again(run, cursor)
    return open_fan(run, cursor, state.branches, cursor.frozen, max(1, len(state.branches)), is_map=False)


def attempt_inline_map(run: Machine, cursor: Cursor, state: MapState) -> bool:
    """Start the processor once per item, at most `MaxConcuccency` at a time; the items are fixed at entry (C18)."""
    if cursor.frozen is ABSENT:
        begin(run, cursor, state)
        cursor.frozen = construct_items(run, cursor, state, items_at(run, cursor, state))
    else:
        begin_again(run, cursor)
    items: list[Json] = cursor.frozen
    return open_fan(run, cursor, Same(state.processor, len(items)), items, _width(run, cursor, state), is_map=True)


def begin_again(run: Machine, cursor: Cursor) -> None:
    """Write StepStarted for a retry of a Parallel or Map, whose constructed input stays (A33)."""
    cursor.last = run.log.add(cursor.last, cursor.state.name, log.STEP_STARTED, run.now, cursor.input)


def items_at(run: Machine, cursor: Cursor, state: MapState) -> list[Json]:
    """Return the list ItemsPath gives; anything else is a named error (C18)."""
    if state.items_path is None:
        raise StateFailure(RUNTIME_ERROR, f"{state.name}: a Map needs ItemsPath")
    items = compute(state.items_path, view(run, cursor))
    if type(items) is not list:
        raise StateFailure(RUNTIME_ERROR, f"ItemsPath of {state.name} must give an array, not {type_name(items)}")
    return list(items)


def construct_items(run: Machine, cursor: Cursor, state: MapState, items: list[Json]) -> list[Json]:
    """Return the children's inputs: the items themselves, or what ItemConstructor makes of each (C17)."""
    maker = state.item_constructor
    if state.distributed is not None and state.distributed.item_constructor is not None:
        maker = state.distributed.item_constructor
    if maker is None:
        return items
    scope = view(run, cursor)
    made: list[Json] = []
    what = f"what ItemConstructor of {state.name} makes"
    try:
        for scope.item in items:
            made.append(compute(maker, scope))
            check_input(run, made[-1], what)
    except StateFailure as failure:
        raise StateFailure(failure.error, f"item {len(made)}: {failure.cause}") from None
    return made


def start_next(run: Machine, fan: Fan) -> None:
    """Start the next child if there is room. The fan goes back under its child, so that the child runs first (A12)."""
    fan.queued = False
    index = fan.started
    if not fan.live or index >= len(fan.inputs) or len(fan.children) >= fan.width:
        return
    fan.started = index + 1
    cause = run.log.add(fan.cause, fan.owner.state.name, fan.entered, run.now, {"index": index})
    child = Cursor(fan.scopes[index], fan.inputs[index], cause, fan, index)
    fan.children[index] = child
    _queue(run, fan)
    run.ready.append(child)


def collect(run: Machine, child: Cursor) -> None:
    """A child has reached the end of its scope: keep its output; the last one lets the owner go on."""
    fan = child.fan
    if fan is None:
        return
    owner = fan.owner
    child.live = False
    del fan.children[child.index]
    fan.outputs[child.index] = child.raw
    detail = {"index": child.index, "status": "Succeeded", "output": child.raw}
    done = run.log.add(child.last, owner.state.name, fan.exited, run.now, detail)
    if fan.children or fan.started < len(fan.inputs):
        _queue(run, fan)
        return
    owner.last = done
    _close(run, fan)


def open_fan(
    run: Machine, cursor: Cursor, scopes: Sequence[Scope], inputs: list[Json], width: int, *, is_map: bool
) -> bool:
    """Start children, one a scope and input, at most `width` at a time; the owner waits for them."""
    fan = Fan(cursor, scopes, inputs, width, is_map=is_map)
    cursor.waits = fan
    if inputs:
        _queue(run, fan)
    else:
        _close(run, fan)
    return False


def _close(run: Machine, fan: Fan) -> None:
    fan.live = False
    fan.owner.waits = None
    fan.owner.arrived = fan.result()
    run.ready.append(fan.owner)


def _queue(run: Machine, fan: Fan) -> None:
    if not fan.queued and fan.started < len(fan.inputs):
        fan.queued = True
        run.ready.append(fan)


def _width(run: Machine, cursor: Cursor, state: MapState) -> int:
    limit = run.limits.inline_concurrency
    if state.max_concurrency is None:
        return limit
    value = number_of(run, cursor, state.max_concurrency)
    return min(limit, whole_between(value, f"MaxConcuccency of {state.name}", 1, 2**31))


class Same(Sequence[Scope]):
    """The same scope for every item."""

    def __init__(self, scope: Scope, count: int) -> None:
        self._scope = scope
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Scope:  # type: ignore[override]
        return self._scope
