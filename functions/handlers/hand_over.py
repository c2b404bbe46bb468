"""ManualReview: stores what is known of the failure, tells a person, and leaves the flow waiting for a decision.

This state is the last resort, so it has to work when little else does: a notice that cannot be sent is written down
instead of failing the hand-over, and a repeated notice is better than none (assumption K05).
"""

from __future__ import annotations

import json
from typing import Any

from functions.errors import StepkeeperError, describe
from functions.models import HandOverEvent
from functions.payloads import Payloads, object_key
from functions.people import hint, keep_token, readable, tell
from functions.step import Call, lap, step

__all__ = ["handler"]


def _keep(call: Call[HandOverEvent]) -> None:
    event = call.event
    keep_token(Payloads.open(call.settings), event.task_id, lap(event.step, event.attempt), event.token)


@step(
    HandOverEvent,
    before=_keep,
    task_of=lambda call: (call.event.task_id, call.event.workflow),
    compared=lambda call: {"failed_step": call.event.failed_step, "code": call.event.error.code},
)
def handler(call: Call[HandOverEvent]) -> dict[str, Any]:
    """Answers with the reference of the stored error context and what became of the notice. The callback's Output is an
    `Answer`: `{"decision": "retry" | "compensate" | "abandon", "applied": ..., "by": ..., "reason": ...}`."""
    event = call.event
    problem = readable(event.error)
    context = {
        "task_id": event.task_id,
        "execution": event.execution,
        "failed_step": lap(event.failed_step, event.failed_attempt),
        "error": problem,
    }
    key = object_key("handovers", event.task_id, f"{event.workflow}/{lap(event.step, event.attempt)}.json")
    data = json.dumps(context, ensure_ascii=False, indent=1).encode()
    stored = Payloads.open(call.settings).keep(key, data, "application/json").ref
    return {"context": stored.model_dump(), "error": problem, "notice": _tell(call, problem)}


def _tell(call: Call[HandOverEvent], problem: dict[str, str]) -> dict[str, Any]:
    event, settings = call.event, call.settings
    lines = [
        f"Task: {event.task_id}",
        f"Execution: {event.execution}",
        f"Failed step: {lap(event.failed_step, event.failed_attempt)}",
        f"Error: {problem['code']}: {problem['message']}",
        "Decisions: retry, compensate, abandon (say applied true or false for an uncertain step)",
        f"Answer: {hint(settings, event.task_id, 'answer')}",
    ]
    title = f"A task stands still: {event.task_id}"
    try:
        return tell(settings, "handed_over", event.task_id, title, lines, call.key).as_json()
    except StepkeeperError as error:
        return {"failed": describe(error)}
