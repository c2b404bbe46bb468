"""From a typed definition to nodes and edges; both dialects."""

from __future__ import annotations

from collections.abc import Iterator

from local_sim.definition.legacy.model import ChoiceStep, Option, WaitStep
from local_sim.definition.model import (
    ChoiceState,
    FailState,
    Flow,
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
from local_sim.expression import Expression, Template

from .model import Edge, Kind, Line, Node, Part

START = "\0start"
END = "\0end"
"""Names of the dots that begin and end a part; no state can be called so."""

_KINDS: tuple[tuple[type[State], Kind], ...] = (
    (ParallelState, Kind.GROUP),
    (MapState, Kind.GROUP),
    (ChoiceState, Kind.CHOICE),
    (ChoiceStep, Kind.CHOICE),
    (WaitState, Kind.WAIT),
    (WaitStep, Kind.WAIT),
    (SucceedState, Kind.SUCCEED),
    (FailState, Kind.FAIL),
    (PassState, Kind.PASS),
)


def part_of(flow: Flow) -> Part:
    """Return the whole flow as one part; its heading is the flow's name."""
    return _part(flow.name, flow.root)


def _part(heading: str, scope: Scope) -> Part:
    states = list(scope.states.values())
    edges = [Edge(START, scope.start_at)]
    edges += [edge for state in states for edge in _edges(state)]
    nodes = [Node(START, Kind.START), *map(_node, states)]
    if any(edge.target == END for edge in edges):
        nodes.append(Node(END, Kind.END))
    return Part(heading, tuple(nodes), tuple(dict.fromkeys(edges)))


def _node(state: State) -> Node:
    return Node(state.name, _kind(state), _note(state), tuple(_parts(state)))


def _kind(state: State) -> Kind:
    if isinstance(state, TaskState):
        return Kind.CALLBACK if state.mode is TaskMode.CUSTOM_CALLBACK else Kind.TASK
    if isinstance(state, ChoiceStep) and state.branches:
        return Kind.GROUP
    return next(kind for base, kind in _KINDS if isinstance(state, base))


def _note(state: State) -> str:
    if isinstance(state, TaskState):
        return _called(state)
    if isinstance(state, WaitState):
        return f"Wait {_scalar(state.seconds)} s"
    if isinstance(state, WaitStep):
        return f"Wait {_scalar(state.duration)} s" if state.timestamp is None else f"until {_scalar(state.timestamp)}"
    if isinstance(state, FailState):
        return f"Fail {_scalar(state.code)}"
    if isinstance(state, MapState):
        items = f" {state.items_path.text}" if state.items_path is not None else ""
        return f"{'distributed Map' if state.distributed else 'Map'}{items}"
    return {ParallelState: "Parallel", ChoiceStep: "Choice", SucceedState: "Succeed", PassState: "Pass"}.get(
        type(state), "Choice"
    )


def _called(state: TaskState) -> str:
    """Return what a task calls: the function's or flow's name where it is a constant, else the action."""
    resource = _resource(state.parameters)
    for mark in ("functions/", "flow/"):
        if mark in resource:
            return resource.split(mark, 1)[1].split("/")[0]
    return state.action


def _resource(parameters: Template | None) -> str:
    found = None if parameters is None else parameters.constant.get("resourceArn")
    return found if isinstance(found, str) else ""


def _scalar(value: object) -> str:
    return value.text if isinstance(value, Expression) else str(value)


def _parts(state: State) -> Iterator[Part]:
    if isinstance(state, ParallelState):
        for number, scope in enumerate(state.branches):
            yield _part(f"Branch{number}", scope)
    elif isinstance(state, MapState):
        yield _part("each item", state.processor)
    elif isinstance(state, ChoiceStep):
        for option in _options(state):
            if option.branch is not None:
                yield _part(_condition(option), state.branches[option.branch])


def _options(state: ChoiceStep) -> list[Option]:
    return [*state.options, *([state.default] if state.default else [])]


def _condition(option: Option) -> str:
    return "otherwise" if option.condition is None else option.condition.text


def _edges(state: State) -> Iterator[Edge]:
    name = state.name
    if isinstance(state, ChoiceState):
        for branch in state.branches:
            yield Edge(name, branch.next, Line.CHOICE, branch.condition.text)
        yield Edge(name, state.default, Line.CHOICE, "otherwise")
    elif isinstance(state, ChoiceStep):
        yield from _option_edges(state)
    elif not isinstance(state, FailState | SucceedState):
        yield Edge(name, state.next or END)
    if isinstance(state, TaskState | ParallelState | MapState):
        caught: dict[str, list[str]] = {}
        for rule in state.catch:
            caught.setdefault(rule.next, []).extend(rule.errors)
        for target, errors in caught.items():
            yield Edge(name, target, Line.ERROR, ", ".join(dict.fromkeys(errors)))


def _option_edges(state: ChoiceStep) -> Iterator[Edge]:
    onward = state.next or END
    for option in _options(state):
        yield Edge(state.name, option.goto or onward, Line.CHOICE, _condition(option))
    if state.default is None:
        yield Edge(state.name, onward, Line.CHOICE, "otherwise")
