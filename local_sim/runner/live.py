"""One execution with what it has outstanding, the same whether reached live or by replaying the journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from local_sim.definition.model import TaskMode
from local_sim.engine import (
    CallbackFailed,
    CallbackSucceeded,
    CancelTask,
    CancelTimer,
    Command,
    Event,
    Execution,
    InvokeTask,
    StartTimer,
    Status,
    TaskFailed,
    TaskSubmitted,
    TaskSucceeded,
    TimerFired,
)
from local_sim.journal import ExecutionRecord


@dataclass(frozen=True, slots=True)
class LiveTask:
    """A task that is carried out or waits for its report. `due_ms` is when its Timeout ends it."""

    command: InvokeTask
    due_ms: int | None
    submitted: bool = False


@dataclass(frozen=True, slots=True)
class MapChild:
    """The place of a distributed Map's child in its parent."""

    map_run: int
    index: int


class LiveExecution:
    """An engine execution, its record, and its open tasks and timers. `place` is set for a distributed Map's child."""

    def __init__(self, record: ExecutionRecord, engine: Execution, place: MapChild | None = None) -> None:
        self.record = record
        self.engine = engine
        self.place = place
        self.events = 0
        self.seen = 0
        self.last_ms = record.created_ms
        self.tasks: dict[int, LiveTask] = {}
        self.timers: dict[int, StartTimer] = {}

    @property
    def ended(self) -> bool:
        """True when the execution has a final status."""
        return self.engine.status not in (Status.STARTING, Status.RUNNING)

    @property
    def waiting(self) -> list[LiveTask]:
        """The custom-callback tasks that wait for their report, oldest first."""
        custom = TaskMode.CUSTOM_CALLBACK
        return [task for task in self.tasks.values() if task.submitted and task.command.mode is custom]

    @property
    def unsent(self) -> list[LiveTask]:
        """The tasks whose call has no known outcome: after a restart they are carried out again (at-least-once)."""
        system = TaskMode.SYSTEM_CALLBACK
        return [task for task in self.tasks.values() if not task.submitted or task.command.mode is system]

    def replay(self, events: Sequence[Event]) -> None:
        """Bring the execution to where its events left it; what is outstanding then is for the caller to take up."""
        for event in events:
            self.feed(event)
        self.seen = len(self.engine.history)

    def feed(self, event: Event) -> list[Command]:
        """Give one event to the engine and keep the books."""
        self.events += 1
        self.last_ms = max(self.last_ms, event.at_ms)
        commands = self.engine.handle(event)
        self._answered(event)
        for command in commands:
            self._asked(command, event.at_ms)
        return commands

    def _answered(self, event: Event) -> None:
        if isinstance(event, TaskSubmitted):
            task = self.tasks.get(event.task_id)
            if task is not None:
                self.tasks[event.task_id] = LiveTask(task.command, task.due_ms, submitted=True)
        elif isinstance(event, TaskSucceeded | TaskFailed | CallbackSucceeded | CallbackFailed):
            self.tasks.pop(event.task_id, None)
        elif isinstance(event, TimerFired):
            self.timers.pop(event.timer_id, None)

    def _asked(self, command: Command, at_ms: int) -> None:
        if isinstance(command, InvokeTask):
            due_ms = None if command.timeout_ms is None else at_ms + command.timeout_ms
            self.tasks[command.task_id] = LiveTask(command, due_ms)
        elif isinstance(command, CancelTask):
            self.tasks.pop(command.task_id, None)
        elif isinstance(command, StartTimer):
            self.timers[command.timer_id] = command
        elif isinstance(command, CancelTimer):
            self.timers.pop(command.timer_id, None)
