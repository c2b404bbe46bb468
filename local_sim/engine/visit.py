"""Entering a state and leaving it well: constructors in their order, `$Global`, history (language page 4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_sim.definition.model import State, TaskState

from . import log
from .cursor import ABSENT, Cursor
from .evaluation import check_input, check_output, compute, view
from .events import Json
from .faults import RUNTIME_ERROR, StateFailure
from .size import json_bytes
from .trace import Part

if TYPE_CHECKING:
    from .machine import Machine


def enter(run: Machine, cursor: Cursor, state: State) -> None:
    """Write StepEntered at the first attempt of a visit, and construct the input; again at each retry (A15)."""
    if cursor.frame is not None:
        from .legacy.visit import enter_step

        enter_step(run, cursor, state, cursor.frame)
        return
    cursor.input = cursor.raw
    if not cursor.visiting:
        cursor.visiting = True
        if run.trace is not None:
            run.trace.add(state, Part.ENTERED)
        cursor.last = run.log.add(cursor.last, state.name, log.STEP_ENTERED, run.now, cursor.raw)
    if state.input_constructor is not None:
        made = compute(state.input_constructor, view(run, cursor))
        check_input(run, made, f"the input of {state.name}")
        cursor.input = made


def begin(run: Machine, cursor: Cursor, state: State) -> None:
    """Enter, and write StepStarted: what every state but a Task does."""
    enter(run, cursor, state)
    cursor.last = run.log.add(cursor.last, state.name, log.STEP_STARTED, run.now, cursor.input)


def complete(run: Machine, cursor: Cursor, state: State, result: Json, target: str | None = None) -> None:
    """Leave a state whose action gave `result`: OutputConstructor, then GlobalConstructor, then on to `Next` (GLOB).

    `target` is a Choice's; every other state goes to its `Next`, or ends its scope.
    """
    target = target or state.next
    if cursor.frame is not None:
        from .legacy.visit import complete_step

        complete_step(run, cursor, state, result, target)
        return
    output = result
    if state.output_constructor is not None:
        output = compute(state.output_constructor, view(run, cursor, result))
    if output is not cursor.input:
        final = target is None and cursor.fan is None
        check_output(run, output, f"the output of {state.name}", final=final)
    if state.global_constructor is not None:
        merge_globals(run, compute(state.global_constructor, view(run, cursor, result)))
    if not isinstance(state, TaskState):
        cursor.last = run.log.add(cursor.last, state.name, log.STEP_SUCCEEDED, run.now, output)
    if run.trace is not None and state.next is not None:
        run.trace.add(state, Part.LEFT)
    move_on(run, cursor, state.name, output, target)


def move_on(run: Machine, cursor: Cursor, name: str, output: Json, target: str | None) -> None:
    """Write StepExited and make `target` the next state, which gets `output`. The visit's counters end here (A14)."""
    detail = output
    if cursor.frame is not None:
        output = cursor.frame.merge(output)
        detail = log.Detail(local=output)
    cursor.last = run.log.add(cursor.last, name, log.STEP_EXITED, run.now, detail)
    cursor.raw = cursor.input = output
    cursor.target = target
    cursor.visiting = False
    cursor.retries = 0
    cursor.rule_uses = None
    cursor.frozen = ABSENT


def merge_globals(run: Machine, made: dict[str, Json]) -> None:
    """Merge new keys into `$Global`. A new object each time: older values may still be looked at."""
    limits = run.limits
    for key, value in made.items():
        if len(key.encode("utf-8", "surrogatepass")) > limits.max_global_key_bytes:
            raise StateFailure(RUNTIME_ERROR, f"global key {key[:40]!r} has over {limits.max_global_key_bytes} bytes")
        if limits.max_global_value_bytes is not None:
            size = json_bytes(value, limits.max_json_depth)
            if size > limits.max_global_value_bytes:
                limit = limits.max_global_value_bytes
                raise StateFailure(RUNTIME_ERROR, f"global value {key!r} has {size} bytes, the limit is {limit}")
    run.globals = {**run.globals, **made}
