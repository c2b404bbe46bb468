"""Big flows need no recursion and no more time or memory a step than small ones (C19, C20, issue 3)."""

from __future__ import annotations

import sys
import tracemalloc

import pytest
from engine_kit import SECRET, simulate

from local_sim.definition.model import Flow, MapState, ParallelState, PassState, Position, Scope, State
from local_sim.engine import Execution, Limits, Started
from local_sim.expression import compile_expression

UNLIMITED = Limits(max_events=None)
HERE = Position(1, 1)


def chain(length: int) -> Flow:
    names = [f"s{number}" for number in range(length)]
    following = [*names[1:], None]
    states = {
        name: PassState(name=name, position=HERE, next=after) for name, after in zip(names, following, strict=True)
    }
    return Flow(name="chain", root=Scope("s0", states))


def run(flow: Flow, value: object = None) -> Execution:
    execution = Execution(flow, name="run", secret=SECRET, limits=UNLIMITED)
    execution.handle(Started(0, value or {}, "s"))
    return execution


def test_a_chain_of_ten_thousand_states_runs() -> None:
    execution = run(chain(10_000), {"n": 1})
    assert execution.output == {"n": 1}
    assert len(execution.history) == 40_002


def test_a_loop_of_twenty_thousand_laps_runs() -> None:
    states = """
- {Type: Pass, Name: add, OutputConstructor: {lap.$: 'intAdd($Input.lap, 1)'}, Next: check}
- {Type: Choice, Name: check, Branches: [{Condition: '$Input.lap < 20000', Next: add}], Default: done}
- {Type: Succeed, Name: done}
"""
    assert simulate(states, input={"lap": 0}, limits=UNLIMITED).output == {"lap": 20_000}


def nested(levels: int, kind: type[State]) -> Flow:
    scope = Scope("leaf", {"leaf": PassState(name="leaf", position=HERE)})
    for level in range(levels):
        name = f"n{level}"
        if kind is ParallelState:
            state: State = ParallelState(name=name, position=HERE, branches=(scope,))
        else:
            items = compile_expression("$Context.Execution.Input.xs")
            state = MapState(name=name, position=HERE, processor=scope, items_path=items)
        scope = Scope(name, {name: state})
    return Flow(name="nested", root=scope)


@pytest.mark.parametrize("kind", [ParallelState, MapState])
@pytest.mark.parametrize("levels", [60, 200])
def test_deep_nesting_needs_no_recursion(kind: type[State], levels: int) -> None:
    flow = nested(levels, kind)
    depth = sys.getrecursionlimit()
    frames = 0
    frame = sys._getframe()
    while frame is not None:
        frames, frame = frames + 1, frame.f_back  # type: ignore[assignment]
    sys.setrecursionlimit(frames + 80)  # far below one frame a level
    try:
        execution = Execution(flow, name="run", secret=SECRET, limits=Limits(max_events=None, max_io_bytes=None))
        execution.handle(Started(0, {"xs": [1]}, "s"))
    finally:
        sys.setrecursionlimit(depth)
    assert execution.status.value == "Succeeded", execution.cause


def test_two_hundred_nested_maps_stay_within_the_depth_of_a_value() -> None:
    assert run(nested(200, MapState), {"xs": [{}]}).status.value == "Succeeded"


def test_a_failure_two_hundred_levels_down_reaches_the_top() -> None:
    levels = 200
    states = "{Type: Fail, Name: f, Code: Deep, Detail: down}"
    for level in range(levels):
        first = "f" if level == 0 else f"p{level - 1}"
        states = f"{{Type: Parallel, Name: p{level}, Branches: [{{StartAt: {first}, States: [{states}]}}], End: true}}"
    execution = simulate(f"- {states}", limits=UNLIMITED)
    assert (execution.error, execution.cause) == ("Deep", "down")


def test_a_map_of_ten_thousand_items_keeps_their_order() -> None:
    states = (
        "- {Type: Map, Name: m, ItemsPath: $Input.xs, Processor: {StartAt: i, States: [{Type: Pass, "
        "Name: i, End: true}]}, End: true}"
    )
    assert simulate(states, input={"xs": list(range(10_000))}, limits=UNLIMITED).output == {
        "Items": list(range(10_000))
    }


def test_history_costs_less_than_a_kilobyte_a_state() -> None:
    flow = chain(2_000)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    execution = run(flow, {"n": 1})
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert len(execution.history) == 8_002
    assert used / 2_000 < 1024
