"""Entering and leaving a step of the older dialect (legacy page, section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_sim.definition.legacy.model import ChoiceStep
from local_sim.definition.model import MapState, ParallelState, State, SucceedState, TaskMode, TaskState
from local_sim.engine import log
from local_sim.engine.cursor import ABSENT, Cursor
from local_sim.engine.evaluation import compute, view
from local_sim.engine.events import Json
from local_sim.engine.faults import INPUT_SIZE, OUTPUT_SIZE, StateFailure
from local_sim.engine.frame import Frame
from local_sim.engine.size import json_bytes
from local_sim.engine.tokens import make_token
from local_sim.engine.trace import Part
from local_sim.engine.visit import move_on
from local_sim.expression.values import type_name

if TYPE_CHECKING:
    from local_sim.engine.machine import Machine

MAX_BYTES = 32 * 1024
"""A step's input, output and local together (STATED)."""
INVALID_LOCAL = "FnF.InvalidLocal"


def enter_step(run: Machine, cursor: Cursor, state: State, frame: Frame) -> None:
    """Write StepEntered at the first attempt, and map the input: inputMappings, or the union of input and local."""
    if not frame.opened:
        _open(run, cursor, frame)
    if not cursor.visiting:
        cursor.visiting = True
        if run.trace is not None:
            run.trace.add(state, Part.ENTERED)
        detail = log.Detail(input=frame.input, local=frame.local)
        cursor.last = run.log.add(cursor.last, state.name, log.STEP_ENTERED, run.now, detail)
        frame.context = {"flow": run.flow_name, "eventId": cursor.last}
    if state.input_constructor is None:
        cursor.input = {**frame.input, **frame.local}
    else:
        cursor.input = frame.input
        scope = view(run, cursor, frame.local)
        scope.task_token = _token(run, state)
        cursor.input = compute(state.input_constructor, scope)
    limit = _limit(run)
    if limit is not None and (size := json_bytes(cursor.input, run.limits.max_json_depth)) > limit:
        raise StateFailure(INPUT_SIZE, f"the input of {state.name} has {size} bytes, the limit is {limit}")


def complete_step(run: Machine, cursor: Cursor, state: State, result: Json, target: str | None) -> None:
    """Leave a step: its local, then outputMappings, then into the list's local and on to the next step."""
    if isinstance(state, ChoiceStep) and cursor.frozen is not ABSENT:
        target, result = cursor.frozen, result["Branch0"]
    local = _local_of(state, result)
    if state.output_constructor is not None:
        output: Json = compute(state.output_constructor, view(run, cursor, local))
    else:
        output = {} if type(local) is list else local
    _check_sizes(run, state, cursor.input, local, output)
    if not isinstance(state, TaskState):
        cursor.last = run.log.add(cursor.last, state.name, log.STEP_SUCCEEDED, run.now, output)
    if run.trace is not None and state.next is not None:
        run.trace.add(state, Part.LEFT)
    move_on(run, cursor, state.name, output, target)
    serial = cursor.scope.serial
    if target is None and serial is not None and serial.output_mappings is not None and cursor.frame is not None:
        cursor.input = cursor.frame.input
        cursor.raw = compute(serial.output_mappings, view(run, cursor, cursor.raw))


def _open(run: Machine, cursor: Cursor, frame: Frame) -> None:
    frame.opened = True
    frame.input = cursor.raw
    serial = cursor.scope.serial
    if serial is not None and serial.input_mappings is not None:
        frame.context = {"flow": run.flow_name, "eventId": cursor.last}
        cursor.input = cursor.raw
        frame.input = compute(serial.input_mappings, view(run, cursor, {}))


def _token(run: Machine, state: State) -> str | None:
    """Return the token the task is about to get: that of the next event, TaskScheduled."""
    if not isinstance(state, TaskState) or state.mode is TaskMode.REQUEST_COMPLETE:
        return None
    return make_token(run.secret, run.flow_name, run.name, len(run.log) + 1)


def _local_of(state: State, result: Json) -> Json:
    """Return a step's local (legacy page, sections 2.4 and 4)."""
    if isinstance(state, TaskState):
        return _task_local(state, result)
    if isinstance(state, ParallelState):
        return list(result.values())
    if isinstance(state, MapState):
        return result["Items"]
    return {} if isinstance(state, SucceedState) else result


def _task_local(state: TaskState, result: Json) -> Json:
    called = state.action == "FC:InvokeFunction" and state.mode is not TaskMode.CUSTOM_CALLBACK
    local = result["Body"] if called and type(result) is dict and "Body" in result else result
    if type(local) is not dict:
        cause = f"{state.name}: the result must be a JSON object to become $local, not {type_name(local)}"
        raise StateFailure(INVALID_LOCAL, cause)
    return local


def _check_sizes(run: Machine, state: State, given: Json, local: Json, output: Json) -> None:
    limit = _limit(run)
    if limit is None:
        return
    depth = run.limits.max_json_depth
    sizes = [json_bytes(part, depth) for part in (given, local, output)]
    if sum(sizes) > limit:
        parts = "input {}, local {}, output {}".format(*sizes)
        raise StateFailure(OUTPUT_SIZE, f"{state.name} has {sum(sizes)} bytes ({parts}), the limit is {limit}")


def _limit(run: Machine) -> int | None:
    return None if run.limits.max_io_bytes is None else min(MAX_BYTES, run.limits.max_io_bytes)
