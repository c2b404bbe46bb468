"""Compensate through its FC entry: in reverse order, only one's own, twice is quiet, nothing uncertain is undone."""

from __future__ import annotations

import pytest
from handler_kit import WORKFLOW, Desk
from loopback import Answer, Loopback, closed_port

from functions.errors import SystemFault, TemporaryUpstreamError, UncertainOutcome
from functions.handlers.save_result import result_key
from functions.payloads import Payloads
from ledger import Ledger

STEPS = ["ValidateInput", "PrepareMaterial", "GenerateDraft", "HumanReview", "SaveResult", "Notify"]


def test_everything_that_was_made_is_removed_in_reverse_order(desk: Desk) -> None:
    task = desk.saved()
    desk.notify(task)
    assert desk.objects() == ["documents", "drafts", "material", "results"]
    answer = desk.undo()
    assert answer == {"outcome": "rejected", "undone": {"compensated": 5, "irreversible": 1}}
    assert (desk.objects(), desk.tokens()) == ([], [])
    undone = sorted(
        (change.timestamp, change.step_name)
        for change in Ledger.open().transitions(desk.task_id)
        if change.to_status in ("compensated", "irreversible")
    )
    assert [name for _, name in undone] == list(reversed(STEPS))
    assert desk.states() == {**dict.fromkeys(STEPS, "compensated"), "Notify": "irreversible"}


def test_what_cannot_be_undone_is_listed_with_what_is_known_of_it(desk: Desk) -> None:
    desk.notify(desk.saved())
    desk.undo()
    assert desk.row("Notify").state == "irreversible"
    assert "notice_sent" in desk.row("Notify").compensation
    assert len(desk.notices("result_saved")) == 1


def test_undoing_twice_is_quiet(desk: Desk) -> None:
    desk.saved()
    first = desk.undo()
    rows = desk.rows()
    assert (first["undone"], desk.undo()["undone"]) == ({"compensated": 5}, {"skipped_repeat": 5})
    assert desk.rows() == rows
    assert desk.objects() == []


def test_somebody_elses_result_is_never_removed(desk: Desk) -> None:
    desk.saved()
    payloads = Payloads.open()
    payloads.bucket.remove(result_key(desk.task_id))
    other = payloads.put(result_key(desk.task_id), b"somebody else's")
    assert desk.undo()["undone"] == {"compensated": 5}
    assert payloads.find(result_key(desk.task_id)) == other
    assert desk.row("SaveResult").state == "compensated"


def test_a_failed_save_leaves_the_others_result_alone(desk: Desk) -> None:
    task = desk.drafted()
    payloads = Payloads.open()
    other = payloads.put(result_key(desk.task_id), b"somebody else's")
    with pytest.raises(Exception, match="other content"):
        desk.save(task)
    desk.undo()
    assert payloads.find(result_key(desk.task_id)) == other


def test_a_document_the_caller_owns_stays(desk: Desk) -> None:
    mine = Payloads.open().put(f"inbox/{desk.task_id}.txt", b"mine.")
    desk.material(desk.validate({"uri": mine.uri}))
    desk.undo()
    assert Payloads.open().read(mine) == b"mine."
    assert desk.states() == {"ValidateInput": "done", "PrepareMaterial": "compensated"}


def test_a_step_that_was_undone_does_not_run_again(desk: Desk) -> None:
    task = desk.drafted()
    desk.undo()
    with pytest.raises(SystemFault, match="compensated"):
        desk.draft(task)
    assert desk.objects() == []


def test_an_uncertain_step_stops_the_undoing_before_anything_is_guessed(
    desk: Desk, server: Loopback, cloud: pytest.MonkeyPatch
) -> None:
    task = desk.saved()
    cloud.setenv("STEPKEEPER_NOTICE_SENDER", "feishu")
    cloud.setenv("STEPKEEPER_NOTICE_URL", server.url)
    server.answers = [Answer(500)]
    with pytest.raises(UncertainOutcome):
        desk.notify(task)
    with pytest.raises(UncertainOutcome) as caught:
        desk.undo("compensated")
    assert caught.value.step == "Notify"
    assert desk.row("Notify").state == "uncertain"
    desk.decide("Notify", {"decision": "compensate", "applied": False, "by": "ann", "reason": "looked"})
    desk.undo("compensated")
    assert desk.objects() == []


def test_a_store_out_of_reach_is_temporary_and_a_repeat_goes_on(desk: Desk, cloud: pytest.MonkeyPatch) -> None:
    desk.saved()
    with cloud.context() as patch:
        patch.setenv("OSS_ENDPOINT", f"http://127.0.0.1:{closed_port()}")
        with pytest.raises(TemporaryUpstreamError):
            desk.undo()
    assert desk.row("ValidateInput").state == "done", "undoing stops at the first failure, so the order holds"
    assert desk.undo()["undone"]["compensated"] >= 1
    assert (desk.objects(), set(desk.states().values())) == ([], {"compensated"})


@pytest.mark.parametrize("task", [None, {}, {"task_id": "  "}, "text"])
def test_a_task_that_never_was_has_nothing_to_undo(desk: Desk, task: object) -> None:
    answer = desk.loose("compensate", "Compensate", task=task, outcome="expired")
    assert answer == {"outcome": "expired", "undone": {}}


def test_undoing_touches_this_task_and_this_workflow_only(desk: Desk) -> None:
    other = Desk(f"{desk.task_id}-other", desk.outbox)
    other.drafted()
    desk.drafted()
    desk.undo()
    assert set(other.states().values()) == {"done"}
    assert other.objects() == ["documents", "drafts", "material"]
    assert {row.workflow_version for row in desk.rows()} == {WORKFLOW}
