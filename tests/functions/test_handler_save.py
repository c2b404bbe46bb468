"""SaveResult, CheckExistingResult and Notify through their FC entries: saved once, never overwritten, told once."""

from __future__ import annotations

import threading

import pytest
from handler_kit import Desk, Json
from loopback import Answer, Loopback

from functions.errors import InvalidInput, ResultConflict, ReviewRejected, StepkeeperError, UncertainOutcome
from functions.handlers.save_result import result_key
from functions.models import PayloadRef
from functions.payloads import Payloads


def stored(desk: Desk) -> PayloadRef | None:
    return Payloads.open().find(result_key(desk.task_id))


def test_an_approved_draft_becomes_the_result(desk: Desk) -> None:
    task = desk.saved()
    found = stored(desk)
    assert found is not None
    assert task["result"] == found.model_dump()
    assert found.sha256 == task["draft"]["sha256"]
    row = desk.row("SaveResult")
    assert (row.state, row.attempt, row.kind.value) == ("done", 1, "local")


@pytest.mark.parametrize("decision", ["rejected", "more_info", "", "Approved", "approved ", "yes"])
def test_only_approved_is_saved(desk: Desk, decision: str) -> None:
    task = desk.drafted()
    with pytest.raises(ReviewRejected) as caught:
        desk.save(task, decision)
    assert (caught.value.decision, caught.value.round) == (decision, 1)
    assert stored(desk) is None
    assert (desk.row("SaveResult").state, desk.row("SaveResult").error_type) == ("failed", "ReviewRejected")


def test_a_result_is_saved_once_whoever_asks(desk: Desk) -> None:
    task = desk.drafted()
    results: list[Json | StepkeeperError] = []

    def save() -> None:
        try:
            results.append(desk.save(task))
        except StepkeeperError as error:
            results.append(error)

    threads = [threading.Thread(target=save) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [desk.save(task)] * 4
    assert desk.row("SaveResult").attempt == 1


def test_what_is_stored_is_never_overwritten(desk: Desk) -> None:
    task = desk.drafted()
    other = Payloads.open().put(result_key(desk.task_id), b"somebody else's")
    for _ in range(2):
        with pytest.raises(ResultConflict) as caught:
            desk.save(task)
        assert caught.value.stored == other.sha256
        assert caught.value.wanted == task["draft"]["sha256"]
    assert stored(desk) == other
    assert (desk.row("SaveResult").state, desk.row("SaveResult").error_type) == ("failed", "ResultConflict")


def test_the_same_content_counts_as_saved(desk: Desk) -> None:
    task = desk.drafted()
    payloads = Payloads.open()
    same = payloads.put(result_key(desk.task_id), payloads.read(PayloadRef(**task["draft"])))
    assert desk.save(task)["result"] == same.model_dump()
    assert desk.row("SaveResult").state == "done"


def test_a_draft_that_was_changed_behind_the_flows_back_is_not_saved(desk: Desk) -> None:
    task = desk.drafted()
    payloads = Payloads.open()
    draft = PayloadRef(**task["draft"])
    payloads.bucket.remove(draft.key)
    payloads.put(draft.key, b"x" * draft.size)
    with pytest.raises(InvalidInput) as caught:
        desk.save(task)
    assert (caught.value.reason, stored(desk)) == ("content differs", None)


def test_checking_finds_the_same_another_or_nothing(desk: Desk) -> None:
    task = desk.drafted()
    payloads = Payloads.open()
    before = desk.rows()
    assert (desk.check(task)["verdict"], desk.check(task)["task"]["result"]) == ("absent", None)
    payloads.put(result_key(desk.task_id), b"somebody else's")
    answer = desk.check(task)
    assert (answer["verdict"], answer["task"]["result"]) == ("different", None)
    assert task["draft"]["sha256"][:12] in answer["detail"]
    payloads.bucket.remove(result_key(desk.task_id))
    same = payloads.put(result_key(desk.task_id), payloads.read(PayloadRef(**task["draft"])))
    assert (desk.check(task)["verdict"], desk.check(task)["task"]["result"]) == ("same", same.model_dump())
    assert desk.rows() == before, "looking leaves no row"


def test_a_result_put_by_hand_is_read_to_be_compared(desk: Desk) -> None:
    task = desk.drafted()
    payloads = Payloads.open()
    payloads.bucket._client.put_object(result_key(desk.task_id), payloads.read(PayloadRef(**task["draft"])))
    assert desk.check(task)["verdict"] == "same"


def test_the_saved_result_is_announced_once(desk: Desk) -> None:
    task = desk.saved()
    assert desk.notify(task)["receipt"] == desk.notify(task)["receipt"]
    (notice,) = desk.notices("result_saved")
    assert f"Result: {task['result']['uri']}" in notice["lines"]
    row = desk.row("Notify")
    assert (row.state, row.attempt) == ("done", 1)


def test_nothing_is_announced_before_it_is_saved(desk: Desk) -> None:
    with pytest.raises(InvalidInput) as caught:
        desk.notify(desk.drafted())
    assert (caught.value.path, desk.notices("result_saved")) == ("task.result", [])


def test_a_lost_announcement_is_uncertain(desk: Desk, server: Loopback, cloud: pytest.MonkeyPatch) -> None:
    task = desk.saved()
    cloud.setenv("STEPKEEPER_NOTICE_SENDER", "wecom")
    cloud.setenv("STEPKEEPER_NOTICE_URL", server.url)
    server.answers = [Answer(500)]
    for _ in range(2):
        with pytest.raises(UncertainOutcome):
            desk.notify(task)
    assert (len(server.asked), desk.row("Notify").state) == (1, "uncertain")


def test_a_webhook_that_drops_known_keys_is_asked_again_with_the_same_one(
    desk: Desk, server: Loopback, cloud: pytest.MonkeyPatch
) -> None:
    task = desk.saved()
    cloud.setenv("STEPKEEPER_NOTICE_SENDER", "json")
    cloud.setenv("STEPKEEPER_NOTICE_URL", server.url)
    server.answers = [Answer(500), Answer.of({"id": "m-1"})]
    with pytest.raises(StepkeeperError):
        desk.notify(task)
    assert desk.notify(task)["receipt"]["reference"] == "m-1"
    assert len({asked.headers["idempotency-key"] for asked in server.asked}) == 1
    assert (desk.row("Notify").state, desk.row("Notify").attempt) == ("done", 2)
