"""HumanReview: opens the round, tells the reviewers and leaves the flow waiting for their decision."""

from __future__ import annotations

from typing import Any

from functions.clock import now_ms
from functions.compensations import end_review
from functions.errors import InvalidInput
from functions.models import PayloadRef, ReviewEvent
from functions.notices import kind_of_sender
from functions.payloads import Payloads
from functions.people import tell
from functions.review import Desk, Review, ReviewId, Seat
from functions.review.messages import request_lines
from functions.settings import Settings
from functions.step import Call, lap, required, step
from ledger import Compensation

__all__ = ["handler"]


def _open(call: Call[ReviewEvent]) -> None:
    """At every call: a repeated call may come with a new token, and only the newest one is alive."""
    draft = call.event.task.draft
    if draft is None:
        return  # the body says so, under the step's claim
    if Payloads.open(call.settings).find(draft.key) is None:
        raise InvalidInput(f"{draft.uri} does not exist", path="task.draft", reason="missing")
    Desk.open(call.settings).open_round(_round(call.event, draft, call.settings), call.event.token)


def _round(event: ReviewEvent, draft: PayloadRef, settings: Settings) -> Review:
    task, now = event.task, now_ms()
    return Review(
        task_id=task.task_id,
        workflow=task.versions.workflow,
        step=lap(event.step, event.attempt),
        round=event.attempt,
        flow=event.flow,
        execution=event.execution,
        name=task.name,
        title=task.title or "",
        document=task.document,
        material=task.material,
        draft=draft,
        approvals=event.approvals,
        seats=_seats(event, settings),
        opened_ms=now,
        expires_ms=now + event.expires_in * 1000,
    )


def _seats(event: ReviewEvent, settings: Settings) -> tuple[Seat, ...]:
    """A seat for each named reviewer, and as many more without a name as approvals are wanted."""
    known = [name.strip() for name in settings.review_reviewers.split(",") if name.strip()]
    names = event.reviewers or known
    missing = max(event.approvals, 1) - len(names)
    return tuple(Seat(number=number, name=name) for number, name in enumerate([*names, *[""] * missing], start=1))


def _compensation(call: Call[ReviewEvent]) -> Compensation:
    event = call.event
    return end_review(event.task.versions.workflow, lap(event.step, event.attempt))


@step(ReviewEvent, kind=kind_of_sender, before=_open, compensation=_compensation)
def handler(call: Call[ReviewEvent]) -> dict[str, Any]:
    """Answers with the notice's receipt. The callback's Output is `{"decision": ..., "note": ..., "by": ...}`."""
    task, settings = call.event.task, call.settings
    required(task.draft, "task.draft")
    where = ReviewId(task.task_id, task.versions.workflow, lap(call.event.step, call.event.attempt))
    review = Desk.open(settings).reviews.find(where).review
    lines = request_lines(settings, review, review.seats)
    title = f"Review wanted: {task.title or task.name}"
    receipt = tell(settings, "review_requested", task.task_id, title, lines, call.key)
    return {"receipt": receipt.as_json()}
