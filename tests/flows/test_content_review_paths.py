"""content_review.yaml, path by path: the states entered, the calls made, and what the ledger says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flow_kit import Flows, answers, inline
from loopback import Answer, Asked, Loopback

from functions.handlers.save_result import result_key
from functions.payloads import Payloads
from local_sim.clock import VirtualClock
from local_sim.engine.events import Status
from local_sim.runner import RunResult, resume_run

MAIN = ["ValidateInput", "PrepareMaterial", "GenerateDraft", "HumanReview", "RouteReview"]
SAVED = ["SaveResult", "Notify", "Completed"]
ASKED = ["ManualReview", "RecordDecision", "RouteDecision"]
UNDONE = ["Compensate", "RouteOutcome"]


def path(result: RunResult) -> list[str]:
    assert result.path[0] == "Begin"
    return list(result.path[1:])


def calls(result: RunResult) -> dict[str, int]:
    return {name.removeprefix("stepkeeper-"): count for name, count in result.calls.items()}


def completion(text: str) -> Answer:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return Answer.of({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


@pytest.fixture
def provider(flows: Flows, server: Loopback) -> Loopback:
    """GenerateDraft asks this server."""
    flows.settings |= {
        "STEPKEEPER_DRAFT_PROVIDER": "openai",
        "STEPKEEPER_DRAFT_BASE_URL": server.url,
        "STEPKEEPER_DRAFT_API_KEY": "test-key",
    }
    return server


@pytest.fixture
def robot(flows: Flows, server: Loopback) -> Loopback:
    """Notices go to this server as if it were a DingTalk robot."""
    flows.settings |= {
        "STEPKEEPER_NOTICE_SENDER": "dingtalk",
        "STEPKEEPER_NOTICE_URL": server.url,
        "STEPKEEPER_NOTICE_TIMEOUT": "0.3",
    }
    server.answers = [Answer.of({"errcode": 0})]
    return server


def test_approved_saves_once_and_tells_once(flows: Flows, task_id: str) -> None:
    result = flows.run("content_review", inline(task_id), answers("approved"))
    assert path(result) == MAIN + SAVED
    assert result.output["outcome"] == "completed"
    assert set(calls(result).values()) == {1}
    assert flows.states(task_id) == dict.fromkeys([*MAIN[:4], "SaveResult", "Notify"], "done")
    assert len(flows.notices(task_id, "result_saved")) == 1
    saved = Payloads.open().find(result_key(task_id))
    assert saved is not None
    assert result.output["task"]["result"] == saved.model_dump()
    assert "48,000 元" in Payloads.open().read(saved).decode()


def test_only_control_data_travels(flows: Flows, task_id: str) -> None:
    result = flows.run("content_review", {**inline(task_id), "title": "标题"}, answers("approved"))
    after = [event for event in result.history if event.step_name not in ("", "Begin", "ValidateInput")]
    assert after
    assert not any("thirty days" in repr(dict(event.detail)) for event in after)


def test_rejected_undoes_everything_that_can_be_undone(flows: Flows, task_id: str) -> None:
    result = flows.run("content_review", inline(task_id), answers({"decision": "rejected", "by": "ann"}))
    assert path(result) == [*MAIN, "Reject", *UNDONE, "Rejected"]
    assert result.status is Status.SUCCEEDED
    assert result.output["outcome"] == "rejected"
    assert flows.states(task_id) == dict.fromkeys(MAIN[:4], "compensated")
    assert flows.stored(task_id) == []
    undone = [row.step for row in flows.rows(task_id) if row.direction == "compensate"]
    assert undone == list(reversed(MAIN[:4]))


def test_more_info_goes_back_with_the_note(flows: Flows, task_id: str) -> None:
    note = {"decision": "more_info", "note": "请说明 thirty days 的删除", "by": "ann"}
    result = flows.run("content_review", inline(task_id), answers(note, "approved"))
    assert path(result) == [*MAIN, "AddInformation", *MAIN[1:], *SAVED]
    states = flows.states(task_id)
    assert {step: states[step] for step in ("GenerateDraft", "GenerateDraft@2", "HumanReview@2", "SaveResult@2")} == {
        "GenerateDraft": "done",
        "GenerateDraft@2": "done",
        "HumanReview@2": "done",
        "SaveResult@2": "done",
    }
    saved = Payloads.open().find(result_key(task_id))
    assert saved is not None
    assert "请说明 thirty days 的删除" in Payloads.open().read(saved).decode()
    assert [line for notice in flows.notices(task_id, "review") for line in notice["lines"] if "Round" in line] in (
        ["Round: 1", "Round: 2"],
        ["Round: 2", "Round: 1"],
    )


def test_nobody_reviews_and_the_task_expires_after_seven_days(flows: Flows, task_id: str) -> None:
    clock = VirtualClock(1_700_000_000_000)
    result = flows.run("content_review", inline(task_id), clock=clock)
    assert path(result) == [*MAIN[:4], *UNDONE, "Expired"]
    assert result.output["outcome"] == "expired"
    assert clock.now_ms() - 1_700_000_000_000 >= 604_800_000
    assert flows.stored(task_id) == []


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({}, "task_id"),
        ({"task_id": "", "document": {}}, "task_id"),
        ({"task_id": "ID", "document": {"inline": "a"}, "extra": 1}, "extra"),
        ({"task_id": "ID", "document": {"uri": "oss://stepkeeper-payloads/none"}}, "does not exist"),
        ({"task_id": "ID", "document": {"inline": " ", "name": "a.txt"}}, "empty"),
        ({"task_id": "ID", "document": {"inline": "MZ", "name": "a.exe"}}, ".docx"),
    ],
)
def test_an_unusable_input_waits_for_a_corrected_one(
    flows: Flows, task_id: str, bad: dict[str, Any], named: str
) -> None:
    bad_id = f"bad-{task_id}"
    bad = {**bad, "task_id": bad_id} if bad.get("task_id") else bad
    result = flows.run("content_review", bad, answers(("NeedInput", inline(task_id)), "approved"), name=task_id)
    assert path(result) == ["ValidateInput", "NeedInput", "CountCorrections", *MAIN, *SAVED]
    assert flows.states(task_id)["ValidateInput@2"] == "done"
    asked = flows.notices(bad_id, "correction") + flows.notices(f"execution {task_id}", "correction")
    assert any(named in line for notice in asked for line in notice["lines"])


def test_an_encrypted_document_waits_too_and_the_new_one_is_pinned(flows: Flows, task_id: str) -> None:
    from documents import pdf

    ref = Payloads.open().put(f"inbox/{task_id}.pdf", pdf([["x"]], password="pw"), "application/pdf")
    bad = {"task_id": task_id, "document": {"uri": ref.uri}}
    result = flows.run("content_review", bad, answers(("NeedInput", inline(task_id)), "approved"))
    assert path(result)[:5] == ["ValidateInput", "PrepareMaterial", "NeedInput", "CountCorrections", "ValidateInput"]
    assert path(result)[5:] == [*MAIN[1:], *SAVED]
    assert flows.states(task_id)["PrepareMaterial"] == "failed"
    assert result.output["task"]["versions"]["input"] == result.output["task"]["document"]["sha256"]


def test_a_correction_that_never_comes_expires(flows: Flows, task_id: str) -> None:
    result = flows.run("content_review", {"task_id": task_id})
    assert path(result) == ["ValidateInput", "NeedInput", *UNDONE, "Expired"]
    assert flows.states(task_id) == {"NeedInput": "done"}


def test_a_busy_provider_is_asked_again_twice_with_a_growing_interval(
    flows: Flows, provider: Loopback, task_id: str
) -> None:
    provider.answers = [Answer(503), Answer(429), completion("# 草稿")]
    clock = VirtualClock(1_700_000_000_000)
    result = flows.run("content_review", inline(task_id), answers("approved"), clock=clock)
    assert path(result) == MAIN + SAVED
    assert calls(result)["generate-draft"] == 3
    assert clock.now_ms() - 1_700_000_000_000 >= 2_000 + 8_000
    (row,) = [row for row in flows.rows(task_id) if row.step == "GenerateDraft"]
    assert (row.state, row.attempt) == ("done", 3)


def test_used_up_retries_go_to_a_person_who_retries(flows: Flows, provider: Loopback, task_id: str) -> None:
    provider.answers = [Answer(503), Answer(503), Answer(503), completion("# 草稿")]
    result = flows.run(
        "content_review", inline(task_id), answers(("ManualReview", "retry"), ("HumanReview", "approved"))
    )
    assert path(result) == [*MAIN[:3], *ASKED, "RouteRetry", *MAIN[2:], *SAVED]
    assert len(provider.asked) == 4
    (notice,) = flows.notices(task_id, "handed_over")
    assert any("TemporaryUpstreamError" in line for line in notice["lines"])


def test_a_person_has_it_undone(flows: Flows, provider: Loopback, task_id: str) -> None:
    provider.answers = [Answer(401)]
    result = flows.run("content_review", inline(task_id), answers(("ManualReview", "compensate")))
    assert path(result) == [*MAIN[:3], *ASKED, *UNDONE, "Compensated"]
    assert result.output["outcome"] == "compensated"
    assert calls(result)["generate-draft"] == 1, "a wrong key is not tried again"
    # The error context stays: it is what a person decided upon.
    assert flows.stored(task_id) == ["handovers", "tokens"]


def test_a_person_gives_up(flows: Flows, provider: Loopback, task_id: str) -> None:
    provider.answers = [Answer(401)]
    result = flows.run("content_review", inline(task_id), answers(("ManualReview", "abandon")))
    assert path(result) == [*MAIN[:3], *ASKED, "Abandoned"]
    assert (result.status, result.error) == (Status.FAILED, "Abandoned")
    assert flows.states(task_id)["PrepareMaterial"] == "done", "nothing is undone"


def test_nobody_decides_and_everything_is_left_as_it_is(flows: Flows, provider: Loopback, task_id: str) -> None:
    provider.answers = [Answer(401)]
    result = flows.run("content_review", inline(task_id))
    assert path(result) == [*MAIN[:3], "ManualReview", "Abandoned"]
    assert "materials" not in flows.stored(task_id)
    assert flows.states(task_id)["PrepareMaterial"] == "done"


def test_refused_content_asks_for_another_input(flows: Flows, provider: Loopback, task_id: str) -> None:
    refused = Answer.of({"error": {"message": "no", "code": "data_inspection_failed"}}, 400)
    provider.answers = [refused, completion("# 草稿")]
    result = flows.run(
        "content_review", inline(task_id), answers(("NeedInput", inline(task_id, "另一份。")), "approved")
    )
    assert path(result) == [*MAIN[:3], "NeedInput", "CountCorrections", *MAIN, *SAVED]


def test_an_answer_that_is_no_decision_goes_to_a_person_and_is_asked_again(flows: Flows, task_id: str) -> None:
    result = flows.run(
        "content_review",
        inline(task_id),
        answers(("HumanReview", {"decision": "maybe"}), ("ManualReview", "retry"), ("HumanReview", "approved")),
    )
    assert path(result) == [
        *MAIN,
        "UnknownDecision",
        *ASKED,
        "RouteRetry",
        "AskAgain",
        "HumanReview",
        "RouteReview",
        *SAVED,
    ]
    assert flows.states(task_id)["HumanReview@2"] == "done"


@pytest.mark.parametrize("report", [{}, {"decision": None}, {"decision": 5}, {"decision": ["approved"]}])
def test_a_shapeless_answer_never_saves(flows: Flows, task_id: str, report: dict[str, Any]) -> None:
    result = flows.run("content_review", inline(task_id), answers(("HumanReview", report), ("ManualReview", "abandon")))
    assert path(result)[-1] == "Abandoned"
    assert "ManualReview" in path(result)
    assert Payloads.open().find(result_key(task_id)) is None


def test_another_result_is_found_compared_and_never_overwritten(flows: Flows, task_id: str) -> None:
    payloads = Payloads.open()
    other = payloads.put(result_key(task_id), b"somebody else's")
    first = flows.run("content_review", inline(task_id), answers("approved", ("ManualReview", "abandon")))
    conflict = [*MAIN, "SaveResult", "CheckExistingResult", "RouteExisting"]
    assert path(first) == [*conflict, *ASKED, "Abandoned"]
    assert payloads.find(result_key(task_id)) == other
    assert flows.states(task_id)["SaveResult"] == "failed"


def test_a_person_clears_the_conflict_and_retries(flows: Flows, task_id: str) -> None:
    payloads = Payloads.open()
    other = payloads.put(result_key(task_id), b"somebody else's")

    def ask(waiting: Any) -> Any:
        payloads.remove(other)
        return answers("retry")[0]

    result = flows.run("content_review", inline(task_id), answers(("HumanReview", "approved")), ask=ask)
    conflict = [*MAIN, "SaveResult", "CheckExistingResult", "RouteExisting"]
    assert path(result) == [*conflict, *ASKED, "RouteRetry", *SAVED]


def test_a_lost_notice_is_never_sent_blindly_again(flows: Flows, robot: Loopback, task_id: str) -> None:
    told = Answer.of({"errcode": 0})

    def lose_the_result(asked: Asked) -> Answer:
        return Answer(hang=True) if "Saved" in asked.json["markdown"]["title"] else told

    robot.answers = [lose_the_result]
    result = flows.run(
        "content_review",
        inline(task_id),
        answers(
            ("HumanReview", "approved"),
            ("ManualReview", "retry"),
            ("ManualReview", {"decision": "retry", "applied": True, "by": "ann", "reason": "it is in the chat"}),
        ),
    )
    bare = ["ManualReview", "RecordDecision", "CountHandovers"]
    assert path(result) == [*MAIN, "SaveResult", "Notify", *bare, *ASKED, "RouteRetry", "Notify", "Completed"]
    saved = [asked for asked in robot.asked if "Saved" in asked.json["markdown"]["title"]]
    assert len(saved) == 1
    (row,) = [row for row in flows.rows(task_id) if row.step == "Notify"]
    assert row.state == "done"


def test_a_person_who_knows_that_it_did_not_leave_has_it_sent_again(
    flows: Flows, robot: Loopback, task_id: str
) -> None:
    lost: list[str] = []

    def lose_the_first(asked: Asked) -> Answer:
        title = asked.json["markdown"]["title"]
        if "Saved" in title and not lost:
            lost.append(title)
            return Answer(hang=True)
        return Answer.of({"errcode": 0})

    robot.answers = [lose_the_first]
    report = {"decision": "retry", "applied": False, "by": "ann", "reason": "not in the chat"}
    result = flows.run(
        "content_review", inline(task_id), answers(("HumanReview", "approved"), ("ManualReview", report))
    )
    assert path(result)[-2:] == ["Notify", "Completed"]
    assert len([asked for asked in robot.asked if "Saved" in asked.json["markdown"]["title"]]) == 2


def test_a_robot_that_is_down_does_not_stop_the_hand_over(flows: Flows, robot: Loopback, task_id: str) -> None:
    robot.answers = [Answer(404)]
    result = flows.run("content_review", inline(task_id), answers(("ManualReview", "abandon")))
    assert path(result) == [*MAIN[:4], *ASKED, "Abandoned"]


def test_other_versions_stop_the_task_until_a_person_accepts_them(flows: Flows, task_id: str, tmp_path: Path) -> None:
    waiting = flows.run("content_review", inline(task_id), data_dir=tmp_path, clock=_stopped())
    assert waiting.status is Status.RUNNING
    flows.settings["STEPKEEPER_FUNCTION_VERSION"] = "2"
    report = {"decision": "retry", "accept_versions": True, "by": "ann", "reason": "compatible"}
    result = resume_run(
        flows.project,
        data_dir=tmp_path,
        cloud=flows.cloud,
        decisions=answers(("HumanReview", "approved"), ("ManualReview", report)),
    )
    assert path(result) == [*MAIN, "SaveResult", *ASKED, "RouteRetry", *SAVED]
    (notice,) = flows.notices(task_id, "handed_over")
    assert any("VersionMismatch" in line for line in notice["lines"])


def test_the_same_task_again_replays_and_does_nothing_twice(flows: Flows, provider: Loopback, task_id: str) -> None:
    provider.answers = [completion("# 草稿")]
    first = flows.run("content_review", inline(task_id), answers("approved"))
    second = flows.run("content_review", inline(task_id), answers("approved"))
    assert path(first) == path(second)
    assert first.output == second.output
    assert len(provider.asked) == 1
    assert len(flows.notices(task_id, "result_saved")) == 1
    assert {row.attempt for row in flows.rows(task_id)} == {1}


def test_the_same_task_id_with_another_document_is_a_conflict(flows: Flows, task_id: str) -> None:
    flows.run("content_review", inline(task_id), answers("approved"))
    result = flows.run("content_review", inline(task_id, "别的内容。"), answers(("ManualReview", "abandon")))
    assert path(result) == ["ValidateInput", *ASKED, "Abandoned"]
    (notice,) = flows.notices(task_id, "handed_over")
    assert any("ResultConflict" in line for line in notice["lines"])


def _stopped() -> Any:
    """Real time: the run stops at the callback that nobody answers instead of running into its timeout."""
    from local_sim.clock import RealClock

    return RealClock()
