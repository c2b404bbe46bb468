"""Reads one state of each type (language page 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypedDict

from local_sim.expression import ITEM_ROOTS, OUTPUT_ROOTS, Expression, Position, Template

from .build_rules import read_catch, read_retry
from .constructors import read_template
from .fields import BRANCH_FIELDS, CONFIG_FIELDS, DISTRIBUTED_FIELDS
from .model import (
    ChoiceBranch,
    ChoiceState,
    DistributedConfig,
    FailState,
    MapState,
    ParallelState,
    PassState,
    Scope,
    State,
    SucceedState,
    TaskMode,
    TaskState,
    WaitState,
)
from .nodes import MapNode, ScalarNode
from .readers import Reader
from .scopes import Move, StateInfo

MAX_TASK_SECONDS = 604_800
MAX_BRANCHES = 50
MAX_INLINE_CONCURRENCY = 40
MAX_DISTRIBUTED_CONCURRENCY = 100
MAX_ITEMS = 10_000
DEFAULT_FAIL_CODE = "FnF.Fail"
"""The error name of a Fail without Code (A50)."""
_DOCUMENTED_EXPRESSIONS = ("Timeout.$", "Seconds.$")


class Common(TypedDict):
    """What every state is built from."""

    name: str
    position: Position
    description: str
    input_constructor: Template | None
    output_constructor: Template | None
    global_constructor: Template | None
    next: str | None


Build: TypeAlias = Callable[[Reader, StateInfo, Common], "State | None"]


def read_state(reader: Reader, info: StateInfo, *, express: bool = False) -> State | None:
    """Return the state, or None when it lacks what it needs; records its transitions in `info` either way."""
    common = _common(reader, info)
    if info.type == "Wait":
        return _wait(reader, common, express=express)
    return _BUILDERS[info.type](reader, info, common)


def _common(reader: Reader, info: StateInfo) -> Common:
    next_state = None
    if info.type not in ("Choice", "Succeed", "Fail"):
        next_state = _transition(reader, info)
    elif info.type != "Choice":
        reader.flag("End")
        info.ends = True
    outputs = info.type != "Choice"
    return Common(
        name=info.name,
        position=info.position,
        description=reader.text("Description") or "",
        input_constructor=read_template(reader, "InputConstructor"),
        output_constructor=read_template(reader, "OutputConstructor", OUTPUT_ROOTS) if outputs else None,
        global_constructor=read_template(reader, "GlobalConstructor", OUTPUT_ROOTS) if outputs else None,
        next=next_state,
    )


def _transition(reader: Reader, info: StateInfo) -> str | None:
    """Read Next and End; neither and both are errors (A01)."""
    target = reader.text("Next")
    end = reader.flag("End")
    if target is not None and end:
        key = reader.node.key("End")
        reader.collector.add("SK207", key, f"{reader.what} has both Next and End", fix="keep one of the two")
    if target is not None:
        info.moves.append(Move(target, reader.node.entries["Next"][1].position, "Next"))
    elif end:
        info.ends = True
    elif reader.node.get("Next") is None and (end is False or reader.node.get("End") is None):
        fix = "add 'Next:' with a state's name, or 'End: true'"
        reader.collector.add("SK206", info.position, f"{reader.what} has neither Next nor End", fix=fix)
    return target


def _catch_moves(reader: Reader, info: StateInfo) -> None:
    for node in reader.maps("Catch", filled=False):
        target = node.get("Next")
        if isinstance(target, ScalarNode) and isinstance(target.value, str):
            info.moves.append(Move(target.value, target.position, "Catch"))


def _either(reader: Reader, field: str, read: Callable[[str], float | None]) -> float | Expression | None:
    """Read a field that may also be given as `Field.$`."""
    dynamic = f"{field}.$"
    if reader.node.get(dynamic) is None:
        return read(field)
    if reader.node.get(field) is not None:
        reader.collector.add(
            "SK006", reader.node.key(dynamic), f"{field} and {dynamic} are both given", fix="keep one of the two"
        )
    if dynamic not in _DOCUMENTED_EXPRESSIONS:
        message = f"{dynamic} of {reader.what} is not documented"
        reader.collector.add("SK116", reader.node.key(dynamic), message, fix=f"write {field} as a constant")
    return reader.expression(dynamic)


def _whole(reader: Reader, field: str, low: int, high: int) -> int | Expression | None:
    found = _either(reader, field, lambda name: reader.integer(name, low, high))
    return found if found is None or isinstance(found, Expression) else int(found)


def _pass(reader: Reader, info: StateInfo, common: Common) -> State:
    return PassState(**common)


def _succeed(reader: Reader, info: StateInfo, common: Common) -> State:
    return SucceedState(**common)


def _task(reader: Reader, info: StateInfo, common: Common) -> State | None:
    action = reader.text("Action", required=True, fix="add 'Action: FC:InvokeFunction'")
    mode = reader.choice("TaskMode", tuple(mode.value for mode in TaskMode))
    timeout = _either(reader, "Timeout", lambda name: reader.integer(name, 0, MAX_TASK_SECONDS, as_text=True))
    parameters = read_template(reader, "Parameters")
    retry, catch = read_retry(reader), read_catch(reader)
    _catch_moves(reader, info)
    if action is None:
        return None
    return TaskState(
        **common,
        action=action,
        mode=TaskMode(mode or "RequestComplete"),
        parameters=parameters,
        timeout=timeout,
        retry=retry,
        catch=catch,
    )


def _choice(reader: Reader, info: StateInfo, common: Common) -> State | None:
    branches = [_branch(node, reader, info) for node in reader.maps("Branches", required=True)]
    default = reader.text("Default", required=True, fix="add 'Default:' with the state taken when no branch is")
    if default is None or None in branches:
        return None
    info.moves.append(Move(default, reader.node.entries["Default"][1].position, "Default"))
    return ChoiceState(**common, branches=tuple(branch for branch in branches if branch), default=default)


def _branch(node: MapNode, state: Reader, info: StateInfo) -> ChoiceBranch | None:
    reader = Reader(node, f"a branch of {state.what}", state.collector)
    reader.check_fields(BRANCH_FIELDS)
    reader.text("Description")
    condition = reader.condition("Condition")
    target = reader.text("Next", required=True, fix="add 'Next:' with the state to go to")
    if target is not None:
        info.moves.append(Move(target, node.entries["Next"][1].position, "Next"))
    if condition is None or target is None:
        return None
    return ChoiceBranch(condition, target, node.position)


def _wait(reader: Reader, common: Common, *, express: bool) -> State | None:
    seconds = _whole(reader, "Seconds", 1, 20 if express else 300)
    if reader.node.get("Seconds") is None and reader.node.get("Seconds.$") is None:
        reader.required("Seconds", "add 'Seconds:' with a number from 1 to 300")
    return None if seconds is None else WaitState(**common, seconds=seconds)


def _fail(reader: Reader, info: StateInfo, common: Common) -> State:
    code = reader.expression("Code.$") if reader.node.get("Code.$") else reader.text("Code")
    detail = reader.expression("Detail.$") if reader.node.get("Detail.$") else reader.text("Detail")
    for field, code_of_rule in (("Code", "SK113"), ("Detail", "SK112")):
        dynamic = reader.node.get(f"{field}.$")
        if dynamic is not None:
            message = f"{field}.$ of {reader.what} is not documented"
            reader.collector.add("SK116", reader.node.key(f"{field}.$"), message, fix=f"write {field} as a constant")
        elif reader.node.get(field) is None:
            example = "Code: OrderInvalid" if field == "Code" else "Detail: what happened"
            reader.collector.add(code_of_rule, info.position, f"{reader.what} has no {field}", fix=f"add '{example}'")
    return FailState(
        **common, code=DEFAULT_FAIL_CODE if code is None else code, detail="" if detail is None else detail
    )


def _parallel(reader: Reader, info: StateInfo, common: Common) -> State | None:
    branches = reader.sequence("Branches", required=True)
    if branches is not None and len(branches.items) > MAX_BRANCHES:
        message = f"{reader.what} has {len(branches.items)} branches, at most {MAX_BRANCHES} are allowed"
        reader.collector.add(
            "SK105", branches.items[MAX_BRANCHES], message, fix="use a Map, or a Parallel inside a branch"
        )
    retry, catch = read_retry(reader), read_catch(reader)
    _catch_moves(reader, info)
    scopes = _children(info)
    if branches is None or len(scopes) != len(branches.items):
        return None
    return ParallelState(**common, branches=scopes, retry=retry, catch=catch)


def _children(info: StateInfo) -> tuple[Scope, ...]:
    return tuple(child.scope for child in info.children if child.scope is not None)


def _map(reader: Reader, info: StateInfo, common: Common) -> State | None:
    reader.mapping("Processor", required=True)
    config = _processor_config(reader)
    distributed = config is not None
    items_path = reader.expression("ItemsPath", required=reader.node.get("ItemReader") is None)
    constructor = read_template(reader, "ItemConstructor", ITEM_ROOTS)
    concurrency = _concurrency(reader, MAX_DISTRIBUTED_CONCURRENCY if distributed else MAX_INLINE_CONCURRENCY)
    details = _distributed(reader, config) if config is not None else None
    if not distributed:
        _refuse_distributed(reader)
    retry, catch = read_retry(reader), read_catch(reader)
    _catch_moves(reader, info)
    scopes = _children(info)
    if not scopes or (items_path is None and reader.node.get("ItemReader") is None):
        return None
    return MapState(
        **common,
        processor=scopes[0],
        items_path=items_path,
        item_constructor=constructor,
        max_concurrency=concurrency,
        distributed=details,
        retry=retry,
        catch=catch,
    )


def _processor_config(reader: Reader) -> str | None:
    """Return the execution mode of a distributed Map; ProcessorConfig stands beside Processor or inside it (A54)."""
    inside = reader.node.get("Processor")
    owner = (
        Reader(inside, f"the Processor of {reader.what}", reader.collector) if isinstance(inside, MapNode) else reader
    )
    owner = owner if owner.node.get("ProcessorConfig") is not None else reader
    node = owner.mapping("ProcessorConfig")
    if node is None:
        return None
    config = Reader(node, f"the ProcessorConfig of {reader.what}", reader.collector)
    config.check_fields(CONFIG_FIELDS)
    return config.choice("ExecutionMode", ("Express", "Standard")) or "Express"


def _refuse_distributed(reader: Reader) -> None:
    for field in DISTRIBUTED_FIELDS:
        if field in reader.node.entries:
            message = f"{field} belongs to a distributed Map, and {reader.what} is an inline one"
            reader.collector.add(
                "SK107", reader.node.key(field), message, fix="add 'ProcessorConfig: {ExecutionMode: Express}'"
            )
    if "ItemConstructor" in reader.node.entries:
        message = f"ItemConstructor of {reader.what} is documented for the distributed Map only"
        fix = "build the items in the state before, or make the Map distributed"
        reader.collector.add("SK115", reader.node.key("ItemConstructor"), message, fix=fix)


def _concurrency(reader: Reader, limit: int) -> int | Expression | None:
    """Read both spellings; given twice and differently is an error (A21)."""
    first = _whole(reader, "MaxConcuccency", 1, limit)
    second = _whole(reader, "MaxConcurrency", 1, limit)
    for field in ("MaxConcurrency", "MaxConcurrency.$"):
        if field in reader.node.entries:
            message = "the documentation's table spells it MaxConcuccency"
            reader.collector.add("SK110", reader.node.key(field), message, fix="write MaxConcuccency")
            if first is not None and second is not None and first != second:
                message = f"MaxConcuccency and MaxConcurrency of {reader.what} differ"
                reader.collector.add("SK109", reader.node.key(field), message, fix="keep MaxConcuccency only")
    return second if first is None else first


def _distributed(reader: Reader, mode: str) -> DistributedConfig:
    percentage = _either(reader, "ToleratedFailurePercentage", lambda name: reader.number(name, 0, 100))
    return DistributedConfig(
        execution_mode=mode,
        item_reader=read_template(reader, "ItemReader"),
        item_constructor=None,
        item_batcher=read_template(reader, "ItemBatcher"),
        result_writer=read_template(reader, "ResultWriter"),
        max_items=_whole(reader, "MaxItems", 1, MAX_ITEMS),
        tolerated_failed_percentage=percentage,
        tolerated_failed_count=_whole(reader, "ToleratedFailureCount", 0, MAX_ITEMS),
    )


_BUILDERS: dict[str, Build] = {
    "Pass": _pass,
    "Task": _task,
    "Choice": _choice,
    "Parallel": _parallel,
    "Map": _map,
    "Succeed": _succeed,
    "Fail": _fail,
}
