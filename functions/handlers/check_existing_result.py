"""CheckExistingResult: compares the draft with what is stored under the task's key. Reads only, so asking again looks
again.
"""

from __future__ import annotations

from typing import Any

from functions.handlers.save_result import result_key
from functions.models import CheckEvent
from functions.payloads import Payloads
from functions.step import Call, reading, required

__all__ = ["handler"]


@reading(CheckEvent)
def handler(call: Call[CheckEvent]) -> dict[str, Any]:
    """Answers `verdict`: `same` (it counts as saved, `task.result` is set), `different` or `absent`; and `detail` for
    people.
    """
    task = call.event.task
    draft = required(task.draft, "task.draft")
    found = Payloads.open(call.settings).find(result_key(task.task_id))
    if found is None:
        return {"verdict": "absent", "detail": "nothing is stored under the task's key", "task": {"result": None}}
    if found.sha256 == draft.sha256:
        return {"verdict": "same", "detail": "the stored result is this draft", "task": {"result": found.model_dump()}}
    detail = f"{found.uri} holds another result: SHA-256 {found.sha256[:12]}..., the draft has {draft.sha256[:12]}..."
    return {"verdict": "different", "detail": detail, "task": {"result": None}}
