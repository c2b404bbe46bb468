"""What the engine asks its driver to do. The driver answers with events; the engine never waits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from local_sim.definition.model import TaskMode

from .events import Json, Status


@dataclass(frozen=True, slots=True)
class InvokeTask:
    """Carry out one attempt of a Task: `action` with the evaluated `parameters`.

    `path` names the state from the root, for example `("Fan", "Branch0", "Charge")`. `attempt` counts from 0. `token`
    is given in the callback modes. A driver that starts anew may carry out the same command twice (at-least-once).
    """

    task_id: int
    path: tuple[str, ...]
    action: str
    mode: TaskMode
    parameters: Json
    attempt: int
    timeout_ms: int | None = None
    token: str | None = None


@dataclass(frozen=True, slots=True)
class CancelTask:
    """The task's result is no longer wanted: a timeout, a failed sibling, a stop. Its token is closed."""

    task_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class StartTimer:
    """Send `TimerFired(timer_id)` once the clock reads `due_ms`."""

    timer_id: int
    due_ms: int
    purpose: str


@dataclass(frozen=True, slots=True)
class CancelTimer:
    """The timer is no longer wanted."""

    timer_id: int


@dataclass(frozen=True, slots=True)
class FinishExecution:
    """The execution has reached a terminal status; nothing follows."""

    status: Status
    output: Json = None
    error: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class ReadItems:
    """Read the items of a distributed Map: `reader` is the evaluated ItemReader. Answer with ItemsRead or MapIoFailed.

    At most `max_items` items are of use: MaxItems, or one more than an execution may have; None means no limit.
    """

    map_run: int
    path: tuple[str, ...]
    reader: Json
    max_items: int | None = None


@dataclass(frozen=True, slots=True)
class RunChild:
    """Run one child execution of a distributed Map: `Execution.child(command)` builds it. Answer with ChildFinished.

    `index` counts the children of the map run from 0; `name` is the child's execution name, the same at each replay.
    """

    map_run: int
    index: int
    path: tuple[str, ...]
    name: str
    input: Json


@dataclass(frozen=True, slots=True)
class CancelChild:
    """Stop a child execution; its result is no longer wanted."""

    map_run: int
    index: int
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class WriteResults:
    """Write a distributed Map's results, in input order: `writer` is the evaluated ResultWriter.

    Answer with ResultsWritten or MapIoFailed. Each result is `{"Status", "Output"}` or `{"Status", "Error", "Cause"}`.
    """

    map_run: int
    path: tuple[str, ...]
    name: str
    writer: Json
    results: list[Json]


class Reason(str, Enum):
    """Why an event changed nothing."""

    UNKNOWN = "Unknown"
    ALREADY_REPORTED = "AlreadyReported"
    TIMED_OUT = "TimedOut"
    CANCELLED = "Cancelled"
    EXECUTION_OVER = "ExecutionOver"
    NOT_STARTED = "NotStarted"
    ALREADY_STARTED = "AlreadyStarted"
    NOT_EXPECTED = "NotExpected"


@dataclass(frozen=True, slots=True)
class Ignored:
    """The event just handled changed nothing; a driver has nothing to do. Always the only command of its list.

    `same` tells a repeated report with the same content from one that contradicts the first.
    """

    reason: Reason
    task_id: int | None = None
    same: bool = False


Command: TypeAlias = (
    InvokeTask
    | CancelTask
    | StartTimer
    | CancelTimer
    | ReadItems
    | RunChild
    | CancelChild
    | WriteResults
    | FinishExecution
    | Ignored
)
