"""What goes into a run and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from local_sim.engine.events import Status
from local_sim.engine.history import HistoryEvent

from .form import Form

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Waiting:
    """A task that waits for a report. `due_ms` is when it times out, None for never."""

    execution: str
    state: str
    path: tuple[str, ...]
    task_id: int
    token: str
    parameters: Json
    form: Form
    due_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What is reported for a waiting task.

    `value` is the report's Output: an object, or a bare value that is put under the field the flow decides on. With
    `error`
    it is a failure report instead. `state` None means whichever fitting callback waits next. `after_seconds` is how
    long the task waits for it, by the run's clock; `at_seconds`, when given, is counted from the start of the run.
    """

    value: Json = None
    state: str | None = None
    after_seconds: float = 0
    at_seconds: float | None = None
    error: str = ""
    cause: str = ""


Ask: TypeAlias = Callable[[Waiting], Decision | None]
"""Asked for a decision when nothing else can go on; None leaves the task waiting."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended. `status` is Running when it stopped at callbacks nobody answered: `waiting` lists them.

    `path` is the names of the states entered, in order, those of branches included. `calls` counts function
    invocations of this run, by function name. `history` is the whole execution's, also when it was resumed. `unused`
    are the decisions no waiting task took, or that came after its wait was over.
    """

    execution: str
    status: Status
    output: Json
    error: str
    cause: str
    path: tuple[str, ...]
    history: tuple[HistoryEvent, ...]
    calls: Mapping[str, int] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    unused: tuple[Decision, ...] = ()

    @property
    def succeeded(self) -> bool:
        """True when the execution ended well."""
        return self.status is Status.SUCCEEDED
