"""Laws: same events, same everything; a prefix replayed gives the same state; the end is final."""

from __future__ import annotations

import json
from typing import Any

from engine_kit import NEVER, SECRET, After, Fail, Reported, Simulator, body, flow_of
from hypothesis import given, settings
from hypothesis import strategies as st

from local_sim.definition.model import Flow
from local_sim.engine import (
    Event,
    Execution,
    Ignored,
    Limits,
    decode_event,
    encode_command,
    encode_event,
    to_api,
)

LIMITS = Limits(max_events=400)
ERRORS = st.sampled_from(["A", "B", "FC.ResourceThrottled"])
OUTCOME = st.one_of(
    st.integers(0, 9).map(body),
    st.builds(Fail, ERRORS, st.sampled_from(["", "why"])),
    st.just(NEVER),
    st.builds(After, st.sampled_from([0.5, 3, 70]), st.integers(0, 9).map(body) | st.builds(Fail, ERRORS)),
)
CALLBACK_OUTCOME = st.one_of(st.builds(Reported, OUTCOME), st.builds(Fail, ERRORS))
RULES = st.sampled_from(
    [
        "",
        ", Retry: [{Errors: [A], MaxAttempts: 2, IntervalSeconds: 1, BackoffRate: 2}]",
        ", Retry: [{Errors: [FnF.ALL], MaxAttempts: 1, IntervalSeconds: 0}]",
        ", Catch: [{Errors: [B, FnF.TaskTimeout], Next: CAUGHT}]",
        (
            ", Retry: [{Errors: [A], MaxAttempts: 1, IntervalSeconds: 5}], Catch: [{Errors: [FnF.ALL], "
            "Next: CAUGHT, OutputConstructor: {e.$: $Context.Current.Error.Code}}]"
        ),
    ]
)


class Names:
    """Fresh state names for one generated flow."""

    def __init__(self) -> None:
        self.given = 0

    def fresh(self, kind: str) -> str:
        self.given += 1
        return f"{kind}{self.given}"


@st.composite
def scopes(draw: st.DrawFn, names: Names, depth: int) -> tuple[str, list[str]]:
    """Return a start and the states of a scope: a line of one to three states that ends in a Succeed."""
    end = names.fresh("End")
    following, states = end, [f"{{Type: Succeed, Name: {end}}}"]
    for _ in range(draw(st.integers(1, 3))):
        name, text = draw(state(names, depth, following))
        states.insert(0, text)
        following = name
    return following, states


@st.composite
def state(draw: st.DrawFn, names: Names, depth: int, following: str) -> tuple[str, str]:
    kinds = ["Pass", "Task", "Callback", "Wait", "Choice", "Fail"] + (["Parallel", "Map"] if depth else [])
    kind = draw(st.sampled_from(kinds))
    name = names.fresh(kind)
    rules = draw(RULES).replace("CAUGHT", following)
    if kind == "Pass":
        extra = draw(
            st.sampled_from(
                [
                    "",
                    ", GlobalConstructor: {k.$: uuid()}",
                    ", OutputConstructor: {g.$: $Global}",
                    ", OutputConstructor: {x.$: $Input.no}",
                ]
            )
        )
        return name, f"{{Type: Pass, Name: {name}, Next: {following}{extra}}}"
    if kind == "Wait":
        return name, f"{{Type: Wait, Name: {name}, Seconds: {draw(st.sampled_from([1, 30]))}, Next: {following}}}"
    if kind == "Fail":
        return name, f"{{Type: Fail, Name: {name}, Code: {draw(ERRORS)}, Detail: d}}"
    if kind == "Choice":
        return (
            name,
            (
                f"{{Type: Choice, Name: {name}, Branches: [{{Condition: '\"g\" in $Input', Next: "
                f"{following}}}], Default: {following}}}"
            ),
        )
    if kind in ("Task", "Callback"):
        more = (
            "TaskMode: WaitForCustomCallback, Parameters: {t.$: $Context.Current.TaskToken}, "
            if kind == "Callback"
            else ""
        )
        timeout = draw(st.sampled_from(["", "Timeout: 60, "]))
        return name, f"{{Type: Task, Name: {name}, Action: 'X:Do', {more}{timeout}Next: {following}{rules}}}"
    inner = [draw(scopes(names, depth - 1)) for _ in range(1 if kind == "Map" else draw(st.integers(1, 3)))]
    parts = [f"{{StartAt: {start}, States: [{', '.join(states)}]}}" for start, states in inner]
    if kind == "Map":
        return (
            name,
            (
                f"{{Type: Map, Name: {name}, ItemsPath: $Context.Execution.Input.xs, MaxConcuccency: 2, "
                f"Processor: {parts[0]}, Next: {following}{rules}}}"
            ),
        )
    return name, f"{{Type: Parallel, Name: {name}, Branches: [{', '.join(parts)}], Next: {following}{rules}}}"


