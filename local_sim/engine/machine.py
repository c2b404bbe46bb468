"""The memory of one execution: history, timers, tasks, and how it ends. What states do is elsewhere."""

from __future__ import annotations

from local_sim.definition.model import Flow
from local_sim.expression import ExecutionInfo, Scope, SeededRandom

from . import log
from .commands import CancelTask, CancelTimer, Command, FinishExecution, Reason, StartTimer
from .cursor import Cursor, Task, Timer, TimerAction
from .events import Json, Status
from .fan import Fan
from .limits import Limits
from .log import HistoryFull, Log
from .maprun import MapRun
from .reports import Report
from .trace import Trace


class Machine:
    """Everything that a replay has to bring back.

    `ready` is a stack, so that whatever begins first is followed to its end first: among things of the same instant,
    order is that of the branches (A12).
    """

    def __init__(self, flow: Flow, *, name: str, flow_name: str, role_arn: str, secret: bytes, limits: Limits) -> None:
        self.flow = flow
        self.name = name
        self.flow_name = flow_name
        self.secret = secret
        self.limits = limits
        self.is_child = False
        self.log = Log(limits.max_events)
        self.now = 0
        self.commands: list[Command] = []
        self.ready: list[Cursor | Fan] = []
        self.scope = Scope(ExecutionInfo(name, None, role_arn))
        self.role_arn = role_arn
        self.globals: dict[str, Json] = {}
        self.root: Cursor | None = None
        self.tasks: dict[int, Task] = {}
        self.timers: dict[int, Timer] = {}
        self.map_runs: dict[int, MapRun] = {}
        self.closed: dict[int, Report] = {}
        self.timers_started = 0
        self.trace: Trace | None = None
        self.status = Status.STARTING
        self.output: Json = None
        self.error = ""
        self.cause = ""

    def start(self, at: Cursor, value: Json, seed: str) -> None:
        """Make `at` the root line, with the execution's input."""
        self.root = at
        self.scope = Scope(ExecutionInfo(self.name, value, self.role_arn), random=SeededRandom(seed))
        self.status = Status.RUNNING

    def start_timer(self, due_ms: int, purpose: str, cursor: Cursor, fire: TimerAction) -> Timer:
        """Ask for a timer and remember what it is for."""
        self.timers_started += 1
        command = StartTimer(self.timers_started, due_ms, purpose)
        timer = self.timers[command.timer_id] = Timer(command, cursor, fire)
        self.commands.append(command)
        return timer

    def cancel_timer(self, timer: Timer) -> None:
        """Take a timer back."""
        del self.timers[timer.command.timer_id]
        self.commands.append(CancelTimer(timer.command.timer_id))

    def close_task(self, task: Task, report: Report) -> None:
        """Forget a task but for how it ended; its timer goes with it."""
        task_id = task.command.task_id
        del self.tasks[task_id]
        self.closed[task_id] = report
        task.cursor.waits = None
        if task.timer is not None and task.timer.command.timer_id in self.timers:
            self.cancel_timer(task.timer)

    def cancel_task(self, task: Task, reason: Reason, text: str) -> None:
        """Tell the driver that a task's result is no longer wanted."""
        self.close_task(task, Report(reason))
        self.commands.append(CancelTask(task.command.task_id, text))

    def abandon(self, cursor: Cursor, reason: Reason, text: str) -> None:
        """End a line of control and all below it, cancelling what they wait for. No recursion: nesting may be deep."""
        lines = [cursor]
        while lines:
            line = lines.pop()
            line.live = False
            waits = line.waits
            if isinstance(waits, Task):
                self.cancel_task(waits, reason, text)
            elif isinstance(waits, Timer):
                self.cancel_timer(waits)
            elif isinstance(waits, Fan):
                waits.live = False
                lines.extend(reversed(waits.children.values()))
            elif isinstance(waits, MapRun):
                self.commands.extend(waits.cancel(text, "Aborted", self.now))

    def finish(self, status: Status, kind: str, *, output: Json = None, error: str = "", cause: str = "") -> None:
        """End the execution: nothing it waits for is wanted any more, and nothing changes it afterwards (C21)."""
        if status is Status.SUCCEEDED and len(self.log) >= self.log.capacity:
            raise HistoryFull
        text = f"the execution is over: {status.value}"
        if self.root is not None and self.root.live:
            self.abandon(self.root, Reason.EXECUTION_OVER, text)
        for timer in list(self.timers.values()):
            self.cancel_timer(timer)
        self.ready.clear()
        self.status, self.output, self.error, self.cause = status, output, error, cause
        payload = output if status is Status.SUCCEEDED else {"error": error, "cause": cause}
        self.log.close("", kind, self.now, payload)
        self.commands.append(FinishExecution(status, output, error, cause))

    def fail(self, error: str, cause: str) -> None:
        """End the execution as Failed."""
        self.finish(Status.FAILED, log.EXECUTION_FAILED, error=error, cause=cause)
