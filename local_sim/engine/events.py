"""What happens to an execution from outside. The journal stores exactly these; replaying them rebuilds the execution.

Times are milliseconds since the epoch, UTC. A task is known by `task_id`, the id of its TaskScheduled history event; a
timer by the id its StartTimer command gave.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A JSON value: None, bool, int of any size, float, str, list or dict with str keys."""


class Status(str, Enum):
    """Status of an execution, as DescribeExecution spells it."""

    STARTING = "Starting"
    RUNNING = "Running"
    STOPPED = "Stopped"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    TIMED_OUT = "TimedOut"


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


@dataclass(frozen=True, slots=True)
class ItemsRead:
    """The answer to ReadItems: the items of a distributed Map, in order."""

    at_ms: int
    map_run: int
    items: list[Json]


@dataclass(frozen=True, slots=True)
class ResultsWritten:
    """The answer to WriteResults: `output` is an object that says where the results are; the Map's `$Output`."""

    at_ms: int
    map_run: int
    output: Json


@dataclass(frozen=True, slots=True)
class MapIoFailed:
    """ReadItems or WriteResults could not be carried out. Retry and Catch of the Map match `error`."""

    at_ms: int
    map_run: int
    error: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class ChildFinished:
    """A child execution of a distributed Map has ended. `index` is the one RunChild gave."""

    at_ms: int
    map_run: int
    index: int
    status: Status
    output: Json = None
    error: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class MapRunUpdated:
    """UpdateMapRun: what is None stays as it is."""

    at_ms: int
    map_run: int
    concurrency: int | None = None
    tolerated_failed_count: int | None = None
    tolerated_failed_percentage: float | None = None


Event: TypeAlias = (
    Started
    | TaskSubmitted
    | TaskSucceeded
    | TaskFailed
    | CallbackSucceeded
    | CallbackFailed
    | TimerFired
    | StopRequested
    | ItemsRead
    | ResultsWritten
    | MapIoFailed
    | ChildFinished
    | MapRunUpdated
)
