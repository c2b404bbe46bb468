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
        same = content is not None and self.content is not None and _text(content) == _text(self.content)
        return Ignored(self.reason, task_id, same=same)


def _text(content: tuple[Json, ...]) -> str:
    # As text, because Python holds 1 and True for equal.
    return json.dumps(content, sort_keys=True)


def content_of(event: object) -> tuple[Json, ...] | None:
    """Return what a report says, whichever way it came: success and output, or failure, error and cause."""
    if isinstance(event, TaskSucceeded | CallbackSucceeded):
        return (True, event.output)
    if isinstance(event, TaskFailed | CallbackFailed):
        return (False, event.error, event.cause)
    return None
