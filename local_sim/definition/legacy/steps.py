"""Reads one step of each type (legacy page, section 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypedDict

from local_sim.definition.collector import Collector
from local_sim.definition.model import (
    FailState,
    ParallelState,
    PassState,
    Scope,
    State,
    SucceedState,
    TaskState,
)
from local_sim.definition.nodes import MapNode, ScalarNode
from local_sim.definition.readers import Reader, report_expression, scalar
from local_sim.definition.scopes import Move
from local_sim.expression import Condition, Expression, ExpressionSyntaxError, Position, Template

from .conditions import compile_condition, compile_input_path
from .mappings import read_mappings
from .model import ChoiceStep, ForeachStep, Option, WaitStep
from .rules import read_catch, read_retry
from .targets import MODES, action_of, parameters_of, resource_of
from .timestamps import BadTimestamp, parse_timestamp

MAX_WAIT_SECONDS = 2 * 86_400
MAX_TASK_SECONDS = 604_800
MAX_BRANCHES = 100
DEFAULT_ERROR = "FnF.Fail"
"""The error name of a fail step without `error` (B14)."""

_COMMON = ("type", "name", "description", "end", "inputMappings", "outputMappings")
_TASK = ("resourceArn", "action", "pattern", "timeoutSeconds", "serviceParams", "retry", "catch", "errorMappings")
STEP_FIELDS: dict[str, tuple[str, ...]] = {
    "pass": _COMMON,
    "task": (*_COMMON, *_TASK),
    "wait": (*_COMMON, "duration", "timestamp"),
    "choice": (*_COMMON, "choices", "default"),
    "parallel": (*_COMMON, "branches"),
    "foreach": (*_COMMON, "iterationMapping", "steps"),
    "succeed": _COMMON,
    "fail": (*_COMMON, "error", "cause"),
}
"""The fields of each type of step."""
STEP_TYPES = tuple(STEP_FIELDS)


@dataclass(frozen=True, slots=True)
class StepReader:
    """A step whose name and type are known; `depth` is that of its list."""

    name: str
    kind: str
    reader: Reader
    depth: int


class ReadList(Protocol):
    """Reads a list of steps inside a step."""

    def __call__(self, owner: MapNode, what: str, collector: Collector, *, depth: int) -> Scope | None:
        """Return the scope, or None when it has errors."""
        ...


class Common(TypedDict):
    """What every step is built from."""

    name: str
    position: Position
    description: str
    input_constructor: Template | None
    output_constructor: Template | None
    next: str | None


def read_step(step: StepReader, follower: str | None, moves: list[Move], read_list: ReadList) -> State | None:
    """Return the lowered step, or None when it has errors. Jumps are recorded in `moves`."""
    reader = step.reader
    reader.check_fields(STEP_FIELDS[step.kind])
    common = Common(
        name=step.name,
        position=reader.node.entries["name"][1].position,
        description=reader.text("description") or "",
        input_constructor=read_mappings(reader, "inputMappings"),
        output_constructor=read_mappings(reader, "outputMappings"),
        next=follower,
    )
    if step.kind == "pass":
        return PassState(**common)
    if step.kind == "succeed":
        return SucceedState(**common)
    if step.kind == "fail":
        return FailState(**common, code=reader.text("error") or DEFAULT_ERROR, detail=reader.text("cause") or "")
    if step.kind == "wait":
        return _wait(reader, common)
    if step.kind == "task":
        return _task(reader, common, moves)
    return _COMPOUND[step.kind](step, common, moves, read_list)


def _wait(reader: Reader, common: Common) -> State | None:
    duration, timestamp = reader.node.get("duration"), reader.node.get("timestamp")
    if duration is not None and timestamp is not None:
        key = reader.node.key("timestamp")
        reader.collector.add("SK006", key, f"{reader.what} has duration and timestamp", fix="keep one of the two")
        return None
    if timestamp is not None:
        until = _dynamic(reader, "timestamp") or _constant_time(reader)
        return None if until is None else WaitStep(**common, timestamp=until)
    if reader.required("duration", "add 'duration:' with seconds, or 'timestamp:'") is None:
        return None
    seconds: int | Expression | None = _dynamic(reader, "duration")
    if seconds is None:
        seconds = reader.integer("duration", 0, MAX_WAIT_SECONDS, as_text=True)
    return None if seconds is None else WaitStep(**common, duration=seconds)


def _dynamic(reader: Reader, field: str) -> Expression | None:
    """Return the path in a field, or None when it holds a constant."""
    node = reader.node.get(field)
    if not isinstance(node, ScalarNode) or not isinstance(node.value, str) or not node.value.startswith("$"):
        return None
    try:
        return compile_input_path(node.value, field, node.position)
    except ExpressionSyntaxError as error:
        report_expression(error, node, f"{field} of {reader.what}", reader.collector)
        return None


def _constant_time(reader: Reader) -> str | None:
    text = reader.text("timestamp")
    if text is None or text.startswith("$"):
        return None
    try:
        parse_timestamp(text)
    except BadTimestamp as error:
        reader.collector.add("SK105", reader.node.entries["timestamp"][1], f"timestamp of {reader.what}: {error}")
        return None
    return text


def _task(reader: Reader, common: Common, moves: list[Move]) -> State | None:
    mode = MODES[reader.choice("pattern", tuple(MODES)) or "requestResponse"]
    timeout: float | Expression | None = _dynamic(reader, "timeoutSeconds")
    if timeout is None and reader.node.get("timeoutSeconds") is not None:
        timeout = reader.integer("timeoutSeconds", 0, MAX_TASK_SECONDS, as_text=True)
    target = reader.node.get("resourceArn")
    action, resource = reader.text("action"), "" if target is None else resource_of(target)
    if target is not None and action is not None:
        key = reader.node.key("action")
        reader.collector.add("SK006", key, f"{reader.what} has resourceArn and action", fix="keep one of the two")
    if target is None and action is None:
        reader.required("resourceArn", "add 'resourceArn:' with a function or a flow, or 'action:'")
        return None
    if target is not None and not resource:
        reader.wrong("resourceArn", target, "a text")
        return None
    called = action or action_of(resource)
    return TaskState(
        **common,
        action=called,
        mode=mode,
        parameters=parameters_of(reader, called, resource, mode),
        timeout=timeout,
        retry=read_retry(reader),
        catch=read_catch(reader, moves),
    )


def _choice(step: StepReader, common: Common, moves: list[Move], read_list: ReadList) -> State | None:
    reader = step.reader
    branches: list[Scope] = []
    options = [_option(node, step, moves, read_list, branches) for node in reader.maps("choices", required=True)]
    default = reader.mapping("default")
    other = None if default is None else _option(default, step, moves, read_list, branches, is_default=True)
    found = tuple(option for option in options if option is not None)
    if len(found) < len(options) or (default is not None and other is None):
        return None
    return ChoiceStep(**common, options=found, default=other, branches=tuple(branches))


def _option(
    node: MapNode,
    step: StepReader,
    moves: list[Move],
    read_list: ReadList,
    branches: list[Scope],
    *,
    is_default: bool = False,
) -> Option | None:
    what = f"{'the default' if is_default else 'a choice'} of {step.reader.what}"
    reader = Reader(node, what, step.reader.collector)
    reader.check_fields(("steps", "goto") if is_default else ("condition", "description", "steps", "goto"))
    condition = None if is_default else _condition(reader)
    target = reader.text("goto")
    if target is not None:
        moves.append(Move(target, node.entries["goto"][1].position, "goto"))
    branch = None
    if node.get("steps") is not None:
        scope = read_list(node, what, reader.collector, depth=step.depth + 1)
        if scope is None:
            return None
        branch = len(branches)
        branches.append(scope)
    return None if condition is None and not is_default else Option(condition, branch, target)


def _condition(reader: Reader) -> Condition | None:
    text = reader.text("condition", required=True, fix="add 'condition:' with a comparison")
    if text is None:
        return None
    node = scalar(reader.node.entries["condition"][1])
    try:
        return compile_condition(text, node.position)
    except ExpressionSyntaxError as error:
        report_expression(error, node, f"condition of {reader.what}", reader.collector)
        return None


def _parallel(step: StepReader, common: Common, moves: list[Move], read_list: ReadList) -> State | None:
    reader = step.reader
    nodes = reader.maps("branches", required=True)
    if len(nodes) > MAX_BRANCHES:
        message = f"{reader.what} has {len(nodes)} branches, at most {MAX_BRANCHES} are allowed"
        reader.collector.add("SK105", nodes[MAX_BRANCHES], message, fix="use a foreach")
        return None
    branches: list[Scope] = []
    for number, node in enumerate(nodes):
        what = f"branch {number} of {reader.what}"
        Reader(node, what, reader.collector).check_fields(("steps", "name"))
        scope = read_list(node, what, reader.collector, depth=step.depth + 1)
        branches.extend([scope] if scope is not None else [])
    return ParallelState(**common, branches=tuple(branches)) if nodes and len(branches) == len(nodes) else None


def _foreach(step: StepReader, common: Common, moves: list[Move], read_list: ReadList) -> State | None:
    reader = step.reader
    node = reader.mapping("iterationMapping", required=True)
    scope = read_list(reader.node, reader.what, reader.collector, depth=step.depth + 1)
    if node is None:
        return None
    mapping = Reader(node, f"the iterationMapping of {reader.what}", reader.collector)
    for name, (key, _) in node.entries.items():
        if name not in ("collection", "item", "index"):
            message = f"{mapping.what}: what {name[:60]!r} means is not documented; it is ignored (B15)"
            reader.collector.add("SK601", key, message, fix="remove it")
    items = _dynamic(mapping, "collection")
    if items is None and not (isinstance(node.get("collection"), ScalarNode) and reader.collector.failed):
        text = mapping.text("collection", required=True, fix="add 'collection: $.items'")
        if text is not None:
            mapping.wrong("collection", node.entries["collection"][1], "a path such as $.items")
    item, index = mapping.text("item"), mapping.text("index")
    if scope is None or items is None:
        return None
    return ForeachStep(**common, processor=scope, items_path=items, item=item, index=index)


_COMPOUND: dict[str, Callable[[StepReader, Common, list[Move], ReadList], State | None]] = {
    "choice": _choice,
    "parallel": _parallel,
    "foreach": _foreach,
}
