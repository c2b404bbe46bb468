"""How a finished task ended, so that a second report can be answered (A31, C40, C41)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from .commands import Ignored, Reason
from .events import CallbackFailed, CallbackSucceeded, Json, TaskFailed, TaskSucceeded


@dataclass(frozen=True, slots=True)
class Report:
    """Why a task no longer takes reports, and what the report that ended it said."""

    reason: Reason
    content: tuple[Json, ...] | None = None

    def answer(self, task_id: int, content: tuple[Json, ...] | None) -> Ignored:
        """Return the answer to a further report on the task."""
        return Ignored(self.reason, task_id, same=content is not None and _same(content, self.content))


def _same(content: tuple[Json, ...], first: tuple[Json, ...] | None) -> bool:
    # As text, because Python holds 1 and True for equal; what cannot be written is like nothing.
    try:
        return json.dumps(content, sort_keys=True) == json.dumps(first, sort_keys=True)
    except (RecursionError, TypeError, ValueError):
        return False


def content_of(event: object) -> tuple[Json, ...] | None:
    """Return what a report says, whichever way it came: success and output, or failure, error and cause."""
    if isinstance(event, TaskSucceeded | CallbackSucceeded):
        return (True, event.output)
    if isinstance(event, TaskFailed | CallbackFailed):
        return (False, event.error, event.cause)
    return None
