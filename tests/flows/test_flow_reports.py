"""Reports that fail, and what a task carries: rules that both shipped flows share."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from flow_kit import ROOT, Flows, answers, inline

from functions.handlers.save_result import result_key
from functions.payloads import Payloads
from local_sim.engine.events import Status
from local_sim.runner import Decision

BEFORE = {
    "content_review": ["ValidateInput", "PrepareMaterial", "GenerateDraft", "HumanReview"],
    "opc_minimal": ["ValidateInput", "GenerateDraft", "HumanReview"],
}
UNDO = {"content_review": "Compensate", "opc_minimal": "Undo"}
both = pytest.mark.parametrize("flow", sorted(BEFORE))


def failed(error: str, cause: str = "no") -> Decision:
    return Decision(state="HumanReview", error=error, cause=cause)


@both
def test_a_failed_report_of_review_rejected_is_undone_and_ends_rejected(flows: Flows, task_id: str, flow: str) -> None:
    result = flows.run(flow, inline(task_id), [failed("ReviewRejected")])
    assert list(result.path) == ["Begin", *BEFORE[flow], UNDO[flow], "RouteOutcome", "Rejected"]
    assert (result.status, result.output["outcome"]) == (Status.SUCCEEDED, "rejected")
    assert flows.states(task_id) == dict.fromkeys(BEFORE[flow], "compensated")
    undone = [row.step for row in flows.rows(task_id) if row.direction == "compensate"]
    assert undone == list(reversed(BEFORE[flow]))
    assert flows.stored(task_id) == []
    assert flows.notices(task_id, "handed_over") == []


@both
def test_rejected_and_review_rejected_leave_the_same_ledger(flows: Flows, task_id: str, flow: str) -> None:
    flows.run(flow, inline(task_id), [failed("ReviewRejected")])
    flows.run(flow, inline(f"{task_id}-b"), answers({"decision": "rejected"}))
    ledgers = [
        [(row.step, row.direction, row.state, row.attempt) for row in flows.rows(name)]
        for name in (task_id, f"{task_id}-b")
    ]
    assert ledgers[0] == ledgers[1]


def test_a_second_round_can_be_rejected_by_a_failed_report_too(flows: Flows, task_id: str) -> None:
    given = [*answers({"decision": "more_info", "note": "thirty days?"}), failed("ReviewRejected")]
    result = flows.run("content_review", inline(task_id), given)
    assert result.path[-4:] == ("HumanReview", "Compensate", "RouteOutcome", "Rejected")
    assert set(flows.states(task_id).values()) == {"compensated"}
    assert "HumanReview@2" in flows.states(task_id)
    assert flows.stored(task_id) == []


def test_any_other_failed_report_goes_to_a_person_with_its_name(flows: Flows, task_id: str) -> None:
    result = flows.run("content_review", inline(task_id), [failed("ChatDown"), *answers(("ManualReview", "abandon"))])
    assert list(result.path[-4:]) == ["ManualReview", "RecordDecision", "RouteDecision", "Abandoned"]
    (notice,) = flows.notices(task_id, "handed_over")
    assert any("ChatDown: no" in line for line in notice["lines"])
    assert flows.states(task_id)["HumanReview"] == "done"


def test_a_reviewer_who_finds_the_input_unusable_has_it_corrected(flows: Flows, task_id: str) -> None:
    given = [failed("InvalidInput", "page two is missing"), *answers(("NeedInput", inline(task_id, "整份文件。")))]
    result = flows.run("content_review", inline(task_id), [*given, *answers("approved")])
    lap = [*BEFORE["content_review"]]
    assert list(result.path) == [
        *["Begin", *lap, "NeedInput", "CountCorrections"],
        *[*lap, "RouteReview", "SaveResult", "Notify", "Completed"],
    ]
    assert flows.states(task_id)["GenerateDraft@2"] == "done"
    (notice,) = flows.notices(task_id, "correction")
    assert any("page two is missing" in line for line in notice["lines"])


def test_a_draft_that_vanished_is_made_again_from_a_corrected_input(flows: Flows, task_id: str) -> None:
    def ask(waiting: Any) -> Decision | None:
        payloads = Payloads.open()
        for info in payloads.bucket.listing(f"drafts/{task_id}/content_review-1/GenerateDraft.md"):
            payloads.bucket.remove(info.key)
        return answers("approved")[0]

    result = flows.run("content_review", inline(task_id), answers(("NeedInput", inline(task_id, "新内容。"))), ask=ask)
    assert list(result.path[-7:]) == [
        *["PrepareMaterial", "GenerateDraft", "HumanReview", "RouteReview", "SaveResult", "Notify", "Completed"]
    ]
    assert flows.states(task_id)["SaveResult"] == "failed"
    assert flows.states(task_id)["SaveResult@2"] == "done"
    saved = Payloads.open().find(result_key(task_id))
    assert saved is not None
    assert "新内容" in Payloads.open().read(saved).decode()


@both
def test_a_reviewers_note_does_not_travel_on_once_it_is_used(flows: Flows, task_id: str, flow: str) -> None:
    long = "请说明。" * 400
    note = {"decision": "more_info", "note": long}
    result = flows.run(flow, inline(task_id), answers(note, "approved"))
    states = [event.step_name for event in result.history]
    last = len(states) - 1 - states[::-1].index("GenerateDraft")
    after = result.history[last + 1 :]
    assert any(event.step_name == "SaveResult" for event in after)
    assert not any(long in repr(dict(event.detail)) for event in after)


def test_every_forward_state_asks_for_a_corrected_input() -> None:
    flow = yaml.safe_load((ROOT / "flows/content_review.yaml").read_text(encoding="utf-8"))
    aside = {"NeedInput", "Compensate", "ManualReview", "RecordDecision"}
    for state in flow["States"]:
        if state["Type"] == "Task" and state["Name"] not in aside:
            wanted = [rule["Next"] for rule in state["Catch"] if rule["Errors"] == ["InvalidInput"]]
            assert wanted == ["NeedInput"], state["Name"]
