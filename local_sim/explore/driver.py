"""The runner's loop over a world: calls are fibers, and waits for reports and timers are boundaries."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from typing import Any

from local_sim.actions import Actions, Call, Outcome
from local_sim.clock import Clock
from local_sim.definition.model import Flow
from local_sim.engine import Command, InvokeTask, Started, StartTimer
from local_sim.journal import Journal
from local_sim.project import Project
from local_sim.runner import Decision, Observer, RunResult, Waiting
from local_sim.runner.api import FlowSource, read_flow, result_of
from local_sim.runner.children import Children, execution_of
from local_sim.runner.decisions import Decisions
from local_sim.runner.dispatch import Dispatcher
from local_sim.runner.jobs import Job, Jobs
from local_sim.runner.live import LiveExecution
from local_sim.runner.loop import Loop

from .fibers import Hub, Instance
from .functions import Functions, Task
from .model import Answer, Boundary, BoundaryKind, Json

_ANSWER_AFTER_S = 60  # how long a person takes
_EXECUTION = "explored"
_SECRET = b"explored-execution--"


class FiberJobs(Jobs[Any]):
    """Jobs as fibers. `next` never waits: the loop lets the fibers go on."""

    def __init__(self, hub: Hub, functions: Functions) -> None:
        super().__init__(concurrent=True)
        self._hub, self._functions = hub, functions
        self._caller = Instance(0, "")
        self._under_way = 0
        self._ended: deque[tuple[Any, Outcome | BaseException]] = deque()

    @property
    def busy(self) -> bool:
        """True while a call, or a worker that nobody waits for any more, has not ended."""
        return self._under_way > 0 or bool(self._ended) or self._functions.under_way > 0

    @property
    def ended(self) -> bool:
        """True when a job can be handed back."""
        return bool(self._ended)

    def add(self, job: Job[Any]) -> None:
        """Begin a job."""
        self._under_way += 1

        def work() -> None:
            try:
                self._ended.append((job.what, job.work()))
            except Exception as error:  # noqa: BLE001 - carried to the loop, which raises it
                self._ended.append((job.what, error))
            finally:
                self._under_way -= 1

        self._hub.spawn(self._caller, work)

    def next(self, seconds: float | None) -> tuple[Any, Outcome] | None:
        """Return a job that has ended, if any; raise what it raised."""
        if not self._ended:
            return None
        what, outcome = self._ended.popleft()
        if isinstance(outcome, BaseException):
            raise outcome
        return what, outcome


class FiberActions(Actions):
    """Says which state a request of the flow itself belongs to."""

    def __init__(self, project: Project, hub: Hub, functions: Functions) -> None:
        super().__init__(project, functions)
        self._hub, self._tasks = hub, functions.tasks

    def run(self, call: Call) -> Outcome:
        """Carry out a call and wait for its end."""
        if self._hub.current is not None:
            self._hub.current.task = self._tasks.get(call.request_id)
        return super().run(call)


class FiberDispatcher(Dispatcher):
    """Says which state a call belongs to, and makes a boundary of each Wait."""

    def __init__(self, project: Project, hub: Hub, functions: Functions, observer: Observer) -> None:
        children = Children(lambda name: _by_name(project, name), observer)
        super().__init__(FiberActions(project, hub, functions), children, observer)
        self._functions = functions
        self._jobs: FiberJobs = FiberJobs(hub, functions)

    @property
    def jobs(self) -> FiberJobs:
        """The calls under way."""
        return self._jobs

    def carry_out(self, live: LiveExecution, command: Command) -> None:
        """Begin what a command asks for."""
        if isinstance(command, StartTimer) and command.purpose == "wait":
            state = live.engine.history[-1].step_name
            if self._functions.choose(Boundary(0, BoundaryKind.WAIT, state)) == "version":
                self.deploy()
        super().carry_out(live, command)

    def deploy(self) -> None:
        """Deploy the other version; set by the owner of the world."""

    def _call(self, live: LiveExecution, command: InvokeTask) -> Call:
        call = super()._call(live, command)
        task = live.tasks.get(command.task_id)
        due_ms = None if task is None else task.due_ms
        self._functions.tasks[call.request_id] = Task(command.path[-1], command.attempt, due_ms, command.path)
        return call


class People:
    """What is answered at a state that waits: the answers given for it in turn, the last one again and again.

    A state without given answers gets the choices that the flow compares the report with, in turn; after those nobody
    answers.
    """

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self._given: dict[str, list[Json]] = {}
        for answer in answers:
            self._given.setdefault(answer.state, []).append(answer.value)
        self.visits: Counter[str] = Counter()

    def answer(self, waiting: Waiting) -> Decision | None:
        """Return the decision for this visit; None when nobody answers."""
        visit = self.visits[waiting.state]
        self.visits[waiting.state] += 1
        given = self._given.get(waiting.state)
        if given is not None:
            return Decision(given[min(visit, len(given) - 1)])
        choices = waiting.form.choices
        return Decision(choices[visit]) if visit < len(choices) else None

    def another(self, waiting: Waiting, decision: Decision) -> Decision:
        """Return a report that says something else, where the flow knows something else."""
        others = [choice for choice in waiting.form.choices if choice != decision.value]
        return Decision(others[0]) if others else decision


class FiberLoop(Loop):
    """Drives executions in virtual time, letting fibers go on whenever one can."""

    def __init__(
        self, hub: Hub, dispatcher: FiberDispatcher, people: People, journal: Journal, watch: Observer
    ) -> None:
        clock: Clock = hub.clock
        nobody = Decisions((), {})
        super().__init__(
            journal=journal, clock=clock, dispatcher=dispatcher, decisions=nobody, ask=None, observer=watch
        )
        self._hub, self._fibers, self._people = hub, dispatcher, people
        self._choose = dispatcher._functions.choose

    def _take_answer(self) -> bool:
        jobs = self._fibers.jobs
        if jobs.ended:
            return super()._take_answer()
        if self._hub.run(self._hub.clock.now_us):
            return True
        if not jobs.busy:
            return False
        if self._decide():
            return True
        due = self._next_due()
        return self._hub.run(None if due is None else due * 1000)

    def _decide(self) -> bool:
        for live, waiting in self._undecided():
            self._observer.on_waiting(waiting)
            self._ask_people(live, waiting)
            return True
        return False

    def _ask_people(self, live: LiveExecution, waiting: Waiting) -> None:
        decision = self._people.answer(waiting)
        fault = self._choose(Boundary(0, BoundaryKind.CALLBACK, waiting.state, due_ms=waiting.due_ms))
        if fault == "version":
            self._fibers.deploy()
        if decision is None or fault == "callback_never":
            self._declined.add((live.record.id, waiting.task_id))
            return
        due_ms = self.clock.now_ms() + _ANSWER_AFTER_S * 1000
        if fault == "callback_late" and waiting.due_ms is not None:
            due_ms = waiting.due_ms + 1000
        self._planned.append((due_ms, live, waiting.task_id, decision))
        if fault == "callback_twice":
            self._planned.append((due_ms, live, waiting.task_id, decision))
            self._planned.append((due_ms + 1000, live, waiting.task_id, self._people.another(waiting, decision)))


def drive(
    project: Project,
    source: FlowSource,
    value: Json,
    hub: Hub,
    functions: Functions,
    people: People,
    versions: Mapping[str, str],
) -> RunResult:
    """Run a flow in the world of `hub` until it has ended, or until nothing can go on."""
    watch = Observer()
    with Journal(None) as journal:
        dispatcher = FiberDispatcher(project, hub, functions, watch)
        dispatcher.deploy = lambda: functions.deploy(versions)  # type: ignore[method-assign]
        loop = FiberLoop(hub, dispatcher, people, journal, watch)
        live = _begin(journal, source, hub.clock)
        loop.add(live)
        loop.feed(live, Started(live.record.created_ms, value, "explored"))
        loop.run()
        while hub.run(None):  # what nobody waits for any more still happens
            pass
        return result_of(live, loop, dispatcher)


def _begin(journal: Journal, source: FlowSource, clock: Clock) -> LiveExecution:
    now = clock.now_ms()
    record = journal.create(
        flow=source.flow.name,
        name=_EXECUTION,
        source=source.file,
        definition=source.text,
        secret=_SECRET,
        at_ms=now,
        virtual=True,
    )
    return LiveExecution(record, execution_of(record, source.flow))


def _by_name(project: Project, name: str) -> tuple[Flow, str, str] | None:
    path = project.find_flow(name)
    if path is None:
        return None
    found = read_flow(path)
    return found.flow, found.file, found.text
