"""HumanReview and NeedInput through their FC entries: told once a round, every token kept, none in a notice."""

from __future__ import annotations

import json
import time

import pytest
from handler_kit import WORKFLOW, Desk
from loopback import Answer, Loopback

from functions.errors import InvalidInput, ResultConflict, SystemFault, TemporaryUpstreamError, UncertainOutcome

TOKENS = ["a+b/c==", "t o%k&e?n#~:", "令牌-1"]


@pytest.fixture
def robot(cloud: pytest.MonkeyPatch, server: Loopback) -> Loopback:
    cloud.setenv("STEPKEEPER_NOTICE_SENDER", "dingtalk")
    cloud.setenv("STEPKEEPER_NOTICE_URL", f"{server.url}/robot/send?access_token=abc123secret")
    cloud.setenv("STEPKEEPER_NOTICE_TIMEOUT", "0.3")
    server.answers = [Answer.of({"errcode": 0})]
    return server


def test_the_reviewers_are_told_once_a_round_and_every_token_is_kept(desk: Desk) -> None:
    task = desk.drafted()
    first = desk.review(task, TOKENS[0])
    assert desk.review(task, TOKENS[1])["receipt"] == first["receipt"]
    desk.review(task, TOKENS[1])
    assert len(desk.notices("review_requested")) == 1
    assert desk.tokens() == [TOKENS[1], TOKENS[0]]
    desk.attempt = 2
    desk.review(task, TOKENS[2])
    assert len(desk.notices("review_requested")) == 2
    assert desk.tokens() == [TOKENS[2]], "a round that is over keeps none"
    assert desk.states()["HumanReview"] == desk.states()["HumanReview@2"] == "done"
    assert desk.row("HumanReview").attempt == 1


def test_no_notice_and_no_row_carries_a_token(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    task = desk.drafted()
    answer = desk.review(task, "token-that-decides")
    seen = [json.dumps(desk.notices()), repr(desk.rows()), capsys.readouterr().out, json.dumps(answer)]
    assert not any("token-that-decides" in text for text in seen)
    assert desk.tokens() == ["token-that-decides"]


def test_the_notice_says_what_to_look_at_and_how_to_answer(desk: Desk, cloud: pytest.MonkeyPatch) -> None:
    cloud.setenv("STEPKEEPER_ANSWER_HINT", "https://review.example/{task_id}")
    task = desk.drafted(title="服务合同")
    desk.review(task)
    (notice,) = desk.notices("review_requested")
    assert notice["title"] == "Review wanted: 服务合同"
    assert f"Draft: {task['draft']['uri']}" in notice["lines"]
    assert f"Answer: https://review.example/{desk.task_id}" in notice["lines"]


def test_a_review_without_a_draft_is_refused_by_name(desk: Desk) -> None:
    with pytest.raises(InvalidInput) as caught:
        desk.review(desk.validate())
    assert caught.value.path == "task.draft"
    assert (desk.row("HumanReview").state, desk.notices()) == ("failed", [])


def test_another_draft_in_the_same_round_is_a_conflict(desk: Desk) -> None:
    task = desk.drafted()
    desk.review(task)
    with pytest.raises(ResultConflict):
        desk.review({**task, "draft": {**task["draft"], "sha256": "0" * 64}}, "token-2")
    assert len(desk.notices("review_requested")) == 1


def test_a_token_that_cannot_be_kept_stops_the_step_before_anybody_is_told(
    desk: Desk, robot: Loopback, cloud: pytest.MonkeyPatch
) -> None:
    task = desk.drafted()
    with cloud.context() as patch:
        patch.setenv("OSS_ENDPOINT", "http://127.0.0.1:1")
        with pytest.raises(TemporaryUpstreamError):
            desk.review(task)
    assert (robot.asked, "HumanReview" in desk.states()) == ([], False)
    desk.review(task)
    assert len(robot.asked) == 1


def test_a_robot_whose_answer_got_lost_is_never_asked_again(desk: Desk, robot: Loopback) -> None:
    task = desk.drafted()
    robot.answers = [Answer(hang=True)]
    for token in ("one", "two"):
        with pytest.raises(UncertainOutcome) as caught:
            desk.review(task, token)
        assert caught.value.step == "HumanReview"
    assert len(robot.asked) == 1
    assert sorted(desk.tokens()) == ["one", "two"]
    assert desk.row("HumanReview").state == "uncertain"


def test_a_throttled_robot_is_asked_again(desk: Desk, robot: Loopback) -> None:
    task = desk.drafted()
    robot.answers = [Answer.of({"errcode": 130101, "errmsg": "send too fast"}), Answer.of({"errcode": 0})]
    with pytest.raises(TemporaryUpstreamError):
        desk.review(task)
    assert desk.row("HumanReview").state == "failed"
    desk.review(task)
    assert (len(robot.asked), desk.row("HumanReview").state) == (2, "done")


def test_the_address_of_the_robot_is_in_no_error(desk: Desk, robot: Loopback) -> None:
    task = desk.drafted()
    robot.answers = [Answer.of({"errcode": 300001, "errmsg": "token is not exist access_token=abc123secret"})]
    with pytest.raises(SystemFault):
        desk.review(task)
    assert "abc123secret" not in desk.row("HumanReview").error


@pytest.mark.parametrize("task", [None, "text", 5, [], {}, {"task_id": ""}, {"task_id": 5}, {"task_id": "a\nb"}])
def test_an_input_without_a_usable_id_is_asked_for_under_the_executions_name(desk: Desk, task: object) -> None:
    error = {"code": "InvalidInput", "detail": '{"errorMessage": "task.task_id: missing", "errorType": "InvalidInput"}'}
    given = {"workflow": WORKFLOW, "execution": desk.task_id, "task": task, "error": error, "token": "t"}
    desk.ask("request_correction", "NeedInput", **given)
    asked = Desk(f"execution {desk.task_id}", desk.outbox)
    (notice,) = asked.notices("correction_needed")
    assert "Problem: task.task_id: missing" in notice["lines"]
    assert asked.tokens() == ["t"]
    assert asked.states() == {"NeedInput": "done"}


def test_a_correction_is_asked_for_once_a_lap(desk: Desk) -> None:
    error = {"code": "InvalidInput", "detail": "plain text Authorization: Bearer abcdef123456"}
    given = {"task": {"task_id": desk.task_id}, "error": error}
    for token in ("one", "two"):
        desk.loose("request_correction", "NeedInput", token=token, **given)
    desk.attempt = 2
    desk.loose("request_correction", "NeedInput", token="three", **given)
    notices = desk.notices("correction_needed")
    assert len(notices) == 2
    assert not any("abcdef123456" in json.dumps(notice) for notice in notices)
    assert sorted(desk.tokens()) == ["one", "three", "two"]
    assert desk.states() == {"NeedInput": "done", "NeedInput@2": "done"}


def test_the_newest_token_comes_first(desk: Desk) -> None:
    task = desk.drafted()
    desk.review(task, "old")
    time.sleep(1.1)  # OSS tells times of objects in whole seconds
    desk.review(task, "new")
    assert desk.tokens() == ["new", "old"]
