"""One execution of a flow: events in, commands and history out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from local_sim.definition.model import Flow

from . import distributed, log, tasks
from .commands import Command, Ignored, Reason, RunChild
from .cursor import Cursor
from .drive import drive
from .evaluation import check_size
from .events import (
    CallbackFailed,
    CallbackSucceeded,
    ChildFinished,
    Event,
    ItemsRead,
    Json,
    MapIoFailed,
    MapRunUpdated,
    ResultsWritten,
    Started,
    Status,
    StopRequested,
    TaskFailed,
    TaskSubmitted,
    TaskSucceeded,
    TimerFired,
)
from .fan import Fan
from .faults import EXECUTION_TIMEOUT, HISTORY_LIMIT, INPUT_SIZE, RUNTIME_ERROR, StateFailure
from .history import History
from .limits import Limits
from .log import HistoryFull
from .machine import Machine
from .maprun import MapRunInfo
from .trace import Trace


@dataclass(frozen=True, slots=True)
class WaitingTask:
    """A task whose report is awaited. `due_ms` is when its timeout strikes; None: it has no timeout (C42)."""

    task_id: int
    path: tuple[str, ...]
    token: str
    due_ms: int | None
    submitted: bool


class Execution:
    """An execution as its driver sees it. Same events in, same history and commands out.

    `name` is the execution's name, `flow_name` the name the flow was created under (default: the definition's own),
    `secret` signs the callback tokens, `limits` are the published ones unless given, `trace` counts what was gone
    through, `child` says that it runs one item of a distributed Map. Nothing here does I/O, reads a clock or draws a
    random number. Values handed in and out are shared, never copied: do not change them in place.
    """

    def __init__(
        self,
        flow: Flow,
        *,
        name: str,
        flow_name: str | None = None,
        role_arn: str = "",
        secret: bytes,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        trace: Trace | None = None,
        child: bool = False,
    ) -> None:
        called = flow.name if flow_name is None else flow_name
        self._run = Machine(flow, name=name, flow_name=called, role_arn=role_arn, secret=secret, limits=limits)
        self._run.trace = trace
        self._run.is_child = child  # its input is an item, which may be anything (A19)
        self._history = History(self._run.log)

    def handle(self, event: Event) -> list[Command]:
        """Take one event and return what to do now, in order; an event that changes nothing gives one `Ignored`.

        Never raises for what a flow or a report does. Among events of the same instant a driver hands in the one with
        the lowest task id first (A62).
        """
        run = self._run
        if refused := self._out_of_turn(event):
            return [refused]
        run.commands = []
        run.now = event.at_ms
        try:
            ignored = _HANDLERS[type(event)](run, event)
            if ignored is not None:
                return [ignored]
            drive(run)
        except HistoryFull:
            self._overflow()
        return run.commands

    @property
    def name(self) -> str:
        """The execution's name."""
        return self._run.name

    @property
    def flow(self) -> Flow:
        """The definition it runs."""
        return self._run.flow

    @property
    def status(self) -> Status:
        """Starting, Running, or one of the four final ones."""
        return self._run.status

    @property
    def output(self) -> Json:
        """The output, once Succeeded; else None."""
        return self._run.output

    @property
    def error(self) -> str:
        """The error name, once Failed, TimedOut or Stopped with one; else empty."""
        return self._run.error

    @property
    def cause(self) -> str:
        """The text that belongs to `error`."""
        return self._run.cause

    @property
    def history(self) -> History:
        """The history events so far, a live view."""
        return self._history

    @property
    def waiting(self) -> tuple[WaitingTask, ...]:
        """The tasks of a callback mode whose report is awaited, oldest first."""
        return tuple(
            WaitingTask(
                task_id,
                task.command.path,
                task.command.token,
                task.timer.command.due_ms if task.timer else None,
                task.submitted,
            )
            for task_id, task in self._run.tasks.items()
            if task.command.token is not None
        )

    @property
    def current_states(self) -> tuple[tuple[str, ...], ...]:
        """The paths of the states in progress, in branch order; empty before the start and after the end."""
        found: list[tuple[str, ...]] = []
        lines = [] if self._run.root is None or not self._run.root.live else [self._run.root]
        while lines:
            line = lines.pop()
            if isinstance(line.waits, Fan):
                lines.extend(reversed(line.waits.children.values()))
            else:
                found.append(line.path())
        return tuple(found)

    @property
    def map_runs(self) -> tuple[MapRunInfo, ...]:
        """The map runs of distributed Maps, oldest first, finished ones too."""
        return tuple(map_run.info() for map_run in self._run.map_runs.values())

    def pending(self) -> list[Command]:
        """Return the commands whose answer is still awaited: what a driver carries out again after a replay.

        A task that was submitted is not among them: only its report is missing.
        """
        run = self._run
        commands: list[Command] = [task.command for task in run.tasks.values() if not task.submitted]
        commands.extend(timer.command for timer in run.timers.values())
        for map_run in run.map_runs.values():
            commands.extend(map_run.in_flight.values())
            if map_run.open_io is not None:
                commands.append(map_run.open_io)
        return commands

    def child(self, command: RunChild) -> Execution:
        """Return the execution that a RunChild command asks for; `Started(command.input)` begins it.

        Its flow is the Map's processor; an Express map run gives it the limits of an Express flow. It cannot see this
        execution's `$Global` (GLOB).
        """
        run = self._run
        map_run = run.map_runs[command.map_run]
        flow = Flow(name=run.flow.name, root=map_run.state.processor, source=run.flow.source)
        limits = run.limits.express() if map_run.config.execution_mode == "Express" else run.limits
        return Execution(
            flow,
            name=command.name,
            flow_name=run.flow_name,
            role_arn=run.role_arn,
            secret=run.secret,
            limits=limits,
            trace=run.trace,
            child=True,
        )

    def _out_of_turn(self, event: Event) -> Ignored | None:
        """Refuse what comes before the start, after the end, or twice (C21)."""
        status = self._run.status
        task_id = getattr(event, "task_id", None)
        if status is Status.STARTING:
            return None if isinstance(event, Started | StopRequested) else Ignored(Reason.NOT_STARTED, task_id)
        if status is Status.RUNNING:
            return Ignored(Reason.ALREADY_STARTED) if isinstance(event, Started) else None
        if task_id in self._run.closed:
            return tasks.refuse(self._run, cast(tasks.TaskReport, event))
        return Ignored(Reason.EXECUTION_OVER, task_id)

    def _overflow(self) -> None:
        limit = self._run.limits.max_events
        most = ", ".join(f"{name} {count} times" for name, count in self._history.counts().most_common(3))
        self._run.fail(HISTORY_LIMIT, f"more than {limit} history events; states entered most: {most}")


