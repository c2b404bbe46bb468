"""The driver's loop: events into the journal and the engine, commands out to jobs, timers and callbacks.

All executions of a run, sub-flows included, share one loop in one thread, so the order of events is decided in one
place: what is due first comes first, then the answers of calls, then decisions, and only then does time pass.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from local_sim.actions import Outcome
from local_sim.clock import Clock, VirtualClock
from local_sim.engine import (
    CallbackFailed,
    CallbackSucceeded,
    Command,
    Event,
    InvokeTask,
    StartTimer,
    Status,
    TimerFired,
)
from local_sim.journal import Journal

from .decisions import Decisions
from .dispatch import Dispatcher
from .form import Form
from .live import LiveExecution, LiveTask
from .model import Ask, Decision, Waiting
from .observer import Observer

# Timers that only say how long somebody may take; with a real clock a run does not sleep just for them.
_LIMITS = ("task timeout", "execution timeout")


class Loop:
    """Drives executions until all have ended or nothing can go on without an answer from outside."""

    def __init__(
        self,
        *,
        journal: Journal,
        clock: Clock,
        dispatcher: Dispatcher,
        decisions: Decisions,
        ask: Ask | None,
        observer: Observer,
    ) -> None:
        self.journal = journal
        self.clock = clock
        self.lives: list[LiveExecution] = []
        self._dispatcher = dispatcher
        self._decisions = decisions
        self._ask = ask
        self._observer = observer
        # Making the events only for nobody to look at them would cost as much as running the flow.
        self._watched = type(observer).on_history is not Observer.on_history
        self._planned: list[tuple[int, LiveExecution, int, Decision]] = []
        self._seen: set[tuple[int, int]] = set()
        self._declined: set[tuple[int, int]] = set()
        self._late: list[Decision] = []
        self._later: deque[Callable[[], None]] = deque()
        dispatcher.connect(self)

    def add(self, live: LiveExecution) -> None:
        """Take an execution into the loop."""
        self.lives.append(live)

    def take_up(self, live: LiveExecution) -> None:
        """Carry out again what a replayed execution has outstanding."""
        if self._virtual:
            self.clock.sleep_until(live.last_ms)
        if live.ended:
            self._record_end(live)
        for task in live.unsent:
            self._dispatcher.carry_out(live, task.command)
        for command in live.engine.pending():
            if not isinstance(command, InvokeTask | StartTimer):
                self._dispatcher.carry_out(live, command)
        self._dispatcher.take_up_background(live)

    @property
    def _virtual(self) -> bool:
        return isinstance(self.clock, VirtualClock)

    def feed(self, live: LiveExecution, event: Event) -> None:
        """Make an event durable, then give it to the engine, then show and carry out what comes of it."""
        self.journal.append(live.record.id, live.events, event)
        commands = live.feed(event)
        self._show(live, commands)
        for command in commands:
            self._dispatcher.carry_out(live, command)
        if live.ended:
            self._record_end(live)
            self._dispatcher.ended(live)
        elif live.events == 1:
            self.journal.set_status(live.record.id, Status.RUNNING)

    def _record_end(self, live: LiveExecution) -> None:
        engine = live.engine
        self.journal.set_status(live.record.id, engine.status, engine.output, engine.error, engine.cause)

    def later(self, action: Callable[[], None]) -> None:
        """Do something once the event in progress is done with; an execution never gets an event inside another."""
        self._later.append(action)

    def finish_task(self, live: LiveExecution, task_id: int, outcome: Outcome) -> None:
        """Report the end of a task that no call of ours carried out."""
        self._dispatcher.finish_task(live, task_id, outcome)

    def now(self, live: LiveExecution) -> int:
        """Return the time for an execution's next event; it never goes back, whatever the machine's clock does."""
        return max(self.clock.now_ms(), live.last_ms)

    def run(self) -> None:
        """Go on until nothing can."""
        while self._later or any(not live.ended for live in self.lives) or self._dispatcher.busy:
            if not self._step():
                return

    def waiting(self) -> Iterator[tuple[LiveExecution, Waiting]]:
        """Yield the tasks that wait for a report, oldest first."""
        for live in self.lives:
            for task in [] if live.ended else live.waiting:
                yield live, self._waiting(live, task)

    @property
    def unused(self) -> tuple[Decision, ...]:
        """The decisions that were not reported to anybody."""
        return (*self._decisions.left, *(plan[3] for plan in self._planned), *self._late)

    def _step(self) -> bool:
        if self._later:
            self._later.popleft()()
            return True
        past = self._fire_due(before_now=True) or self._take_answer() or self._fire_due()
        return past or self._decide() or self._ask_somebody() or self._pass_time()

    def _fire_due(self, *, before_now: bool = False) -> bool:
        """Fire what is due first; with `before_now` only what fell due before this very millisecond (A62)."""
        now = self.clock.now_ms() - before_now
        timers = [(t.due_ms, i, t.timer_id) for i, live in enumerate(self.lives) for t in live.timers.values()]
        due = min((timer for timer in timers if timer[0] <= now), default=None)
        planned = min(self._planned, key=lambda plan: plan[0], default=None)
        if planned is not None and planned[0] <= now and (due is None or planned[0] <= due[0]):
            self._planned.remove(planned)
            self._report(planned[1], planned[2], planned[3])
            return True
        if due is None:
            return self._dispatcher.start_due(now)
        live = self.lives[due[1]]
        self.feed(live, TimerFired(self.now(live), due[2]))
        return True

    def _take_answer(self) -> bool:
        if not self._dispatcher.working:
            return False
        due = self._next_due()
        seconds = None if due is None or self._virtual else max(0.0, (due - self.clock.now_ms()) / 1000)
        answer = self._dispatcher.next_answer(seconds)
        if answer is not None:
            # Time passed while the call was made: what fell due meanwhile came first.
            while self._fire_due(before_now=True):
                pass
            answer()
        return True

    def _undecided(self) -> Iterator[tuple[LiveExecution, Waiting]]:
        for live, waiting in list(self.waiting()):
            planned = any(plan[1] is live and plan[2] == waiting.task_id for plan in self._planned)
            if not planned and _key(live, waiting) not in self._declined:
                yield live, waiting

    def _decide(self) -> bool:
        for live, waiting in self._undecided():
            if _key(live, waiting) not in self._seen:
                self._seen.add(_key(live, waiting))
                self._observer.on_waiting(waiting)
            decision = self._decisions.take(waiting)
            if decision is not None:
                self._planned.append((self._due(decision), live, waiting.task_id, decision))
                return True
        return False

    def _due(self, decision: Decision) -> int:
        if decision.at_seconds is None:
            return self.clock.now_ms() + round(decision.after_seconds * 1000)
        return max(self.clock.now_ms(), self.lives[0].record.created_ms + round(decision.at_seconds * 1000))

    def _ask_somebody(self) -> bool:
        for live, waiting in self._undecided():
            decision = self._ask(waiting) if self._ask else None
            if decision is None:
                self._declined.add(_key(live, waiting))
                continue
            while self._fire_due(before_now=True):
                pass
            self._report(live, waiting.task_id, decision)
            return True
        return False

    def _report(self, live: LiveExecution, task_id: int, decision: Decision) -> None:
        task = live.tasks.get(task_id)
        if task is None or live.ended:
            self._late.append(decision)
            return
        now = self.now(live)
        if decision.error:
            self.feed(live, CallbackFailed(now, task_id, decision.error, decision.cause))
        else:
            output = self._form(live, task).fill(decision.value)
            self.feed(live, CallbackSucceeded(now, task_id, output))

    def _pass_time(self) -> bool:
        due = self._next_due()
        if due is None or (not self._virtual and not self._somebody_works()):
            return False
        self.clock.sleep_until(due)
        return True

    def _next_due(self) -> int | None:
        dues = [timer.due_ms for live in self.lives for timer in live.timers.values()]
        dues += [plan[0] for plan in self._planned]
        background = self._dispatcher.next_due()
        return min([*dues, background] if background is not None else dues, default=None)

    def _somebody_works(self) -> bool:
        own = any(timer.purpose not in _LIMITS for live in self.lives for timer in live.timers.values())
        return own or bool(self._planned) or self._dispatcher.next_due() is not None

    def _waiting(self, live: LiveExecution, task: LiveTask) -> Waiting:
        command = task.command
        return Waiting(
            execution=live.record.name,
            state=command.path[-1],
            path=command.path,
            task_id=command.task_id,
            token=command.token or "",
            parameters=command.parameters,
            form=self._form(live, task),
            due_ms=task.due_ms,
        )

    def _form(self, live: LiveExecution, task: LiveTask) -> Form:
        return self._dispatcher.forms(live).get(task.command.path[-1], Form())

    def _show(self, live: LiveExecution, commands: list[Command]) -> None:
        history = live.engine.history
        begin, live.seen = live.seen, len(history)
        for event in history[begin:] if self._watched else ():
            self._observer.on_history(live.record.name, event)
        for command in commands:
            if isinstance(command, StartTimer) and command.purpose == "retry" and len(history) > begin:
                self._observer.on_retry(live.record.name, history[-1].step_name, command.due_ms)


def _key(live: LiveExecution, waiting: Waiting) -> tuple[int, int]:
    return live.record.id, waiting.task_id
