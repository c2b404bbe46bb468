"""64 KiB, 5,000 events, timeouts, Express (IO, LIM, EXEC; A24, A25, A35, A60, A67; C07, C13, C20, C54, C55, C63)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import NEVER, After, Fail, Reported, body, flow_of, simulate, task

from local_sim.engine import CancelTask, CancelTimer, Limits

LIMIT = 64 * 1024
UNLIMITED = Limits(max_events=None)


def filled(size: int, character: str = "x") -> dict[str, Any]:
    """Return an object of exactly `size` bytes on the wire, filled up with one character."""
    width = len(character.encode())
    count, rest = divmod(size - len('{"t":""}'), width)
    return {"t": character * count + "y" * rest}


@pytest.mark.parametrize("character", ["x", "中", "😀", "é"])
@pytest.mark.parametrize(("size", "status"), [(LIMIT - 1, "Succeeded"), (LIMIT, "Succeeded"), (LIMIT + 1, "Failed")])
def test_the_limit_counts_bytes_of_the_result_whatever_the_characters(character: str, size: int, status: str) -> None:
    run = simulate(task("T"), tasks={"T": filled(size, character)})
    assert run.status == status
    if status == "Failed":
        assert (run.error, run.cause) == (
            "FnF.OutputSizeExceeded",
            f"the result of T has {size} bytes, the limit is {LIMIT}",
        )


@pytest.mark.parametrize(("size", "status"), [(LIMIT, "Succeeded"), (LIMIT + 1, "Failed")])
def test_escapes_count_as_they_are_sent(size: int, status: str) -> None:
    quotes, rest = divmod(size - len('{"t":""}'), 2)
    assert simulate(task("T"), tasks={"T": {"t": '"' * quotes + "y" * rest}}).status == status


@pytest.mark.parametrize("below", [10, 50, 200, 0, -1])
def test_what_fits_in_a_state_but_not_behind_its_constructor_fails_there(below: int) -> None:
    value = filled(LIMIT - below)
    run = simulate(task("T", "OutputConstructor: {wrapped.$: $Output}"), tasks={"T": value})
    wrapper = len('{"wrapped":}')
    assert run.status == ("Succeeded" if below >= wrapper else "Failed")
    if run.status == "Failed":
        assert run.error == "FnF.OutputSizeExceeded"


@pytest.mark.parametrize(
    ("what", "states", "error", "cause"),
    [
        (
            "input",
            "- {Type: Pass, Name: a, InputConstructor: {x.$: $Input.t, y.$: $Input.t}, End: true}",
            "FnF.InputSizeExceeded",
            "the input of a has",
        ),
        (
            "output",
            "- {Type: Pass, Name: a, OutputConstructor: {x.$: $Input.t, y.$: $Input.t}, End: true}",
            "FnF.OutputSizeExceeded",
            "the output of a has",
        ),
        (
            "parameters",
            (
                "- {Type: Task, Name: a, Action: 'HTTP:Request', Parameters: {url.$: $Input.t, method: GET, "
                "body.$: $Input.t}, End: true}"
            ),
            "FnF.InputSizeExceeded",
            "Parameters of a has",
        ),
        (
            "item",
            (
                "- {Type: Map, Name: a, ItemsPath: '$Input.xs', ItemConstructor: {x.$: $Input.t, y.$: "
                "$Input.t}, End: true, Processor: {StartAt: b, States: [{Type: Succeed, Name: b}]}}"
            ),
            "FnF.InputSizeExceeded",
            "what ItemConstructor of a makes has",
        ),
        (
            "catch",
            task("a", "Catch: [{Errors: [E], Next: b, OutputConstructor: {x.$: $Input.t, y.$: $Input.t}}]")
            + "- {Type: Succeed, Name: b}",
            "FnF.OutputSizeExceeded",
            "what a Catch of a hands on has",
        ),
    ],
)
def test_every_place_a_value_is_made_is_measured(what: str, states: str, error: str, cause: str) -> None:
    run = simulate(states, input={"t": "x" * 40_000, "xs": [1]}, tasks={"a": Fail("E")})
    assert (run.error, run.status) == (error, "Failed"), what
    assert cause in run.cause


def test_a_size_error_can_be_caught_in_the_middle() -> None:
    states = (
        task(
            "T",
            "Catch: [{Errors: [FnF.ALL], Next: h, OutputConstructor: {c.$: $Context.Current.Error.Code}}]",
            next_state="n",
        )
        + "- {Type: Pass, Name: n, End: true}\n- {Type: Succeed, Name: h}"
    )
    run = simulate(states, tasks={"T": filled(LIMIT + 1)})
    assert run.output == {"c": "FnF.OutputSizeExceeded"}


def test_the_final_output_is_beyond_any_catch() -> None:
    states = task(
        "T",
        (
            "OutputConstructor: {a.$: $Output, b: 'b'}, Catch: [{Errors: [FnF.ALL], Next: h}], Retry: "
            "[{Errors: [FnF.ALL], MaxAttempts: 3, IntervalSeconds: 1}]"
        ),
    )
    run = simulate(states + "- {Type: Succeed, Name: h}", tasks={"T": filled(LIMIT)})
    assert (run.status, run.error, run.visited(), len(run.calls())) == ("Failed", "FnF.OutputSizeExceeded", ["T"], 1)


@pytest.mark.parametrize(("size", "status"), [(33 * 1024, "Succeeded"), (LIMIT, "Succeeded"), (65 * 1024, "Failed")])
def test_the_executions_input_is_measured(size: int, status: str) -> None:
    run = simulate("- {Type: Pass, Name: a, OutputConstructor: {}, End: true}", input=filled(size))
    assert run.status == status
    if status == "Failed":
        assert (run.error, run.visited()) == ("FnF.InputSizeExceeded", [])


def test_the_limit_is_a_setting() -> None:
    strict = Limits(max_io_bytes=32 * 1024)
    assert simulate(task("T"), tasks={"T": filled(33 * 1024)}, limits=strict).error == "FnF.OutputSizeExceeded"
    assert simulate(task("T"), tasks={"T": filled(10**6)}, limits=Limits(max_io_bytes=None)).status == "Succeeded"


@pytest.mark.parametrize("value", [[1], "text", None, 3, True])
def test_the_executions_input_must_be_an_object(value: Any) -> None:
    execution_input = value if value is not None else [None]
    run = simulate("- {Type: Pass, Name: a, End: true}", input=execution_input)
    assert (run.error, run.cause) == ("FnF.RuntimeError", "the execution's input must be an object")


LOOP = """
- {Type: Pass, Name: A, Next: B}
- Type: Choice
  Name: B
  Branches: [{Condition: '$Context.Execution.Input.never', Next: out}]
  Default: A
