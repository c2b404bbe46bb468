"""What the engine asks its driver to do. The driver answers with events; the engine never waits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from local_sim.definition.model import TaskMode

from .events import Json


class Status(str, Enum):
    """Status of an execution, as DescribeExecution spells it."""

    STARTING = "Starting"
    RUNNING = "Running"
    STOPPED = "Stopped"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    TIMED_OUT = "TimedOut"


@dataclass(frozen=True, slots=True)
class InvokeTask:
    """Carry out one attempt of a Task: `action` with the evaluated `parameters`.

    `path` names the state from the root, for example `("Fan", "Branch0", "Charge")`. `attempt` counts from 0. `token` is
    given in the callback modes. A driver that starts anew may carry out the same command twice (at-least-once).
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
    """The task's result is no longer wanted: it timed out, a sibling failed, or the execution was stopped. Its token is closed."""

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


Command: TypeAlias = InvokeTask | CancelTask | StartTimer | CancelTimer | FinishExecution
