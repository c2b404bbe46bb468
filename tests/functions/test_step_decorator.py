"""`@step` over the real ledger: once, whatever happens; every failure under its typed name."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from loopback import closed_port

from functions.errors import (
    InvalidInput,
    ResultConflict,
    StepkeeperError,
    SystemFault,
    TemporaryUpstreamError,
    UncertainOutcome,
    VersionMismatch,
)
from functions.faults import typed
from functions.models import NotifyEvent, TaskEvent
from functions.step import Call, Handler, lap, reading, step
from ledger import (
    BlobUnavailable,
    ClaimLost,
    Compensation,
    CompensationFailed,
    EffectKind,
    InvalidKey,
    Ledger,
    LedgerUnavailable,
    NotJson,
    OutcomeUncertain,
    Probe,
    StepBusy,
    StepClosed,
    TableMissing,
    Versions,
)

WORKFLOW = "w-1"


@pytest.fixture
def task(cloud: pytest.MonkeyPatch) -> dict[str, Any]:
    """A begun task."""
    task_id = "t-" + uuid.uuid4().hex[:10]
    Ledger.open().begin(task_id, Versions(WORKFLOW, "1", "1", "in-1"))
    return {
        "task_id": task_id,
        "name": "a.txt",
        "versions": {"workflow": WORKFLOW, "function": "1", "prompt": "1", "input": "in-1"},
        "document": {"uri": "oss://bucket-1/k", "size": 1, "sha256": "a" * 64},
    }


def event(task: dict[str, Any], attempt: int = 1, name: str = "Notify") -> bytes:
    return json.dumps({"step": name, "attempt": attempt, "task": task}).encode()


def counting(outcome: Callable[[int], dict[str, Any]], **options: Any) -> tuple[Handler, list[str]]:
    """A handler whose body's n-th run does `outcome(n)`, and the idempotency keys it was run with."""
    keys: list[str] = []

    def body(call: Call[NotifyEvent]) -> dict[str, Any]:
        keys.append(call.key)
        return outcome(len(keys))

    return step(NotifyEvent, **options)(body), keys


def raising(error: Exception) -> Callable[[int], dict[str, Any]]:
    def outcome(number: int) -> dict[str, Any]:
        raise error

    return outcome


def row(task: dict[str, Any], name: str = "Notify") -> Any:
    (found,) = [row for row in Ledger.open().rows(task["task_id"]) if row.step == name]
    return found


def test_the_effect_happens_once_and_its_result_is_replayed(task: dict[str, Any]) -> None:
    handler, keys = counting(lambda number: {"number": number})
    first, second = handler(event(task), None), handler(event(task), None)
    assert isinstance(first, str)
    assert json.loads(first) == json.loads(second)
    assert json.loads(first)["number"] == 1
    assert len(keys) == 1


def test_the_answer_has_the_whole_task_with_what_the_step_changed(task: dict[str, Any]) -> None:
    result = {"uri": "oss://bucket-1/r", "size": 2, "sha256": "b" * 64}
    handler, _ = counting(lambda _: {"task": {"result": result}, "more": [1]})
    answer = json.loads(handler(event(task), None))
    assert answer["task"]["result"] == result
    assert answer["task"]["task_id"] == task["task_id"]
    assert answer["more"] == [1]


def test_a_replay_carries_the_control_data_of_this_call_not_of_the_first(task: dict[str, Any]) -> None:
    handler, _ = counting(lambda _: {})
    handler(event(task), None)
    assert json.loads(handler(event({**task, "title": "new"}), None))["task"]["title"] == "new"


def test_each_lap_is_a_step_of_its_own(task: dict[str, Any]) -> None:
    handler, keys = counting(lambda number: {"number": number})
    handler(event(task), None)
    assert json.loads(handler(event(task, 2), None))["number"] == 2
    assert len(set(keys)) == 2
    assert (lap("Notify", 1), lap("Notify", 2)) == ("Notify", "Notify@2")
    assert {found.step for found in Ledger.open().rows(task["task_id"])} == {"Notify", "Notify@2"}


def test_two_workers_at_once_have_one_effect(task: dict[str, Any]) -> None:
    handler, keys = counting(lambda number: {"number": number})
    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(handler(event(task), None))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 1
    assert len(answers) == 6
    assert {json.loads(answer)["number"] for answer in answers} == {1}


