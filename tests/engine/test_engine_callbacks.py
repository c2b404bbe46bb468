"""Callback tasks: tokens, reports, expiry, second reports (MODE, API 7; A16, A31, C40, C41, C42, C45, C46)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import NEVER, SECRET, After, Fail, Reported, Row, Run, Simulator, body, flow_of, rows, simulate

from local_sim.engine import (
    CallbackFailed,
    CallbackSucceeded,
    CancelTask,
    Execution,
    Ignored,
    Limits,
    Reason,
    Started,
    StopRequested,
    TaskFailed,
    TaskSubmitted,
    TaskSucceeded,
    verify_token,
)


def waiting(name: str = "R", more: str = "", *, mode: str = "WaitForCustomCallback", onward: str = "End: true") -> str:
    kind = "Async" if mode == "WaitForSystemCallback" else "Sync"
    parameters = (
        f"Parameters: {{resourceArn: a, invocationType: {kind}, body: {{token.$: $Context.Current.TaskToken}}}}"
    )
    extra = f", {more}" if more else ""
    return (
        f"- {{Type: Task, Name: {name}, Action: 'FC:InvokeFunction', TaskMode: {mode}, {parameters}, "
        f"{onward}{extra}}}\n"
    )


H = "- {Type: Succeed, Name: h}\n"


@rows(
    Row("MODE", "the reported output is $Output", waiting(), {"ok": True}, tasks={"R": Reported({"ok": True})}),
    Row(
        "MODE",
        "it is not wrapped",
        waiting("R", "OutputConstructor: {v.$: $Output.ok}"),
        {"v": True},
        tasks={"R": Reported({"ok": True})},
    ),
    Row(
        "IO",
        "a reported list is no output",
        waiting(),
        error="FnF.RuntimeError",
        cause="must be an object, not array",
        tasks={"R": Reported([1])},
    ),
    Row(
        "IO",
        "a reported list can be placed",
        waiting("R", "OutputConstructor: {v.$: $Output}"),
        {"v": [1]},
        tasks={"R": Reported([1])},
    ),
    Row(
        "SDK",
        "a reported Error is what Catch matches",
        waiting("R", "Catch: [{Errors: [Rejected], Next: h, OutputConstructor: {d.$: $Context.Current.Error.Detail}}]")
        + H,
        {"d": "no"},
        tasks={"R": Reported(Fail("Rejected", "no"))},
    ),
    Row(
        "SDK",
        "and fails the execution without one",
        waiting(),
        error="Rejected",
        cause="no",
        tasks={"R": Reported(Fail("Rejected", "no"))},
    ),
    Row(
        "MODE",
        "a call that fails fails the task",
        waiting(),
        error="FC.ResourceThrottled",
        tasks={"R": Fail("FC.ResourceThrottled")},
    ),
    Row(
        "MODE",
        "WaitForSystemCallback takes the system's report",
        waiting(mode="WaitForSystemCallback"),
        {"ok": 1},
        tasks={"R": Reported({"ok": 1})},
    ),
    Row(
        "MODE",
        "a system report may fail",
        waiting(mode="WaitForSystemCallback"),
        error="MyError",
        cause="c",
        tasks={"R": Reported(Fail("MyError", "c"))},
    ),
    Row(
        "A24",
        "a report over 64 KiB fails the task",
        waiting("R", "Catch: [{Errors: [FnF.OutputSizeExceeded], Next: h, OutputConstructor: {}}]") + H,
        {},
        tasks={"R": Reported({"t": "x" * 65_536})},
    ),
    Row(
        "TASK",
        "nobody reports",
        waiting("R", "Timeout: 60"),
        error="FnF.TaskTimeout",
        cause="R: no report came within 60 s",
        tasks={"R": Reported(NEVER)},
    ),
    Row(
        "TASK",
        "a limit may lead to a Catch",
        waiting("R", "Timeout: 60, Catch: [{Errors: [FnF.TaskTimeout], Next: h, OutputConstructor: {late: true}}]") + H,
        {"late": True},
        tasks={"R": Reported(NEVER)},
    ),
)
def test_callback(row: Row) -> None:
    row.check()


def test_the_token_reaches_the_parameters_and_names_the_task() -> None:
    run = simulate(waiting(), tasks={"R": Reported({})})
    (call,) = run.calls()
    assert call.parameters["body"] == {"token": call.token}
    token = verify_token(call.token or "", SECRET)
    assert (token.flow, token.execution, token.event_id) == ("flow", "run", call.task_id)


def test_no_token_outside_the_callback_modes() -> None:
    states = (
        "- {Type: Task, Name: T, Action: 'HTTP:Request', Parameters: {url: u, method: GET, body: "
        "{t.$: $Context.Current}}, End: true}"
    )
    (call,) = simulate(states).calls()
    assert "TaskToken" not in call.parameters["body"]["t"]


def test_a_review_that_expires_after_seven_days_costs_no_time() -> None:
    run = simulate(waiting("R", "Timeout: 604800"), tasks={"R": Reported(NEVER)})
    assert (run.error, run.at_ms) == ("FnF.TaskTimeout", 7 * 24 * 3600 * 1000)


def test_each_attempt_has_a_fresh_token_and_the_old_one_is_closed() -> None:
    simulator = Simulator(
        waiting("R", "Timeout: 10, Retry: [{Errors: [FnF.TaskTimeout], MaxAttempts: 1, IntervalSeconds: 1}]"),
        tasks={"R": Reported(NEVER)},
    )
    simulator.start()
    run = simulator.finish(until_ms=11_000)
    first, second = run.calls()
    assert first.token != second.token
    assert run.execution.handle(CallbackSucceeded(11_500, first.task_id, {})) == [
        Ignored(Reason.TIMED_OUT, first.task_id)
    ]
    run.execution.handle(CallbackSucceeded(12_000, second.task_id, {"late": False}))
    assert run.output == {"late": False}


def test_waiting_lists_what_a_person_has_to_decide() -> None:
    simulator = Simulator(waiting("R", "Timeout: 60"), tasks={"R": Reported(NEVER)}, start_ms=1000)
    simulator.start()
    (before,) = simulator.run.execution.waiting
    assert (before.path, before.due_ms, before.submitted) == (("R",), 61_000, False)
    run = simulator.finish(until_ms=1000)
    (after,) = run.execution.waiting
    assert (after.task_id, after.token, after.submitted) == (run.calls()[0].task_id, run.calls()[0].token, True)
    assert run.execution.current_states == (("R",),)


def test_without_any_limit_the_end_says_which_token_it_waited_for() -> None:
    run = simulate(waiting(), tasks={"R": Reported(NEVER)}, limits=Limits(max_seconds=3600))
    assert (run.status, run.error) == ("TimedOut", "FnF.ExecutionTimeout")
    assert run.cause == f"not finished within 3600 s; no report came for R (token {run.calls()[0].token})"


def test_a_report_may_come_before_the_call_has_returned() -> None:
    run = simulate(waiting(), tasks={"R": NEVER}, limits=Limits(max_seconds=1))
    execution = Execution(flow_of(waiting()), name="run", secret=SECRET)
    execution.handle(Started(0, {}, "s"))
    task_id = run.calls()[0].task_id
    execution.handle(CallbackSucceeded(5, task_id, {"ok": 1}))
    assert execution.output == {"ok": 1}
    assert execution.handle(TaskSubmitted(6, task_id)) == [Ignored(Reason.ALREADY_REPORTED, task_id)]


def _closed_by(kind: str) -> tuple[Run, int]:
    more = "Timeout: 60" if kind == "timeout" else ""
    simulator = Simulator(
        waiting("R", more, onward="Next: w") + "- {Type: Wait, Name: w, Seconds: 300, End: true}",
        tasks={"R": Reported(NEVER)},
    )
    simulator.start()
    simulator.finish(until_ms=0)
    task_id = simulator.run.calls()[0].task_id
    if kind == "report":
        simulator.deliver(CallbackSucceeded(1, task_id, {"decision": "yes"}))
    elif kind == "failure":
        simulator.deliver(CallbackFailed(1, task_id, "Rejected", "no"))
    elif kind == "stop":
        simulator.deliver(StopRequested(1, "Operator", "enough"))
    else:
        simulator.finish(until_ms=60_000)
    return simulator.run, task_id


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("report", Reason.ALREADY_REPORTED),
        ("failure", Reason.ALREADY_REPORTED),
        ("timeout", Reason.TIMED_OUT),
        ("stop", Reason.EXECUTION_OVER),
    ],
)
@pytest.mark.parametrize(
    "second", [CallbackSucceeded(99_000, 0, {"decision": "no"}), CallbackFailed(99_000, 0, "Other")]
)
def test_a_second_report_is_answered_by_name_and_changes_nothing(kind: str, reason: Reason, second: Any) -> None:
    run, task_id = _closed_by(kind)
    before = (run.status, run.output, run.error, len(run.execution.history))
    again = type(second)(99_000, task_id, *_content(second))
    assert run.execution.handle(again) == [Ignored(reason, task_id, same=False)]
    assert (run.status, run.output, run.error, len(run.execution.history)) == before


def _content(event: Any) -> tuple[Any, ...]:
    return (event.output,) if isinstance(event, CallbackSucceeded) else (event.error, event.cause)


def test_the_same_decision_again_is_told_from_another_one() -> None:
    run, task_id = _closed_by("report")
    same = run.execution.handle(CallbackSucceeded(2, task_id, {"decision": "yes"}))
    other = run.execution.handle(CallbackSucceeded(2, task_id, {"decision": "no"}))
    assert same == [Ignored(Reason.ALREADY_REPORTED, task_id, same=True)]
    assert other == [Ignored(Reason.ALREADY_REPORTED, task_id, same=False)]


def test_one_and_true_are_different_decisions() -> None:
    simulator = Simulator(
        waiting(onward="Next: w") + "- {Type: Wait, Name: w, Seconds: 9, End: true}", tasks={"R": Reported(NEVER)}
    )
    simulator.start()
    task_id = simulator.run.calls()[0].task_id
    simulator.deliver(CallbackSucceeded(1, task_id, {"v": 1}))
    (answer,) = simulator.run.execution.handle(CallbackSucceeded(2, task_id, {"v": True}))
    assert answer == Ignored(Reason.ALREADY_REPORTED, task_id, same=False)


def test_a_report_on_no_task_is_unknown() -> None:
    run, _ = _closed_by("report")
    assert run.execution.handle(CallbackSucceeded(2, 4711, {})) == [Ignored(Reason.UNKNOWN, 4711)]


def test_a_callback_on_a_task_without_token_is_not_expected() -> None:
    execution = Execution(
        flow_of("- {Type: Task, Name: T, Action: 'OSS:GetObject', End: true}"), name="run", secret=SECRET
    )
    execution.handle(Started(0, {}, "s"))
    assert execution.handle(CallbackSucceeded(1, 3, {})) == [Ignored(Reason.NOT_EXPECTED, 3)]
    assert execution.handle(TaskSubmitted(1, 3)) == [Ignored(Reason.NOT_EXPECTED, 3)]
    assert execution.handle(TaskSucceeded(2, 3, {"ok": 1}))[-1].output == {"ok": 1}  # type: ignore[union-attr]


def test_the_return_of_the_call_does_not_end_a_custom_callback() -> None:
    execution = Execution(flow_of(waiting()), name="run", secret=SECRET)
    execution.handle(Started(0, {}, "s"))
    assert execution.handle(TaskSucceeded(1, 3, body(1))) == [Ignored(Reason.NOT_EXPECTED, 3)]
    assert execution.waiting


def test_a_call_that_fails_after_it_was_accepted_still_counts() -> None:
    execution = Execution(flow_of(waiting(mode="WaitForSystemCallback")), name="run", secret=SECRET)
    execution.handle(Started(0, {}, "s"))
    execution.handle(TaskSubmitted(1, 3))
    execution.handle(TaskFailed(2, 3, "FC.Unknown", "gone"))
    assert (execution.status.value, execution.error) == ("Failed", "FC.Unknown")
    assert "TaskFailed" in execution.history.types()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_reviews_reported_in_the_same_instant_both_go_on(order: tuple[int, int]) -> None:
    one, two = (waiting(name)[2:].strip() for name in "AB")
    states = (
        f"- {{Type: Parallel, Name: p, End: true, Branches: [{{StartAt: A, States: [{one}]}}, "
        f"{{StartAt: B, States: [{two}]}}]}}"
    )
    simulator = Simulator(states, tasks={"A": Reported(NEVER), "B": Reported(NEVER)})
    simulator.start()
    simulator.finish(until_ms=0)
    ids = [call.task_id for call in simulator.run.calls()]
    for index in order:
        simulator.deliver(CallbackSucceeded(500, ids[index], {"by": index}))
    assert simulator.run.output == {"Branch0": {"by": 0}, "Branch1": {"by": 1}}


def test_a_report_stored_before_a_crash_moves_the_flow_at_the_replay() -> None:
    flow = flow_of(waiting())
    first = Execution(flow, name="run", secret=SECRET)
    first.handle(Started(0, {}, "s"))
    events = [Started(0, {}, "s"), TaskSubmitted(1, 3), CallbackSucceeded(2, 3, {"ok": 1})]
    second = Execution(flow, name="run", secret=SECRET)
    for event in events:
        second.handle(event)
    assert second.output == {"ok": 1}
    assert second.handle(CallbackSucceeded(3, 3, {"ok": 1})) == [Ignored(Reason.ALREADY_REPORTED, 3, same=True)]


def test_expiry_tells_the_driver_to_close_the_token() -> None:
    run = simulate(waiting("R", "Timeout: 60"), tasks={"R": Reported(After(61, {}))})
    assert run.of(CancelTask) == [CancelTask(run.calls()[0].task_id, "the task timed out")]
    assert run.types()[-4:] == ["TaskTimedOut", "StepFailed", "StepExited", "ExecutionFailed"]


@pytest.mark.parametrize("mode", ["WaitForCustomCallback", "WaitForSystemCallback"])
def test_an_express_flow_has_no_callback_modes(mode: str) -> None:
    run = simulate(waiting(mode=mode), limits=Limits().express())
    assert (run.error, len(run.calls())) == ("FnF.RuntimeError", 0)
    assert mode in run.cause


def test_a_second_report_that_is_no_json_is_refused_like_any_other() -> None:
    run, task_id = _closed_by("report")
    deep: Any = 0
    for _ in range(100_000):
        deep = [deep]
    assert run.execution.handle(CallbackSucceeded(2, task_id, deep)) == [Ignored(Reason.ALREADY_REPORTED, task_id)]
