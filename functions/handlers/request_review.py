"""HumanReview: tells the reviewers and leaves the flow waiting for their decision."""

from __future__ import annotations

from typing import Any

from functions.compensations import withdraw_review
from functions.models import ReviewEvent
from functions.notices import kind_of_sender
from functions.payloads import Payloads
from functions.people import keep_token, tell, token_folder
from functions.step import Call, lap, required, step

__all__ = ["handler"]


def _keep(call: Call[ReviewEvent]) -> None:
    """At every call: a repeated call may come with a new token, and only the newest one is alive."""
    event = call.event
    keep_token(Payloads.open(call.settings), event.task.task_id, lap(event.step, event.attempt), event.token)


@step(
    ReviewEvent,
    kind=kind_of_sender,
    before=_keep,
    compensation=lambda call: withdraw_review(
        token_folder(call.event.task.task_id, lap(call.event.step, call.event.attempt))
    ),
)
def handler(call: Call[ReviewEvent]) -> dict[str, Any]:
    """Answers with the notice's receipt. The callback's Output is `{"decision": ..., "note": ..., "by": ...}`."""
    event, settings = call.event, call.settings
    task = event.task
    lines = [
        f"Task: {task.task_id}",
        f"Round: {event.attempt}",
        f"Document: {task.name}",
        f"Draft: {required(task.draft, 'task.draft').uri}",
        "Decisions: approved, rejected, more_info (with a note)",
        f"Answer: {settings.answer_hint.replace('{task_id}', task.task_id)}",
    ]
    title = f"Review wanted: {task.title or task.name}"
    receipt = tell(settings, "review_requested", task.task_id, title, lines, call.key)
    return {"receipt": receipt.as_json()}
