"""What happens to an execution from outside. The journal stores exactly these; replaying them rebuilds the execution.

Times are milliseconds since the epoch, UTC. A task is known by `task_id`, the id of its TaskScheduled history event; a timer by
the id its StartTimer command gave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A JSON value: None, bool, int of any size, float, str, list or dict with str keys."""


@dataclass(frozen=True, slots=True)
class Started:
    """The execution begins. `seed` feeds `uuid()` and `randomInt()`, so a replay draws the same values."""

    at_ms: int
    input: Json
    seed: str


@dataclass(frozen=True, slots=True)
class TaskSubmitted:
    """The call of a task in a callback mode was accepted; the task now waits for its report."""

    at_ms: int
    task_id: int
    output: Json = None


@dataclass(frozen=True, slots=True)
class TaskSucceeded:
    """A RequestComplete task's call returned. `output` is the integration's result as `$Output` sees it (A02)."""

    at_ms: int
    task_id: int
    output: Json


@dataclass(frozen=True, slots=True)
class TaskFailed:
    """A task's call failed under the name that Retry and Catch match; `cause` is the error's text (A06)."""

    at_ms: int
    task_id: int
    error: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class CallbackSucceeded:
    """ReportTaskSucceeded for a waiting task, after its token was verified."""

    at_ms: int
    task_id: int
    output: Json


@dataclass(frozen=True, slots=True)
class CallbackFailed:
    """ReportTaskFailed for a waiting task, after its token was verified."""

    at_ms: int
    task_id: int
    error: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class TimerFired:
    """A timer of the engine is due. A timer that was cancelled meanwhile is ignored."""

    at_ms: int
    timer_id: int


@dataclass(frozen=True, slots=True)
class StopRequested:
    """StopExecution."""

    at_ms: int
    error: str = ""
    cause: str = ""


Event: TypeAlias = (
    Started | TaskSubmitted | TaskSucceeded | TaskFailed | CallbackSucceeded | CallbackFailed | TimerFired | StopRequested
)
