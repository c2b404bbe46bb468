"""NeedInput: says what is wrong with the input and leaves the flow waiting for a corrected one."""

from __future__ import annotations

from typing import Any

from functions.models import CorrectionEvent
from functions.notices import kind_of_sender
from functions.payloads import Payloads
from functions.people import hint, keep_token, readable, tell
from functions.step import Call, lap, step

__all__ = ["handler"]


def _keep(call: Call[CorrectionEvent]) -> None:
    event = call.event
    keep_token(Payloads.open(call.settings), event.task_id, lap(event.step, event.attempt), event.token)


@step(
    CorrectionEvent,
    kind=kind_of_sender,
    before=_keep,
    task_of=lambda call: (call.event.task_id, call.event.workflow),
    compared=lambda call: {"code": call.event.error.code},
)
def handler(call: Call[CorrectionEvent]) -> dict[str, Any]:
    """Answers with the notice's receipt. The callback's Output is the whole corrected input of the flow."""
    event, settings = call.event, call.settings
    problem = readable(event.error)
    lines = [
        f"Task: {event.task_id}",
        f"Execution: {event.execution}",
        f"Problem: {problem['message']}",
        f"Answer with the corrected input: {hint(settings, event.task_id, 'answer')}",
    ]
    receipt = tell(settings, "correction_needed", event.task_id, "The input cannot be used", lines, call.key)
    return {"receipt": receipt.as_json()}
