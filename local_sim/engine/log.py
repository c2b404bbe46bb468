"""Where an execution's history is kept while it runs: one flat list, five places an event.

A flat list of what already exists costs 40 bytes an event and gives the garbage collector nothing to walk; the readable
`HistoryEvent` is made when somebody looks (`history.py`).
"""

from __future__ import annotations

import sys
from typing import Final

from .events import Json


class _Nothing:
    __slots__ = ()


NOTHING: Final = _Nothing()
"""The payload of an event whose detail is empty."""


class Detail(dict[str, Json]):
    """A payload that is the event's whole detail already."""

    __slots__ = ()


STRIDE: Final = 5
"""Places of one event in the flat list: cause id, step name, type, time in ms, payload."""

EXECUTION_STARTED: Final = "ExecutionStarted"
EXECUTION_STOPPED: Final = "ExecutionStopped"
EXECUTION_SUCCEEDED: Final = "ExecutionSucceeded"
EXECUTION_FAILED: Final = "ExecutionFailed"
EXECUTION_TIMED_OUT: Final = "ExecutionTimedOut"
STEP_ENTERED: Final = "StepEntered"
STEP_STARTED: Final = "StepStarted"
STEP_SUCCEEDED: Final = "StepSucceeded"
STEP_FAILED: Final = "StepFailed"
STEP_EXITED: Final = "StepExited"
BRANCH_ENTERED: Final = "BranchEntered"
BRANCH_EXITED: Final = "BranchExited"
ITERATION_ENTERED: Final = "IterationEntered"
ITERATION_EXITED: Final = "IterationExited"
TASK_SCHEDULED: Final = "TaskScheduled"
TASK_STARTED: Final = "TaskStarted"
TASK_SUBMITTED: Final = "TaskSubmitted"
TASK_SUBMIT_FAILED: Final = "TaskSubmitFailed"
TASK_SUCCEEDED: Final = "TaskSucceeded"
TASK_FAILED: Final = "TaskFailed"
TASK_TIMED_OUT: Final = "TaskTimedOut"
MAP_RUN_STARTED: Final = "MapRunStarted"


class HistoryFull(Exception):
    """The event allowance is used up (A35)."""


class Log:
    """The growing history. Event ids count from 1; the newest event's id is the number of events."""

    __slots__ = ("capacity", "flat")

    def __init__(self, capacity: int | None) -> None:
        self.flat: list[Json] = []
        self.capacity = sys.maxsize if capacity is None else capacity

    def __len__(self) -> int:
        return len(self.flat) // STRIDE

    def add(self, cause: int, step: str, kind: str, now: int, payload: Json) -> int:
        """Append an event and return its id. Raises HistoryFull instead of exceeding the capacity."""
        flat = self.flat
        number = len(flat) // STRIDE + 1
        if number > self.capacity:
            raise HistoryFull
        flat += (cause, step, kind, now, payload)
        return number

    def close(self, step: str, kind: str, now: int, payload: Json) -> None:
        """Append the closing event, which always has room. What went over the capacity is dropped first."""
        del self.flat[min(self.capacity, len(self)) * STRIDE :]
        self.flat += (len(self), step, kind, now, payload)
