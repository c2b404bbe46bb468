"""AcceptOrder: checks the order, and pins the versions of the task."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from functions.orders.models import AcceptEvent, Order
from functions.pinning import pin
from functions.step import Call, step

__all__ = ["handler"]


@step(
    AcceptEvent,
    task_of=lambda call: (call.event.task.task_id, call.event.workflow),
    compared=lambda call: call.event.task.model_dump(mode="json"),
)
def handler(call: Call[AcceptEvent]) -> dict[str, Any]:
    """Answers `{"task": Order}`. Raises `InvalidInput` for an order that cannot be read, `ResultConflict` for another
    order under the same number, and `VersionMismatch` for one that was begun with other versions."""
    event = call.event
    given = event.task.model_dump(mode="json")
    input_version = hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()
    pins = pin(call.settings, event.task.task_id, event.workflow, input_version, event.attempt)
    return {"task": Order(**given, versions=pins).model_dump(mode="json")}