def test_a_failure_before_any_effect_is_run_again_with_the_same_key(task: dict[str, Any]) -> None:
    def outcome(number: int) -> dict[str, Any]:
        if number == 1:
            raise TemporaryUpstreamError("busy", upstream="x", effect_applied=False)
        return {"number": number}

    handler, keys = counting(outcome, kind=EffectKind.UNDECLARED)
    with pytest.raises(TemporaryUpstreamError):
        handler(event(task), None)
    assert (row(task).state, row(task).error_type) == ("failed", "TemporaryUpstreamError")
    assert json.loads(handler(event(task), None))["number"] == 2
    assert len(set(keys)) == 1
    assert (row(task).state, row(task).attempt) == ("done", 2)


def test_an_undeclared_effect_with_an_unknown_outcome_never_runs_again(task: dict[str, Any]) -> None:
    lost = TemporaryUpstreamError("broke off", upstream="x")
    handler, keys = counting(raising(lost), kind=EffectKind.UNDECLARED)
    for _ in range(2):
        with pytest.raises(UncertainOutcome) as caught:
            handler(event(task), None)
        assert (caught.value.step, caught.value.key) == ("Notify", keys[0])
    assert len(keys) == 1
    assert row(task).state == "uncertain"


def test_a_probe_is_asked_before_a_second_try(task: dict[str, Any]) -> None:
    asked: list[str] = []

    def probe(call: Call[NotifyEvent]) -> Probe:
        asked.append(call.key)
        return Probe.applied({"from": "probe"})

    handler, keys = counting(raising(RuntimeError("lost")), kind=EffectKind.PROBED, probe=probe)
    with pytest.raises(SystemFault):
        handler(event(task), None)
    assert json.loads(handler(event(task), None))["from"] == "probe"
    assert asked == keys


def test_other_input_under_the_same_step_is_a_conflict(task: dict[str, Any]) -> None:
    handler, keys = counting(lambda _: {})
    handler(event(task), None)
    other = {**task, "result": {"uri": "oss://bucket-1/r", "size": 2, "sha256": "b" * 64}}
    with pytest.raises(ResultConflict):
        handler(event(other), None)
    assert len(keys) == 1


def test_other_versions_are_refused_before_the_effect(cloud: pytest.MonkeyPatch, task: dict[str, Any]) -> None:
    cloud.setenv("STEPKEEPER_FUNCTION_VERSION", "2")
    handler, keys = counting(lambda _: {})
    with pytest.raises(VersionMismatch) as caught:
        handler(event(task), None)
    assert (caught.value.pinned["function"], caught.value.given["function"]) == ("1", "2")
    assert keys == []
    assert "migrate" in str(caught.value)


def test_a_task_that_never_began_is_refused(task: dict[str, Any]) -> None:
    handler, _ = counting(lambda _: {})
    with pytest.raises(VersionMismatch) as caught:
        handler(event({**task, "task_id": task["task_id"] + "x"}), None)
    assert caught.value.pinned == {}


def test_a_compensated_step_stays_closed(task: dict[str, Any]) -> None:
    handler, _ = counting(lambda _: {}, compensation=lambda call: Compensation("undo"))
    handler(event(task), None)
    Ledger.open().saga(task["task_id"], WORKFLOW).compensate({"undo": lambda context: None})
    with pytest.raises(SystemFault, match="closed") as caught:
        handler(event(task), None)
    assert isinstance(caught.value.__cause__, StepClosed)


def test_a_bad_event_never_reaches_the_ledger(cloud: pytest.MonkeyPatch) -> None:
    cloud.setenv("TABLESTORE_ENDPOINT", f"http://127.0.0.1:{closed_port()}")
    handler, keys = counting(lambda _: {})
    with pytest.raises(InvalidInput):
        handler(b"{}", None)
    assert keys == []


def test_a_bug_is_a_system_fault_with_its_cause(task: dict[str, Any]) -> None:
    bug = ZeroDivisionError("division by zero")
    handler, _ = counting(raising(bug))
    with pytest.raises(SystemFault, match="ZeroDivisionError") as caught:
        handler(event(task), None)
    assert caught.value.__cause__ is bug


