"""Carries out the engine's commands: calls, asynchronous invocations, sub-flows, children of distributed Maps."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from local_sim.actions import Actions, Call, CallFailed, CallSucceeded, Outcome, read_invocation
from local_sim.actions.function import Invocation
from local_sim.actions.map_io import map_call, map_event
from local_sim.actions.registry import FUNCTION
from local_sim.actions.subflow import ACTION as START_FLOW
from local_sim.definition.model import TaskMode
from local_sim.engine import (
    CancelChild,
    CancelTask,
    Command,
    Event,
    InvokeTask,
    ReadItems,
    RunChild,
    TaskFailed,
    TaskSubmitted,
    TaskSucceeded,
    WriteResults,
)
from local_sim.journal import BackgroundCall

from .background import BackgroundJob
from .form import Form, callbacks
from .jobs import Job, Jobs
from .live import LiveExecution
from .observer import Observer

if TYPE_CHECKING:
    from .children import Children
    from .loop import Loop


class Dispatcher:
    """Knows what is being carried out. The loop hands it commands and asks it for answers."""

    def __init__(self, actions: Actions, children: Children, observer: Observer) -> None:
        self.calls: Counter[str] = Counter()
        self._actions = actions
        self._children = children
        self._observer = observer
        self._jobs: Jobs[Callable[[Outcome], None]] = Jobs(concurrent=actions.worker.concurrent)
        self._background: list[BackgroundJob] = []
        self._delayed: list[tuple[int, Callable[[], None]]] = []
        self._forms: dict[int, Mapping[str, Form]] = {}

    def connect(self, loop: Loop) -> None:
        """Name the loop that events go to."""
        self._loop = loop
        self._children.connect(loop)

    def close(self) -> None:
        """Stop waiting for calls in progress."""
        self._jobs.close()

    @property
    def working(self) -> bool:
        """True while a call is in progress or queued."""
        return self._jobs.busy

    @property
    def busy(self) -> bool:
        """True while a call or an asynchronous invocation has not ended."""
        return self._jobs.busy or bool(self._background) or self.next_due() is not None

    def forms(self, live: LiveExecution) -> Mapping[str, Form]:
        """Return the forms of an execution's callbacks, by state name."""
        key = id(live.engine.flow)
        if key not in self._forms:
            self._forms[key] = callbacks(live.engine.flow)
        return self._forms[key]

    def carry_out(self, live: LiveExecution, command: Command) -> None:
        """Begin what a command asks for; timers are the loop's own."""
        if isinstance(command, InvokeTask):
            self._task(live, command)
        elif isinstance(command, CancelTask):
            self._loop.later(partial(self._children.cancel_subflow, live, command.task_id))
        elif isinstance(command, RunChild):
            self._loop.later(partial(self._children.run, live, command))
        elif isinstance(command, CancelChild):
            self._loop.later(partial(self._children.cancel, live, command))
        elif isinstance(command, ReadItems | WriteResults):
            self._map_io(live, command)

    def ended(self, live: LiveExecution) -> None:
        """Tell the parent of an execution that has ended."""
        self._loop.later(partial(self._children.ended, live))

    def next_answer(self, seconds: float | None) -> Callable[[], None] | None:
        """Return what to do about the next call that ends, waiting at most `seconds`; None when none did."""
        answer = self._jobs.next(seconds)
        if answer is None:
            return None
        then, outcome = answer
        if outcome.after_seconds == 0:
            return lambda: then(outcome)
        return partial(self._delay, outcome, lambda: then(outcome))

    def _delay(self, outcome: Outcome, action: Callable[[], None]) -> None:
        if outcome.after_seconds is not None:
            self._delayed.append((self._loop.clock.now_ms() + round(outcome.after_seconds * 1000), action))

    def next_due(self) -> int | None:
        """Return when the next asynchronous invocation starts or delayed call ends, None when none is planned."""
        dues = [job.due_ms for job in self._background] + [due for due, _ in self._delayed]
        return min(dues, default=None)

    def start_due(self, now_ms: int) -> bool:
        """Start the asynchronous invocations and end the delayed calls that are due; true when there was one."""
        ending = min((call for call in self._delayed if call[0] <= now_ms), key=lambda call: call[0], default=None)
        if ending is not None:
            self._delayed.remove(ending)
            ending[1]()
            return True
        due = [job for job in self._background if job.due_ms <= now_ms]
        for job in due:
            self._background.remove(job)
            self._invoke(job.invocation, job.call.request_id, partial(self._after, job))
        return bool(due)

    def take_up_background(self, live: LiveExecution) -> None:
        """Plan again the asynchronous invocations an earlier process left behind."""
        for call in self._loop.journal.background(live.record.id):
            function = self._actions.project.function(call.function)
            invocation = Invocation(function, call.event, asynchronous=True)
            self._background.append(BackgroundJob(live, call, invocation, self._loop.clock.now_ms()))

    def _task(self, live: LiveExecution, command: InvokeTask) -> None:
        call = self._call(live, command)
        answer = self._actions.stand_in(call)
        if answer is not None:
            self._add(lambda: answer, lambda outcome: self._answer(live, command, outcome))
        elif self._actions.overrides(call.action):
            self._add(lambda: self._actions.run(call), lambda outcome: self._answer(live, command, outcome))
        elif call.action == START_FLOW:
            self._loop.later(partial(self._children.start_subflow, live, command, call))
        elif call.action == FUNCTION:
            self._function(live, command, call)
        else:
            self._add(lambda: self._actions.run(call), lambda outcome: self._answer(live, command, outcome))

    def _function(self, live: LiveExecution, command: InvokeTask, call: Call) -> None:
        invocation = read_invocation(self._actions.project, call.parameters)
        if isinstance(invocation, CallFailed):
            self._add(lambda: invocation, lambda outcome: self._answer(live, command, outcome))
        elif invocation.asynchronous:
            self._asynchronous(live, command, call, invocation)
        else:
            self._invoke(invocation, call.request_id, lambda outcome: self._answer(live, command, outcome))

    def _asynchronous(self, live: LiveExecution, command: InvokeTask, call: Call, invocation: Invocation) -> None:
        accepted = BackgroundCall(call.request_id, live.record.id, invocation.function.name, invocation.event)
        system = command.mode is TaskMode.SYSTEM_CALLBACK
        task_id = command.task_id if system else None
        if not system:
            # With the system callback the task itself stays open and is carried out again after a restart.
            self._loop.journal.add_background(accepted)
        self._background.append(BackgroundJob(live, accepted, invocation, self._loop.clock.now_ms(), task_id))
        submitted = CallSucceeded({"RequestId": call.request_id})
        if system and live.tasks[command.task_id].submitted:
            return
        self._add(lambda: submitted, lambda outcome: self._accepted(live, command, outcome))

    def _accepted(self, live: LiveExecution, command: InvokeTask, outcome: Outcome) -> None:
        if command.mode is TaskMode.SYSTEM_CALLBACK and isinstance(outcome, CallSucceeded):
            self.send(live, command.task_id, TaskSubmitted(self._loop.now(live), command.task_id, outcome.output))
        else:
            self._answer(live, command, outcome)

    def _after(self, job: BackgroundJob, outcome: Outcome) -> None:
        again = job.after(outcome, self._loop.clock.now_ms())
        if again is not None:
            self._background.append(again)
            return
        self._loop.journal.end_background(job.call.request_id)
        if job.task_id is not None:
            self.finish_task(job.live, job.task_id, outcome)

    def _answer(self, live: LiveExecution, command: InvokeTask, outcome: Outcome) -> None:
        """A call returned: that ends a RequestComplete task, and submits a task of a callback mode."""
        now = self._loop.now(live)
        if isinstance(outcome, CallSucceeded) and command.mode is TaskMode.CUSTOM_CALLBACK:
            self.send(live, command.task_id, TaskSubmitted(now, command.task_id, outcome.output))
            return
        task = live.tasks.get(command.task_id)
        if command.mode is TaskMode.SYSTEM_CALLBACK and task is not None and not task.submitted:
            output = outcome.output if isinstance(outcome, CallSucceeded) else None
            if isinstance(outcome, CallSucceeded):
                self.send(live, command.task_id, TaskSubmitted(now, command.task_id, output))
        self.finish_task(live, command.task_id, outcome)

    def finish_task(self, live: LiveExecution, task_id: int, outcome: Outcome) -> None:
        """Report a task's end to its execution."""
        now = self._loop.now(live)
        event: Event
        if isinstance(outcome, CallSucceeded):
            event = TaskSucceeded(now, task_id, outcome.output)
        else:
            event = TaskFailed(now, task_id, outcome.error, outcome.cause)
        self.send(live, task_id, event)

    def send(self, live: LiveExecution, task_id: int, event: Event) -> None:
        """Feed a task's event, unless the task has timed out or was cancelled meanwhile."""
        if task_id in live.tasks and not live.ended:
            self._loop.feed(live, event)

    def _invoke(self, invocation: Invocation, request_id: str, then: Callable[[Outcome], None]) -> None:
        name = invocation.function.name
        self.calls[name] += 1

        def answered(outcome: Outcome) -> None:
            if outcome.logs:
                self._observer.on_logs(name, outcome.logs)
            then(outcome)

        self._add(lambda: self._actions.invoke(invocation, request_id), answered)

    def _add(self, work: Callable[[], Outcome], then: Callable[[Outcome], None]) -> None:
        self._jobs.add(Job(then, work))

    def _call(self, live: LiveExecution, command: InvokeTask) -> Call:
        return Call(
            execution=live.record.name,
            path=command.path,
            action=command.action,
            mode=command.mode,
            parameters=command.parameters,
            request_id=request_id(live, command, self._loop.now(live)),
            attempt=command.attempt,
            token=command.token,
        )

    def _map_io(self, live: LiveExecution, command: ReadItems | WriteResults) -> None:
        call = map_call(live.record.name, command)

        def then(outcome: Outcome) -> None:
            if not live.ended:
                self._loop.feed(live, map_event(command, outcome, self._loop.now(live)))

        answer = self._actions.stand_in(call)
        self._add(lambda: self._actions.run(call) if answer is None else answer, then)


def request_id(live: LiveExecution, command: InvokeTask, at_ms: int) -> str:
    """Return a request id of FC's form, `1-<8 hex of the second>-<24 hex>`; the tail tells attempts apart."""
    text = f"{live.record.flow}#{live.record.name}#{command.task_id}#{at_ms}".encode()
    tail = hashlib.sha256(live.record.secret + text).hexdigest()[:24]
    return f"1-{at_ms // 1000:08x}-{tail}"
