"""Task: what is called with what, and what becomes of the result (TASK, FC; A02, A15, A16, C01, C04)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import NEVER, After, Fail, Row, body, rows, simulate, task

from local_sim.engine import CancelTask, StartTimer


def with_parameters(parameters: str, extra: str = "") -> str:
    more = f", {extra}" if extra else ""
    return f"- {{Type: Task, Name: T, Action: 'FC:InvokeFunction', Parameters: {parameters}, End: true{more}}}\n"


def test_the_call_carries_action_parameters_and_path() -> None:
    run = simulate(with_parameters("{resourceArn: a, invocationType: Sync, body: {id.$: $Input.id}}"), input={"id": 7})
    (call,) = run.calls()
    assert call.action == "FC:InvokeFunction"
    assert call.parameters == {"resourceArn": "a", "invocationType": "Sync", "body": {"id": 7}}
    assert (call.path, call.attempt, call.timeout_ms, call.token) == (("T",), 0, None, None)


def test_the_task_id_is_that_of_its_scheduled_event() -> None:
    run = simulate(task("T", next_state="U") + task("U"))
    for call in run.calls():
        event = run.execution.history[call.task_id - 1]
        assert (event.event_id, event.type, event.step_name) == (call.task_id, "TaskScheduled", call.path[-1])


@pytest.mark.parametrize("value", ["world", 7, None, [1], True, {"a": 1}, "", 0, False, [], {}])
def test_any_value_a_function_returns_can_be_placed_under_a_key(value: Any) -> None:
    run = simulate(task("T", "OutputConstructor: {v.$: $Output.Body}"), tasks={"T": body(value)})
    assert run.output == {"v": value}


@rows(
    Row("FC", "without constructor the output is the wrapped result", task("T"), {"Body": 5}, tasks={"T": body(5)}),
    Row(
        "IMS",
        "OutputConstructor picks from $Output",
        task("T", "OutputConstructor: {v.$: $Output.Body.x}"),
        {"v": 1},
        tasks={"T": body({"x": 1})},
    ),
    Row(
        "IMS",
        "an index inside a path",
        task("T", "OutputConstructor: {v.$: '$Output.Body.xs[1].y'}"),
        {"v": 2},
        tasks={"T": body({"xs": [0, {"y": 2}]})},
    ),
    Row(
        "DATA",
        "$Context.Current.Output is $Output",
        task("T", "OutputConstructor: {v.$: $Context.Current.Output.Body}"),
        {"v": 3},
        tasks={"T": body(3)},
    ),
    Row(
        "IO",
        "OutputConstructor may read $Input",
        task("T", "OutputConstructor: {v.$: $Input.n, w.$: $Output.Body}"),
        {"v": 1, "w": 2},
        input={"n": 1},
        tasks={"T": body(2)},
    ),
    Row(
        "IO",
        "a bare list is no output",
        task("T"),
        error="FnF.RuntimeError",
        cause="the output of T must be an object, not array",
        tasks={"T": [[[1, 2]]]},
    ),
    Row(
        "IO",
        "a bare text is no output",
        task("T"),
        error="FnF.RuntimeError",
        cause="not text: 'abc'"[:8],
        tasks={"T": "abc"},
    ),
    Row(
        "IO",
        "a bare list can be placed under a key",
        task("T", "OutputConstructor: {v.$: $Output}"),
        {"v": [1]},
        tasks={"T": [[1]]},
    ),
    Row(
        "ERR",
        "a failure without rules fails the execution under its name",
        task("T"),
        error="CardDeclined",
        cause="no money",
        tasks={"T": Fail("CardDeclined", "no money")},
    ),
    Row(
        "C01",
        "Parameters that cannot be built call nothing",
        with_parameters("{resourceArn: a, invocationType: Sync, body: {x.$: $Input.nope.deep}}"),
        error="FnF.RuntimeError",
        cause="Parameters.body.x",
        input={"other": 1},
        calls=0,
    ),
    Row(
        "C01",
        "the Catch of an InputConstructor that fails sees the key",
        task(
            "T",
            (
                "InputConstructor: {missing.$: $Input.nope.deep}, Catch: [{Errors: [FnF.ALL], Next: h, "
                "OutputConstructor: {d.$: $Context.Current.Error.Code}}]"
            ),
        )
        + "- {Type: Succeed, Name: h}",
        {"d": "FnF.RuntimeError"},
        input={"other": 1},
        calls=0,
    ),
    Row(
        "A23",
        "results of other services are not wrapped",
        (
            "- {Type: Task, Name: T, Action: 'DashScope:QwenTextGeneration', OutputConstructor: {v.$: "
            "'$Output.output.choices[0].text'}, End: true}"
        ),
        {"v": "hi"},
        tasks={"T": {"output": {"choices": [{"text": "hi"}]}}},
    ),
)
def test_task(row: Row) -> None:
    row.check()


def test_the_cause_of_a_failed_constructor_names_key_path_and_place() -> None:
    states = task(
        "T",
        (
            "InputConstructor: {missing.$: $Input.nope.deep}, Catch: [{Errors: [FnF.ALL], Next: h, "
            "OutputConstructor: {d.$: $Context.Current.Error.Detail}}]"
        ),
    )
    run = simulate(states + "- {Type: Succeed, Name: h}", input={"other": 1})
    detail = run.output["d"]
    assert "InputConstructor.missing" in detail
    assert "$Input.nope.deep" in detail
    assert "line 7, column" in detail


@pytest.mark.parametrize(
    ("timeout", "value", "milliseconds"),
    [
        ("Timeout: 5", None, 5000),
        ("Timeout: 604800", None, 604_800_000),
        ("Timeout: 0", None, None),
        ("Timeout.$: $Input.t", 7, 7000),
        ("Timeout.$: $Input.t", 0, None),
        ("Timeout.$: $Input.t", 0.25, 250),
    ],
)
def test_timeout_limits_one_attempt_and_zero_is_no_limit(timeout: str, value: Any, milliseconds: int | None) -> None:
    run = simulate(task("T", timeout), input={"t": value})
    assert run.calls()[0].timeout_ms == milliseconds
    timers = [command for command in run.of(StartTimer) if command.purpose == "task timeout"]
    assert [timer.due_ms for timer in timers] == ([] if milliseconds is None else [milliseconds])


@pytest.mark.parametrize("value", [-1, 604_801, "5", None, True, [5]])
def test_a_timeout_that_is_no_number_in_range_fails_the_state(value: Any) -> None:
    run = simulate(task("T", "Timeout.$: $Input.t"), input={"t": value})
    assert (run.error, len(run.calls())) == ("FnF.RuntimeError", 0)
    assert run.cause.startswith("Timeout of T must be")


def test_an_attempt_that_takes_too_long_is_cancelled_and_fails_as_task_timeout() -> None:
    run = simulate(task("T", "Timeout: 5"), tasks={"T": After(6, body(1))})
    assert (run.status, run.error, run.at_ms) == ("Failed", "FnF.TaskTimeout", 5000)
    assert run.cause == "T: no result came within 5 s"
    (cancelled,) = run.of(CancelTask)
    assert cancelled.task_id == run.calls()[0].task_id


def test_a_result_at_the_very_millisecond_of_the_timeout_counts() -> None:
    assert simulate(task("T", "Timeout: 5"), tasks={"T": After(5, body(1))}).output == {"Body": 1}


def test_a_task_without_timeout_waits() -> None:
    run = simulate(task("T"), tasks={"T": After(3600, body(1))})
    assert (run.output, run.at_ms) == ({"Body": 1}, 3_600_000)


def test_a_task_that_never_answers_ends_with_the_execution() -> None:
    run = simulate(task("T"), tasks={"T": NEVER})
    assert (run.status, run.error) == ("TimedOut", "FnF.ExecutionTimeout")
    assert run.at_ms == 365 * 24 * 3_600_000
