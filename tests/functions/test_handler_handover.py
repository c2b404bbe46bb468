"""ManualReview and RecordDecision through their FC entries: redacted, told, settled by a person, idempotent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from handler_kit import Desk, Json
from loopback import Answer, Loopback

from functions.errors import InvalidInput, UncertainOutcome, VersionMismatch
from functions.models import PayloadRef
from functions.payloads import Payloads
from ledger import Ledger

SECRETS = [
    "Authorization: Bearer abcdef1234567890",
    "https://oss.example/k?OSSAccessKeyId=LTAIabcdefgh12345&Signature=c2lnbmF0dXJl",
    'api_key="sk-abcdefgh12345678"',
    "STS.NUabcdefgh12345",
    "password=hunter2hunter2",
]
HIDDEN = ["abcdef1234567890", "LTAIabcdefgh12345", "c2lnbmF0dXJl", "sk-abcdefgh12345678", "hunter2hunter2"]


@pytest.fixture
def robot(cloud: pytest.MonkeyPatch, server: Loopback) -> Loopback:
    cloud.setenv("STEPKEEPER_NOTICE_SENDER", "dingtalk")
    cloud.setenv("STEPKEEPER_NOTICE_URL", server.url)
    server.answers = [Answer.of({"errcode": 0})]
    return server


def uncertain(desk: Desk, robot: Loopback) -> Json:
    """A task whose announcement may or may not have left."""
    task = desk.saved()
    robot.answers = [Answer(500), Answer.of({"errcode": 0})]
    with pytest.raises(UncertainOutcome):
        desk.notify(task)
    return task


def kept(answer: Json) -> Any:
    return json.loads(Payloads.open().read(PayloadRef(**answer["context"])))


@pytest.mark.parametrize("shape", ["fc", "object", "text"])
def test_the_error_context_is_stored_and_told_without_secrets(
    desk: Desk, shape: str, capsys: pytest.CaptureFixture[str]
) -> None:
    message = "; ".join(SECRETS)
    body = {"errorMessage": message, "errorType": "SystemFault", "stackTrace": [["x", "password=hunter2hunter2"]]}
    detail: Any = {"fc": json.dumps(body), "object": body, "text": message}[shape]
    answer = desk.hand_over("SaveResult", "SystemFault", detail)
    context = kept(answer)
    assert context["failed_step"] == "SaveResult"
    assert (context["task_id"], context["error"]["code"]) == (desk.task_id, "SystemFault")
    (notice,) = desk.notices("handed_over")
    seen = [json.dumps(context), json.dumps(notice), json.dumps(answer), repr(desk.rows()), capsys.readouterr().out]
    for text in seen:
        assert not any(secret in text for secret in HIDDEN)
    assert "stackTrace" not in json.dumps(context)
    assert (desk.row("ManualReview").state, desk.tokens()) == ("done", ["token-9"])


@pytest.mark.parametrize("detail", [None, "", {}, [], 5], ids=repr)
def test_any_detail_that_a_catch_may_hand_on_is_taken_or_named(desk: Desk, detail: Any) -> None:
    if isinstance(detail, list | int):
        with pytest.raises(InvalidInput) as caught:
            desk.hand_over("SaveResult", "FC.Unknown", detail)
        assert caught.value.path.startswith("error.detail")
        return
    assert kept(desk.hand_over("SaveResult", "FC.Unknown", detail))["error"]["code"] == "FC.Unknown"


def test_a_hand_over_works_on_an_input_nobody_could_read(desk: Desk) -> None:
    answer = desk.hand_over("ValidateInput", "FC.Unknown", None, task=["nonsense"], execution=desk.task_id)
    assert kept(answer)["task_id"] == f"execution {desk.task_id}"


def test_a_notice_that_cannot_be_sent_does_not_fail_the_hand_over(desk: Desk, robot: Loopback) -> None:
    robot.answers = [Answer(404)]
    answer = desk.hand_over("SaveResult", "SystemFault", "x")
    assert answer["notice"]["failed"]["error"] == "SystemFault"
    assert desk.row("ManualReview").state == "done"


def test_a_repeated_hand_over_keeps_the_new_token_and_tells_nobody_again(desk: Desk) -> None:
    first = desk.hand_over("SaveResult", "SystemFault", "x", token="one")
    second = desk.hand_over("SaveResult", "SystemFault", "x", token="two")
    assert first == second
    assert (len(desk.notices("handed_over")), sorted(desk.tokens())) == (1, ["one", "two"])


@pytest.mark.parametrize("decision", ["retry", "compensate"])
def test_an_uncertain_step_needs_to_know_whether_it_was_applied(desk: Desk, robot: Loopback, decision: str) -> None:
    uncertain(desk, robot)
    with pytest.raises(InvalidInput) as caught:
        desk.decide("Notify", {"decision": decision, "by": "ann"})
    assert (caught.value.path, caught.value.reason) == ("answer.applied", "missing")
    assert desk.row("Notify").side_effect_id in str(caught.value)
    assert desk.row("Notify").state == "uncertain"


def test_applied_replays_and_nothing_is_sent_again(desk: Desk, robot: Loopback) -> None:
    task = uncertain(desk, robot)
    sent = len(robot.asked)
    answer = {"decision": "retry", "applied": True, "by": "ann", "reason": "it is in the chat"}
    assert desk.decide("Notify", answer) == {"decision": "retry", "by": "ann", "reason": "it is in the chat"}
    assert desk.notify(task)["settled_by"] == "ann"
    assert len(robot.asked) == sent
    assert (desk.row("Notify").state, desk.row("RecordDecision").state) == ("done", "done")
    (settled,) = [change for change in Ledger.open().transitions(desk.task_id) if change.by]
    assert (settled.step_name, settled.by, settled.reason) == ("Notify", "ann", "it is in the chat")


def test_applied_may_say_what_the_result_was(desk: Desk, robot: Loopback) -> None:
    task = uncertain(desk, robot)
    receipt = {"sender": "dingtalk", "reference": "seen"}
    desk.decide("Notify", {"decision": "retry", "applied": True, "by": "ann", "result": {"receipt": receipt}})
    assert desk.notify(task)["receipt"] == receipt


def test_not_applied_runs_again(desk: Desk, robot: Loopback) -> None:
    task = uncertain(desk, robot)
    sent = len(robot.asked)
    desk.decide("Notify", {"decision": "retry", "applied": False, "by": "ann", "reason": "not in the chat"})
    assert desk.notify(task)["receipt"]["sender"] == "dingtalk"
    assert len(robot.asked) == sent + 1
    assert (desk.row("Notify").state, desk.row("Notify").attempt) == ("done", 2)


def test_giving_up_settles_nothing(desk: Desk, robot: Loopback) -> None:
    uncertain(desk, robot)
    assert desk.decide("Notify", {"decision": "abandon"})["decision"] == "abandon"
    assert desk.row("Notify").state == "uncertain"


def test_the_same_decision_again_is_quiet(desk: Desk, robot: Loopback) -> None:
    uncertain(desk, robot)
    answer = {"decision": "retry", "applied": False, "by": "ann", "reason": "r"}
    assert desk.decide("Notify", answer) == desk.decide("Notify", answer)
    assert desk.row("RecordDecision").attempt == 1
    assert len([change for change in Ledger.open().transitions(desk.task_id) if change.by == "ann"]) == 1


def test_a_decision_on_a_step_that_simply_failed_is_only_recorded(desk: Desk) -> None:
    desk.validate()
    assert desk.decide("PrepareMaterial", {"decision": "retry"})["decision"] == "retry"
    assert desk.states() == {"ValidateInput": "done", "RecordDecision": "done"}


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        ({}, "answer.decision"),
        ({"decision": "maybe"}, "answer.decision"),
        ({"decision": ["retry"]}, "answer.decision"),
        ({"decision": "retry", "applied": "perhaps"}, "answer.applied"),
        ({"decision": "retry", "aplied": True}, "answer.aplied"),
        ({"decision": "retry", "result": "text"}, "answer.result"),
        ({"decision": "retry", "by": "x" * 201}, "answer.by"),
        ("retry", "answer"),
        (None, "answer"),
        ([], "answer"),
    ],
)
def test_an_answer_without_shape_is_refused_by_path(desk: Desk, answer: Any, path: str) -> None:
    desk.validate()
    with pytest.raises(InvalidInput) as caught:
        desk.decide("Notify", answer)
    assert caught.value.path == path
    assert desk.states() == {"ValidateInput": "done"}


def test_accepted_versions_are_pinned_with_the_name_and_the_reason(desk: Desk, cloud: pytest.MonkeyPatch) -> None:
    task = desk.validate()
    cloud.setenv("STEPKEEPER_FUNCTION_VERSION", "2")
    with pytest.raises(VersionMismatch):
        desk.material(task)
    answer = {"decision": "retry", "accept_versions": True, "by": "ann", "reason": "compatible"}
    desk.decide("PrepareMaterial", answer, task=task)
    record = Ledger.open().task(desk.task_id)
    assert record is not None
    (migration,) = record.migrations
    assert (migration.before.function, migration.after.function) == ("1", "2")
    assert migration.reason == "accepted by ann: compatible"
    assert desk.material(task)["material"] is not None
    assert desk.states()["PrepareMaterial"] == "done"


def test_versions_of_a_task_that_was_never_pinned_cannot_be_accepted(desk: Desk) -> None:
    with pytest.raises(InvalidInput) as caught:
        desk.decide("ValidateInput", {"decision": "retry", "accept_versions": True})
    assert caught.value.path == "answer.accept_versions"
    assert desk.row("RecordDecision").state == "failed"
