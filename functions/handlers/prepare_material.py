"""PrepareMaterial: takes the text out of the document."""

from __future__ import annotations

from typing import Any

from functions.compensations import remove_objects
from functions.errors import at_path
from functions.material import Limits, extract
from functions.models import MaterialEvent
from functions.payloads import Payloads
from functions.step import Call, step, step_key

__all__ = ["handler"]


@step(
    MaterialEvent,
    compensation=lambda call: remove_objects(
        step_key("material", call.event, ".txt"), step_key("notes", call.event, ".txt")
    ),
)
def handler(call: Call[MaterialEvent]) -> dict[str, Any]:
    """Answers with `task.material` and, on a lap with a reviewer's note, `task.note`. Raises `InvalidInput` naming the
    reason when the document is encrypted, empty, broken, too large or not what its name says."""
    event = call.event
    payloads = Payloads.open(call.settings)
    with at_path("task.document"):
        data = payloads.read(event.task.document)
        text = extract(event.task.name, data, Limits.of(call.settings)).text
    material = payloads.keep(step_key("material", event, ".txt"), text.encode()).ref
    note = event.review.note.strip()
    packed = payloads.pack(note, step_key("notes", event, ".txt")).model_dump() if note else None
    return {"task": {"material": material.model_dump(), "note": packed}}
