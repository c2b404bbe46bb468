"""History: types, ids, causes and details as GetExecutionHistory has them (API 6; A29)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from engine_kit import Fail, Reported, Run, body, simulate, task

from local_sim.engine import History, HistoryEvent, iso_time, log, to_api

TWO = "- {Type: Pass, Name: first, Next: second}\n- {Type: Pass, Name: second, OutputConstructor: {x: 1}, End: true}"


def lines(run: Run) -> list[tuple[int, int, str, str]]:
    return [(e.event_id, e.schedule_event_id, e.step_name, e.type) for e in run.execution.history]


def test_two_pass_steps_are_recorded_as_the_published_sample() -> None:
    assert lines(simulate(TWO, input={"n": 1})) == [
        (1, 0, "", "ExecutionStarted"),
        (2, 1, "first", "StepEntered"),
        (3, 2, "first", "StepStarted"),
        (4, 3, "first", "StepSucceeded"),
        (5, 4, "first", "StepExited"),
        (6, 5, "second", "StepEntered"),
        (7, 6, "second", "StepStarted"),
        (8, 7, "second", "StepSucceeded"),
        (9, 8, "second", "StepExited"),
        (10, 9, "", "ExecutionSucceeded"),
    ]


def test_details_carry_what_went_in_and_out() -> None:
    run = simulate(TWO, input={"n": 1})
    assert [dict(event.detail) for event in run.execution.history] == [
        *([{"input": {"n": 1}}] * 3),
        *([{"output": {"n": 1}}] * 2),
        *([{"input": {"n": 1}}] * 2),
        *([{"output": {"x": 1}}] * 3),
    ]


TASK_CASES = {
    "success": (body(1), ["TaskScheduled", "TaskStarted", "TaskSucceeded", "StepExited"]),
    "failure": (Fail("E"), ["TaskScheduled", "TaskStarted", "TaskFailed", "StepFailed", "StepExited"]),
}


@pytest.mark.parametrize("case", TASK_CASES)
def test_a_task_is_scheduled_started_and_ends(case: str) -> None:
    outcome, types = TASK_CASES[case]
    run = simulate(task("T"), tasks={"T": outcome})
    assert run.types()[1:-1] == ["StepEntered", *types]


@pytest.mark.parametrize(
    ("outcome", "types"),
    [
        (Reported({}), ["TaskScheduled", "TaskStarted", "TaskSubmitted", "TaskSucceeded"]),
        (Reported(Fail("E")), ["TaskScheduled", "TaskStarted", "TaskSubmitted", "TaskFailed"]),
        (Fail("E"), ["TaskScheduled", "TaskStarted", "TaskSubmitFailed"]),
    ],
)
def test_a_callback_task_is_submitted_in_between(outcome: object, types: list[str]) -> None:
    states = (
        "- {Type: Task, Name: T, Action: 'MNS:SendMessage', TaskMode: WaitForCustomCallback, Timeout: "
        "9, Parameters: {t.$: $Context.Current.TaskToken}, End: true}"
    )
    run = simulate(states, tasks={"T": outcome})
    assert run.types()[2 : 2 + len(types)] == types


def test_an_attempt_says_what_is_called() -> None:
    run = simulate(
        task("T", "Timeout: 9, Retry: [{Errors: [E], MaxAttempts: 1, IntervalSeconds: 1}]"), tasks={"T": Fail("E", "c")}
    )
    first, second = run.details("TaskScheduled")
    assert first == {
        "action": "FC:InvokeFunction",
        "mode": "RequestComplete",
        "parameters": {"resourceArn": "acs:fc:::functions/f", "invocationType": "Sync"},
        "attempt": 0,
        "timeoutMs": 9000,
    }
    assert second["attempt"] == 1
    assert run.details("TaskFailed") == [{"error": "E", "cause": "c"}] * 2
    assert run.details("ExecutionFailed") == [{"error": "E", "cause": "c"}]


PARALLEL = (
    "- {Type: Parallel, Name: p, End: true, Branches: [{StartAt: a, States: [{Type: Pass, Name: a, End: true}]}, "
    "{StartAt: b, States: [{Type: Pass, Name: b, End: true}]}]}"
)


def test_a_branch_follows_from_its_parallel_and_the_end_from_the_last_branch() -> None:
    found = lines(simulate(PARALLEL))
    assert found[2:5] == [(3, 2, "p", "StepStarted"), (4, 3, "p", "BranchEntered"), (5, 4, "a", "StepEntered")]
    assert found[9:11] == [(10, 3, "p", "BranchEntered"), (11, 10, "b", "StepEntered")]
    assert found[14:17] == [(15, 14, "p", "BranchExited"), (16, 15, "p", "StepSucceeded"), (17, 16, "p", "StepExited")]


def test_branches_and_iterations_are_numbered() -> None:
    run = simulate(PARALLEL)
    assert run.details("BranchEntered") == [{"index": 0}, {"index": 1}]
    assert run.details("BranchExited")[1] == {"index": 1, "status": "Succeeded", "output": {}}
    run = simulate(
        (
            "- {Type: Map, Name: m, ItemsPath: $Input.xs, End: true, Processor: {StartAt: a, States: "
            "[{Type: Pass, Name: a, End: true}]}}"
        ),
        input={"xs": [{"n": 5}]},
    )
    assert run.details("IterationExited") == [{"index": 0, "status": "Succeeded", "output": {"n": 5}}]


@pytest.mark.parametrize(
    "states",
    [TWO, PARALLEL, task("T"), task("T", "Catch: [{Errors: [FnF.ALL], Next: h}]") + "- {Type: Succeed, Name: h}"],
)
def test_every_event_is_caused_by_an_earlier_one(states: str) -> None:
    run = simulate(states, tasks={"T": Fail("E")})
    for event in run.execution.history:
        assert event.schedule_event_id < event.event_id
    assert [event.event_id for event in run.execution.history] == list(range(1, len(run.execution.history) + 1))


def test_to_api_spells_the_event_as_the_api_does() -> None:
    event = HistoryEvent(4, 3, "起草", "StepSucceeded", 1_546_304_461_001, {"output": {"text": "草稿"}})
    assert to_api(event) == {
        "EventId": 4,
        "ScheduleEventId": 3,
        "StepName": "起草",
        "Type": "StepSucceeded",
        "Time": "2019-01-01T01:01:01.001Z",
        "EventDetail": '{"output":{"text":"草稿"}}',
    }


@pytest.mark.parametrize(
    ("time_ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (999, "1970-01-01T00:00:00.999Z"),
        (1_767_225_600_000, "2026-01-01T00:00:00.000Z"),
    ],
)
def test_times_are_utc_with_milliseconds(time_ms: int, text: str) -> None:
    assert iso_time(time_ms) == text


def test_the_history_is_a_live_sequence() -> None:
    run = simulate(TWO)
    history = run.execution.history
    assert isinstance(history, History)
    assert history[-1].type == "ExecutionSucceeded"
    assert [event.event_id for event in history[2:4]] == [3, 4]
    assert history[1] in history
    assert history.counts() == {"first": 1, "second": 1}
    with pytest.raises(IndexError):
        history[len(history)]


def test_details_are_json() -> None:
    for states in (TWO, PARALLEL, task("T")):
        for event in simulate(states).execution.history:
            assert json.loads(to_api(event)["EventDetail"]) == event.detail


def test_every_type_the_engine_writes_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "history.md").read_text(encoding="utf-8")
    types = {value for name, value in vars(log).items() if name.isupper() and isinstance(value, str)}
    documented = set(re.findall(r"`((?:Execution|Step|Branch|Iteration|Task|MapRun)[A-Z]\w+)`", page))
    assert types <= documented
    assert len(types) == 22
