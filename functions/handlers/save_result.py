"""SaveResult: stores the approved draft as the task's result, once."""

from __future__ import annotations

from typing import Any

from functions.compensations import remove_result
from functions.errors import ReviewRejected
from functions.models import SaveEvent
from functions.payloads import Payloads, object_key
from functions.step import Call, required, step

__all__ = ["handler", "result_key"]

MARKDOWN = "text/markdown; charset=utf-8"


def result_key(task_id: str) -> str:
    """Where the result of a task lies: one place, whatever flow made it, so that two results cannot both count."""
    return object_key("results", task_id, "result.md")


@step(
    SaveEvent,
    compensation=lambda call: remove_result(
        result_key(call.event.task.task_id), required(call.event.task.draft, "task.draft").sha256
    ),
)
def handler(call: Call[SaveEvent]) -> dict[str, Any]:
    """Answers with `task.result`. Raises `ReviewRejected` unless the decision is `approved`, `ResultConflict` when
    another result is stored."""
    event = call.event
    if event.review.decision != "approved":
        raise ReviewRejected(
            f"the review of round {event.attempt} says {event.review.decision or 'nothing'!r}, not 'approved'",
            decision=event.review.decision,
            round=event.attempt,
        )
    payloads = Payloads.open(call.settings)
    data = payloads.read(required(event.task.draft, "task.draft"))
    saved = payloads.put(result_key(event.task.task_id), data, MARKDOWN)
    return {"task": {"result": saved.model_dump()}}