- {Type: Succeed, Name: out}
"""


def test_a_loop_that_never_ends_is_ended_and_names_its_states() -> None:
    run = simulate(LOOP, input={"never": False})
    assert (run.status, run.error) == ("Failed", "FnF.HistoryLimitExceeded")
    assert run.cause == "more than 5000 history events; states entered most: A 625 times, B 625 times"
    assert len(run.execution.history) == 5001
    assert run.types()[-1] == "ExecutionFailed"


POLL = """
- {Type: Pass, Name: start, OutputConstructor: {lap: 0}, Next: add}
- {Type: Pass, Name: add, OutputConstructor: {lap.$: 'intAdd($Input.lap, 1)'}, Next: check}
- Type: Choice
  Name: check
  Branches: [{Condition: '$Input.lap < $Context.Execution.Input.laps', Next: add}]
  Default: done
- {Type: Succeed, Name: done}
"""


@pytest.mark.parametrize(("laps", "status"), [(623, "Succeeded"), (624, "Failed")])
def test_a_loop_just_under_the_limit_passes(laps: int, status: str) -> None:
    run = simulate(POLL, input={"laps": laps})
    assert run.status == status
    # 1 start, 4 for each state, 1 end
    assert len(run.execution.history) == (1 + 4 * (2 + 2 * laps) + 1 if status == "Succeeded" else 5001)


@pytest.mark.parametrize("over", [0, 1])
def test_the_closing_event_counts_too(over: int) -> None:
    run = simulate("- {Type: Pass, Name: a, End: true}", limits=Limits(max_events=6 - over))
    assert run.status == ("Failed" if over else "Succeeded")


def test_reaching_the_event_limit_cancels_what_is_under_way() -> None:
    branch = f"{{StartAt: T, States: [{task('T')[2:].strip()}]}}"
    loop = "{StartAt: A, States: [{Type: Wait, Name: A, Seconds: 1, Next: B}, {Type: Pass, Name: B, Next: A}]}"
    states = f"- {{Type: Parallel, Name: p, End: true, Branches: [{branch}, {loop}]}}"
    run = simulate(states, tasks={"T": NEVER}, limits=Limits(max_events=100))
    assert run.error == "FnF.HistoryLimitExceeded"
    assert [command.task_id for command in run.of(CancelTask)] == [run.calls()[0].task_id]


def test_results_that_merge_into_the_state_grow_and_end_in_a_size_error() -> None:
    states = """
