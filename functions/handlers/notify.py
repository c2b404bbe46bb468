"""Notify: says that the result is saved."""

from __future__ import annotations

from typing import Any

from functions.compensations import notice_sent
from functions.models import NotifyEvent
from functions.notices import kind_of_sender
from functions.people import tell
from functions.step import Call, required, step

__all__ = ["handler"]


@step(
    NotifyEvent,
    kind=kind_of_sender,
    compensation=lambda call: notice_sent("result_saved", call.settings.notice_sender),
)
def handler(call: Call[NotifyEvent]) -> dict[str, Any]:
    """Answers with the notice's receipt."""
    task = call.event.task
    result = required(task.result, "task.result")
    lines = [f"Task: {task.task_id}", f"Document: {task.name}", f"Result: {result.uri}"]
    receipt = tell(call.settings, "result_saved", task.task_id, f"Saved: {task.title or task.name}", lines, call.key)
    return {"receipt": receipt.as_json()}
