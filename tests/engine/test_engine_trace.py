"""A trace counts what an execution went through, and changes nothing about the execution."""

from __future__ import annotations

from engine_kit import SECRET, Fail, flow_of, simulate, task

from local_sim.definition.model import Flow
from local_sim.engine import Execution, Started, TaskFailed, TaskSucceeded, TimerFired, Trace


def named(flow: Flow, trace: Trace) -> dict[tuple[str, str, int], int]:
    names = {state.position: name for name, state in flow.root.states.items()}
    return {(names[position], part.value, index): count for (position, part, index), count in trace.counts.items()}


CHOICE = """
- {Type: Pass, Name: a, Next: c}
- Type: Choice
  Name: c
  Branches:
    - {Condition: $Input.n > 5, Next: big}
    - {Condition: $Input.n > 2, Next: middle}
  Default: small
- {Type: Pass, Name: big, End: true}
- {Type: Pass, Name: middle, End: true}
- {Type: Pass, Name: small, End: true}
"""


def test_choice_counts_both_sides_and_the_default() -> None:
    flow, trace = flow_of(CHOICE), Trace()
    for value in (9, 3, 0):
        Execution(flow, name="x", secret=SECRET, trace=trace).handle(Started(0, {"n": value}, "s"))
    assert named(flow, trace) == {
        ("a", "entered", 0): 3,
        ("a", "left", 0): 3,
        ("c", "entered", 0): 3,
        ("c", "held", 0): 1,
        ("c", "failed", 0): 2,
        ("c", "held", 1): 1,
        ("c", "failed", 1): 1,
        ("c", "default", 0): 1,
        ("big", "entered", 0): 1,
        ("middle", "entered", 0): 1,
        ("small", "entered", 0): 1,
    }


def test_retry_rules_are_taken_then_exhausted_and_catch_rules_caught() -> None:
    rules = (
        "Retry: [{Errors: [Busy], MaxAttempts: 1, IntervalSeconds: 1}],"
        "Catch: [{Errors: [Other], Next: other}, {Errors: [FnF.ALL], Next: rest}]"
    )
    flow = flow_of(
        task("t", rules, next_state="done")
        + "- {Type: Pass, Name: other, End: true}\n- {Type: Pass, Name: rest, End: true}\n"
        + "- {Type: Succeed, Name: done}\n"
    )
    trace = Trace()
    execution = Execution(flow, name="x", secret=SECRET, trace=trace)
    first = execution.handle(Started(0, {}, "s"))
    task_id = next(command.task_id for command in first if hasattr(command, "action"))
    retry = execution.handle(TaskFailed(1, task_id, "Busy"))
    timer = next(command.timer_id for command in retry if hasattr(command, "due_ms"))
    again = execution.handle(TimerFired(1001, timer))
    execution.handle(TaskFailed(1002, next(c.task_id for c in again if hasattr(c, "action")), "Busy"))
    assert named(flow, trace) == {
        ("t", "entered", 0): 1,
        ("t", "retried", 0): 1,
        ("t", "exhausted", 0): 1,
        ("t", "caught", 1): 1,
        ("rest", "entered", 0): 1,
    }


def test_a_state_whose_constructor_fails_was_entered_but_not_left() -> None:
    flow = flow_of(
        "- {Type: Pass, Name: a, Next: b, OutputConstructor: {x.$: $Input.none.y}}\n- {Type: Succeed, Name: b}\n"
    )
    trace = Trace()
    Execution(flow, name="x", secret=SECRET, trace=trace).handle(Started(0, {"none": 1}, "s"))
    assert named(flow, trace) == {("a", "entered", 0): 1}


def test_a_trace_changes_nothing() -> None:
    states = task("t", "Retry: [{Errors: [E], MaxAttempts: 2, IntervalSeconds: 1}]", next_state="c") + CHOICE
    plain = simulate(states, input={"n": 9}, tasks={"t": [Fail("E"), {"n": 9}]})
    flow = flow_of(states)
    traced = Execution(flow, name=plain.execution.name, secret=SECRET, trace=Trace())
    for event in plain.events:
        traced.handle(event)
    assert list(traced.history) == list(plain.execution.history)
    assert any(isinstance(event, TaskSucceeded) for event in plain.events)