def _on_started(run: Machine, event: Started) -> None:
    limit = run.limits.max_seconds if run.flow.timeout is None else run.flow.timeout
    cause = run.log.add(0, "", log.EXECUTION_STARTED, run.now, event.input)
    cursor = Cursor(run.flow.root, event.input, cause)
    run.start(cursor, event.input, event.seed)
    if type(event.input) is not dict and not run.is_child:  # an item is handed on as it is (A19)
        run.fail(RUNTIME_ERROR, "the execution's input must be an object")
        return
    try:
        check_size(run, event.input, "the execution's input", INPUT_SIZE)
    except StateFailure as failure:
        run.fail(failure.error, failure.cause)
        return
    run.start_timer(run.now + round(limit * 1000), "execution timeout", cursor, _on_execution_timeout)
    run.ready.append(cursor)


def _on_execution_timeout(run: Machine, cursor: Cursor) -> None:
    limit = run.limits.max_seconds if run.flow.timeout is None else run.flow.timeout
    cause = f"not finished within {limit:g} s"
    waiting = [f"{'/'.join(t.command.path)} (token {t.command.token})" for t in run.tasks.values() if t.command.token]
    if waiting:
        cause = f"{cause}; no report came for {', '.join(waiting)}"
    run.finish(Status.TIMED_OUT, log.EXECUTION_TIMED_OUT, error=EXECUTION_TIMEOUT, cause=cause)


def _on_timer(run: Machine, event: TimerFired) -> Ignored | None:
    timer = run.timers.pop(event.timer_id, None)
    if timer is None:
        known = 0 < event.timer_id <= run.timers_started
        return Ignored(Reason.CANCELLED if known else Reason.UNKNOWN)
    timer.fire(run, timer.cursor)
    return None


def _on_stop(run: Machine, event: StopRequested) -> None:
    run.finish(Status.STOPPED, log.EXECUTION_STOPPED, error=event.error, cause=event.cause)


_HANDLERS: Mapping[type[object], Callable[[Machine, Any], Ignored | None]] = {
    Started: _on_started,
    TaskSubmitted: tasks.on_submitted,
    TaskSucceeded: tasks.on_succeeded,
    CallbackSucceeded: tasks.on_succeeded,
    TaskFailed: tasks.on_failed,
    CallbackFailed: tasks.on_failed,
    TimerFired: _on_timer,
    StopRequested: _on_stop,
    ItemsRead: distributed.on_items_read,
    ResultsWritten: distributed.on_results_written,
    MapIoFailed: distributed.on_io_failed,
    ChildFinished: distributed.on_child_finished,
    MapRunUpdated: distributed.on_updated,
}
