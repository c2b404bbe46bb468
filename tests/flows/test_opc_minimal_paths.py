"""opc_minimal.yaml, path by path."""

from __future__ import annotations

from flow_kit import Flows, answers, inline
from loopback import Answer, Loopback

from functions.handlers.save_result import result_key
from functions.payloads import Payloads
from local_sim.engine.events import Status

MAIN = ("Begin", "ValidateInput", "GenerateDraft", "HumanReview")


def test_approved_is_saved(flows: Flows, task_id: str) -> None:
    result = flows.run("opc_minimal", inline(task_id), answers("approved"))
    assert result.path == (*MAIN, "RouteReview", "SaveResult", "Completed")
    assert result.output["outcome"] == "completed"
    assert flows.states(task_id) == dict.fromkeys([*MAIN[1:], "SaveResult"], "done")
    assert Payloads.open().find(result_key(task_id)) is not None


def test_rejected_is_undone(flows: Flows, task_id: str) -> None:
    result = flows.run("opc_minimal", inline(task_id), answers({"decision": "rejected"}))
    assert result.path == (*MAIN, "RouteReview", "Reject", "Undo", "RouteOutcome", "Rejected")
    assert (result.status, result.output["outcome"]) == (Status.SUCCEEDED, "rejected")
    assert flows.stored(task_id) == []


def test_a_note_is_answered_in_the_next_round(flows: Flows, task_id: str) -> None:
    note = {"decision": "more_info", "note": "thirty days?"}
    result = flows.run("opc_minimal", inline(task_id), answers(note, "approved"))
    lap = ("RouteReview", "DraftAgain", "GenerateDraft", "HumanReview")
    assert result.path == (*MAIN, *lap, "RouteReview", "SaveResult", "Completed")
    saved = Payloads.open().find(result_key(task_id))
    assert saved is not None
    assert "thirty days?" in Payloads.open().read(saved).decode()


def test_nobody_looks_and_it_expires(flows: Flows, task_id: str) -> None:
    result = flows.run("opc_minimal", inline(task_id))
    assert result.path == (*MAIN, "Undo", "RouteOutcome", "Expired")
    assert flows.stored(task_id) == []


def test_an_unusable_input_fails_at_once(flows: Flows, task_id: str) -> None:
    result = flows.run("opc_minimal", {"task_id": task_id})
    assert result.path == ("Begin", "ValidateInput", "Undo", "RouteOutcome", "Failed")
    assert (result.status, result.error) == (Status.FAILED, "Failed")


def test_a_busy_provider_is_asked_three_times_then_everything_is_undone(
    flows: Flows, server: Loopback, task_id: str
) -> None:
    flows.settings |= {
        "STEPKEEPER_DRAFT_PROVIDER": "openai",
        "STEPKEEPER_DRAFT_BASE_URL": server.url,
        "STEPKEEPER_DRAFT_API_KEY": "test-key",
    }
    server.answers = [Answer(503)]
    result = flows.run("opc_minimal", inline(task_id))
    assert result.path == (*MAIN[:3], "Undo", "RouteOutcome", "Failed")
    assert len(server.asked) == 3
    assert flows.stored(task_id) == []