@pytest.mark.parametrize("wrong", [{"task": {"nonsense": 1}}, {"task": {"result": "text"}}])
def test_a_result_that_does_not_fit_the_task_is_a_system_fault(task: dict[str, Any], wrong: dict[str, Any]) -> None:
    handler, _ = counting(lambda _: wrong)
    with pytest.raises(SystemFault, match="does not fit"):
        handler(event(task), None)


def test_bad_settings_name_the_variable(cloud: pytest.MonkeyPatch, task: dict[str, Any]) -> None:
    cloud.setenv("STEPKEEPER_DRAFT_CHARS", "many")
    handler, _ = counting(lambda _: {})
    with pytest.raises(SystemFault, match="STEPKEEPER_DRAFT_CHARS"):
        handler(event(task), None)


def test_a_reading_handler_looks_every_time_and_leaves_no_row(task: dict[str, Any]) -> None:
    seen: list[int] = []

    @reading(TaskEvent)
    def handler(call: Call[TaskEvent]) -> dict[str, Any]:
        seen.append(1)
        with pytest.raises(SystemFault, match="only reads"):
            _ = call.key
        return {"seen": len(seen)}

    assert [json.loads(handler(event(task), None))["seen"] for _ in range(2)] == [1, 2]
    assert Ledger.open().rows(task["task_id"]) == []


def test_what_is_repeatable_runs_at_replays_too(task: dict[str, Any]) -> None:
    seen: list[int] = []
    handler, keys = counting(lambda _: {}, before=lambda call: seen.append(call.event.attempt))
    handler(event(task), None)
    handler(event(task), None)
    assert (seen, len(keys)) == ([1, 1], 1)


def test_one_line_of_json_per_change_with_the_nine_fields(
    task: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    def outcome(number: int) -> dict[str, Any]:
        if number == 1:
            raise TemporaryUpstreamError("busy", upstream="x", effect_applied=False)
        return {}

    handler, keys = counting(outcome)
    with pytest.raises(TemporaryUpstreamError):
        handler(event(task), None)
    handler(event(task), None)
    handler(event(task), None)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    changes = [(line["from_status"], line["to_status"], line["attempt"], line["error_type"]) for line in lines]
    assert changes == [
        ("", "claimed", 1, ""),
        ("claimed", "failed", 1, "TemporaryUpstreamError"),
        ("failed", "claimed", 2, ""),
        ("claimed", "done", 2, ""),
    ]
    assert set(lines[0]) == {
        "task_id",
        "workflow_version",
        "step_name",
        "from_status",
        "to_status",
        "attempt",
        "error_type",
        "side_effect_id",
        "timestamp",
    }
    assert {line["side_effect_id"] for line in lines} == set(keys)
    assert {line["task_id"] for line in lines} == {task["task_id"]}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (StepBusy("s", 5), TemporaryUpstreamError),
        (LedgerUnavailable("read", 1.0, "x"), TemporaryUpstreamError),
        (ClaimLost("s"), TemporaryUpstreamError),
        (BlobUnavailable("oss://b/k", "away"), TemporaryUpstreamError),
        (OutcomeUncertain("s", "k", "r"), UncertainOutcome),
        (InvalidKey("task_id", "", "it is empty"), InvalidInput),
        (NotJson("$", "x"), SystemFault),
        (TableMissing("t"), SystemFault),
        (StepClosed("s", "tombstone"), SystemFault),
        (CompensationFailed("s", LedgerUnavailable("read", 1.0, "x")), TemporaryUpstreamError),
        (CompensationFailed("s", TemporaryUpstreamError("x", upstream="oss")), TemporaryUpstreamError),
        (CompensationFailed("s", OutcomeUncertain("s", "k", "r")), UncertainOutcome),
        (CompensationFailed("s", ValueError("x")), SystemFault),
        (ValueError("x"), SystemFault),
    ],
)
def test_every_error_has_its_typed_name(error: Exception, kind: type[StepkeeperError]) -> None:
    assert type(typed(error)) is kind


def test_a_typed_error_stands_for_itself() -> None:
    error = InvalidInput("x")
    assert typed(error) is error