@st.composite
def simulations(draw: st.DrawFn) -> tuple[Flow, list[Event], list[Any]]:
    """Return a random flow, the events of one run of it, and the commands each event gave."""
    start, states = draw(scopes(Names(), 2))
    flow = flow_of("\n".join(f"- {text}" for text in states), start=start)
    drawn: dict[tuple[tuple[str, ...], int], Any] = {}

    def outcome(command: Any) -> Any:
        key = (command.path, command.attempt)
        if key not in drawn:
            drawn[key] = draw(CALLBACK_OUTCOME if command.token else OUTCOME)
        return drawn[key]

    tasks = _Always(outcome)
    value = {"xs": draw(st.lists(st.integers(0, 3), max_size=4))}
    simulator = Simulator(flow, input=value, limits=LIMITS)
    simulator.tasks = tasks  # type: ignore[assignment]
    simulator.start()
    run = simulator.finish()
    return flow, run.events, run.replies


class _Always(dict[str, Any]):
    def __init__(self, outcome: Any) -> None:
        super().__init__()
        self.outcome = outcome

    def get(self, key: str, default: Any = None) -> Any:
        return self.outcome


def fresh(flow: Flow) -> Execution:
    return Execution(flow, name="run", secret=SECRET, limits=LIMITS)


def snapshot(execution: Execution) -> Any:
    return (
        execution.status,
        execution.output,
        execution.error,
        execution.cause,
        execution.waiting,
        execution.current_states,
        [encode_command(command) for command in execution.pending()],
        [to_api(event) for event in execution.history],
    )


@settings(max_examples=60)
@given(simulations())
def test_same_events_in_same_history_and_commands_out(run: tuple[Flow, list[Event], list[Any]]) -> None:
    flow, events, replies = run
    execution = fresh(flow)
    assert [execution.handle(event) for event in events] == replies


@settings(max_examples=40)
@given(simulations(), st.data())
def test_a_replayed_prefix_gives_the_same_state_and_goes_on_alike(
    run: tuple[Flow, list[Event], list[Any]], data: st.DataObject
) -> None:
    flow, events, replies = run
    cut = data.draw(st.integers(0, len(events)))
    before = fresh(flow)
    for event in events[:cut]:
        before.handle(event)
    stored = json.loads(json.dumps([encode_event(event) for event in events[:cut]]))
    after = fresh(flow)
    for item in stored:
        after.handle(decode_event(item))
    assert snapshot(after) == snapshot(before)
    assert [after.handle(event) for event in events[cut:]] == replies[cut:]


@settings(max_examples=40)
@given(simulations())
def test_every_run_ends_and_its_end_is_final(run: tuple[Flow, list[Event], list[Any]]) -> None:
    flow, events, _ = run
    execution = fresh(flow)
    for event in events:
        execution.handle(event)
    assert execution.status.value in ("Succeeded", "Failed", "TimedOut")
    end = snapshot(execution)
    for event in events:
        (answer,) = execution.handle(event)
        assert isinstance(answer, Ignored)
    assert snapshot(execution) == end


@settings(max_examples=40)
@given(simulations())
def test_what_is_entered_is_left_unless_it_was_cancelled(run: tuple[Flow, list[Event], list[Any]]) -> None:
    flow, events, _ = run
    execution = fresh(flow)
    for event in events:
        execution.handle(event)
    types = execution.history.types()
    assert types.count("BranchEntered") >= types.count("BranchExited")
    assert types.count("StepEntered") >= types.count("StepExited")
    if execution.status.value == "Succeeded" and "Cancelled" not in json.dumps([to_api(e) for e in execution.history]):
        assert types.count("StepEntered") == types.count("StepExited")
        assert types.count("BranchEntered") == types.count("BranchExited")
    assert len(types) <= 401


@settings(max_examples=30)
@given(simulations())
def test_every_timer_fires_or_is_cancelled_once(run: tuple[Flow, list[Event], list[Any]]) -> None:
    _, events, replies = run
    flat = [encode_command(command) for commands in replies for command in commands]
    started = [c["timer_id"] for c in flat if c["type"] == "StartTimer"]
    cancelled = [c["timer_id"] for c in flat if c["type"] == "CancelTimer"]
    fired = [e["timer_id"] for e in map(encode_event, events) if e["type"] == "TimerFired"]
    assert sorted(started) == sorted(cancelled + fired)