- {Type: Task, Name: T, Action: 'FC:InvokeFunction', Parameters: {resourceArn: a, invocationType: Sync},
   OutputConstructor: {before.$: $Input, now.$: $Output.Body}, Next: T2}
- {Type: Choice, Name: T2, Branches: [{Condition: 'false', Next: T}], Default: T}
"""
    flow = flow_of(states)
    run = simulate(flow, tasks={"T": body("x" * 1000)}, limits=UNLIMITED)
    assert (run.status, run.error) == ("Failed", "FnF.OutputSizeExceeded")
    assert "the output of T has" in run.cause
    assert len(run.calls()) == 65


def test_a_poll_loop_that_replaces_its_state_does_not_grow() -> None:
    run = simulate(POLL, input={"laps": 60})
    entered = [
        event.detail["input"]
        for event in run.execution.history
        if event.type == "StepEntered" and event.step_name == "add"
    ]
    assert [set(value) for value in entered] == [{"lap"}] * 60


def test_an_execution_timeout_ends_it_as_timed_out_and_no_catch_takes_it() -> None:
    states = task("T", "Catch: [{Errors: [FnF.ALL], Next: h}]") + "- {Type: Succeed, Name: h}"
    run = simulate(flow_of(states, head="Timeout: 600"), tasks={"T": After(601, body(1))})
    assert (run.status, run.error, run.at_ms) == ("TimedOut", "FnF.ExecutionTimeout", 600_000)
    assert run.cause == "not finished within 600 s"
    assert run.types()[-1] == "ExecutionTimedOut"
    assert run.visited() == ["T"]


def test_an_execution_that_ends_in_time_cancels_its_timer() -> None:
    run = simulate(flow_of(task("T"), head="Timeout: 600"))
    assert (run.status, [command.timer_id for command in run.of(CancelTimer)]) == ("Succeeded", [1])


def test_an_express_execution_lasts_five_minutes_at_most() -> None:
    run = simulate(task("T"), tasks={"T": After(301, body(1))}, limits=Limits().express())
    assert (run.status, run.at_ms) == ("TimedOut", 300_000)


def test_values_nested_too_deep_are_refused_by_name() -> None:
    value: Any = 0
    for _ in range(5000):
        value = [value]
    run = simulate(task("T"), tasks={"T": body(value)})
    assert (run.error, run.cause) == ("FnF.RuntimeError", "a value is nested deeper than 450 levels")


def test_a_callback_that_waits_when_the_execution_times_out_is_closed() -> None:
    states = (
        "- {Type: Task, Name: R, Action: 'FC:InvokeFunction', TaskMode: WaitForCustomCallback, Timeout: 9999, "
        "Parameters: {resourceArn: a, invocationType: Sync, body: {t.$: $Context.Current.TaskToken}}, End: true}"
    )
    run = simulate(flow_of(states, head="Timeout: 60"), tasks={"R": Reported(NEVER)})
    assert run.status == "TimedOut"
    assert run.of(CancelTask)[0].reason == "the execution is over: TimedOut"
