"""Runs a flow from start to end, or from where an earlier process left it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal, TypeAlias

from local_sim.actions import Actions
from local_sim.actions.registry import Registered, StandIn
from local_sim.clock import Clock, RealClock, VirtualClock
from local_sim.cloud import LocalCloud
from local_sim.definition.loader import load_flow
from local_sim.definition.model import Flow
from local_sim.engine import Started
from local_sim.journal import ExecutionRecord, Journal
from local_sim.project import Project
from local_sim.workers.deferred import DeferredWorker
from local_sim.workers.model import Worker

from .children import Children, execution_of
from .decisions import Decisions
from .dispatch import Dispatcher
from .errors import BadInput, FlowNotFound
from .form import callbacks
from .live import LiveExecution
from .loop import Loop
from .model import Ask, Decision, Json, RunResult
from .observer import Observer
from .preflight import preflight

WorkerKind: TypeAlias = 'Literal["in-process", "process"] | Worker'


@dataclass(frozen=True, slots=True)
class FlowSource:
    """A definition with the text and the file it came from."""

    flow: Flow
    text: str
    file: str


def run_flow(
    project: Project,
    flow: Path | str,
    input: Json,  # noqa: A002 - the API's word
    *,
    clock: Clock | None = None,
    data_dir: Path | None = None,
    cloud: LocalCloud | None = None,
    decisions: Sequence[Decision] = (),
    ask: Ask | None = None,
    observer: Observer | None = None,
    workers: WorkerKind = "in-process",
    actions: Mapping[str, Registered] | None = None,
    name: str | None = None,
    seed: str | None = None,
    stand_in: StandIn | None = None,
) -> RunResult:
    """Run a flow to its end, or to callbacks nobody answers.

    `flow` is a file, the name of one of the project's flows, or a definition's text (anything with a line break).
    `input` is a
    JSON object. `clock` is real unless given; with a VirtualClock waits cost nothing and an unanswered callback runs
    into its
    Timeout. `data_dir` keeps the journal and the local services' files; None keeps the journal in memory. A `cloud`
    given is
    used and left open, so that several runs share it. `ask` is called for a decision when nothing else can go on.
    `actions` carry out integrations that local_sim does not; `stand_in` answers calls in the place of any action, and
    handlers are then loaded at their first call only. `name` and `seed` make a run repeatable.

    Raises FlowNotFound, BadInput, BadDecision, DefinitionError, TemplateError, HandlerNotLoadable and JournalError
    before anything has run.
    """
    source = find_flow(project, flow)
    if not isinstance(input, dict):
        raise BadInput(f"must be a JSON object, not {type(input).__name__}")
    time = clock or RealClock()
    with ExitStack() as stack:
        taken = Decisions(decisions, callbacks(source.flow))
        journal = stack.enter_context(Journal(data_dir))
        watcher = observer or Observer()
        runner = _Session(stack, project, journal, time, data_dir, cloud, workers, actions, watcher, stand_in)
        if stand_in is None:
            preflight(project, runner.worker, source.text, source.file)
        loop = runner.loop(taken, ask)
        live = _new_execution(journal, source, time, name, watcher)
        loop.add(live)
        loop.feed(live, Started(live.record.created_ms, input, seed or secrets.token_hex(16)))
        return runner.finish(loop, live)


def resume_run(
    project: Project,
    execution: str = "",
    *,
    data_dir: Path,
    clock: Clock | None = None,
    cloud: LocalCloud | None = None,
    decisions: Sequence[Decision] = (),
    ask: Ask | None = None,
    observer: Observer | None = None,
    workers: WorkerKind = "in-process",
    actions: Mapping[str, Registered] | None = None,
) -> RunResult:
    """Go on with an execution of the data folder: the one named, or the newest that has not ended.

    The flow is the one it was started with, whatever the file says now. Calls whose outcome is not in the journal
    are made
    again (at-least-once). An execution that has ended is only read. Raises ExecutionNotFound and what `run_flow`
    raises.
    """
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(data_dir))
        record = journal.find(execution, unfinished=not execution)
        source = FlowSource(load_flow(record.definition, record.source), record.definition, record.source)
        time = clock or (VirtualClock(record.created_ms) if record.virtual else RealClock())
        taken = Decisions(decisions, callbacks(source.flow))
        runner = _Session(stack, project, journal, time, data_dir, cloud, workers, actions, observer or Observer())
        loop = runner.loop(taken, ask)
        live = LiveExecution(record, execution_of(record, source.flow))
        live.replay(journal.events(record.id))
        if not live.ended:
            preflight(project, runner.worker, source.text, source.file)
        left = tuple(event.step_name for event in live.engine.history if event.type == "StepExited")
        (observer or Observer()).on_resumed(record.name, left)
        _take_up_all(loop, live, project)
        return runner.finish(loop, live)


def find_flow(project: Project, flow: Path | str) -> FlowSource:
    """Return a flow by file, by name, or from its text. Raises FlowNotFound and DefinitionError."""
    if isinstance(flow, str) and "\n" in flow:
        return FlowSource(load_flow(flow), flow, "<text>")
    path = Path(flow)
    if not path.is_file():
        found = project.find_flow(str(flow))
        if found is None:
            known = sorted(file.stem for file in project.flows.glob("*.yaml"))
            raise FlowNotFound(str(flow), str(project.flows), tuple(known))
        path = found
    return read_flow(path)


def read_flow(path: Path) -> FlowSource:
    """Return the flow of a file. Raises DefinitionError with file, line and column."""
    from local_sim.definition.loader import read_file

    data = read_file(path)
    flow = load_flow(data, str(path))
    return FlowSource(flow, data.decode("utf-8-sig"), str(path))


class _Session:
    """The parts of one run, closed in the right order by the exit stack."""

    def __init__(
        self,
        stack: ExitStack,
        project: Project,
        journal: Journal,
        clock: Clock,
        data_dir: Path | None,
        cloud: LocalCloud | None,
        workers: WorkerKind,
        actions: Mapping[str, Registered] | None,
        observer: Observer,
        stand_in: StandIn | None = None,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._observer = observer
        the_cloud = cloud or stack.enter_context(LocalCloud(project, data_dir))
        self.worker = _worker(workers, the_cloud, stack)
        self._dispatcher = Dispatcher(
            Actions(project, self.worker, actions, stand_in, lambda: the_cloud.environment),
            Children(lambda name: _by_name(project, name), observer),
            observer,
        )
        stack.callback(self._dispatcher.close)

    def loop(self, decisions: Decisions, ask: Ask | None) -> Loop:
        """Return the loop of this run."""
        return Loop(
            journal=self._journal,
            clock=self._clock,
            dispatcher=self._dispatcher,
            decisions=decisions,
            ask=ask,
            observer=self._observer,
        )

    def finish(self, loop: Loop, live: LiveExecution) -> RunResult:
        """Run the loop and say how it ended."""
        loop.run()
        return result_of(live, loop, self._dispatcher)


def result_of(live: LiveExecution, loop: Loop, dispatcher: Dispatcher) -> RunResult:
    """Return what became of an execution that its loop has driven as far as it goes."""
    engine = live.engine
    history = tuple(engine.history)
    return RunResult(
        execution=live.record.name,
        status=engine.status,
        output=engine.output,
        error=engine.error,
        cause=engine.cause,
        path=tuple(event.step_name for event in history if event.type == "StepEntered"),
        history=history,
        calls=dict(dispatcher.calls),
        waiting=tuple(waiting for _, waiting in loop.waiting()),
        unused=loop.unused,
    )


def _worker(workers: WorkerKind, cloud: LocalCloud, stack: ExitStack) -> Worker:
    if not isinstance(workers, str):
        return workers

    def make() -> Worker:
        from local_sim.workers import InProcessWorker, ProcessWorker, WorkerEnvironment

        environment = WorkerEnvironment(lambda: cloud.environment)
        return ProcessWorker(environment) if workers == "process" else InProcessWorker(environment)

    worker = DeferredWorker(make, concurrent=workers == "process")
    stack.callback(worker.close)
    return worker


def _new_execution(
    journal: Journal, source: FlowSource, clock: Clock, name: str | None, observer: Observer
) -> LiveExecution:
    now = clock.now_ms()
    stamp = datetime.fromtimestamp(now / 1000, timezone.utc)
    record = journal.create(
        flow=source.flow.name,
        name=name or f"{source.flow.name}-{stamp:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}",
        source=source.file,
        definition=source.text,
        secret=secrets.token_bytes(20),
        at_ms=now,
        virtual=isinstance(clock, VirtualClock),
    )
    return LiveExecution(record, execution_of(record, source.flow, observer.trace(source.flow)))


def _take_up_all(loop: Loop, live: LiveExecution, project: Project) -> None:
    """Put an execution and its sub-flows back into the loop; children of distributed Maps come with their commands."""
    lives = [live]
    for parent in lives:
        lives.extend(
            _subflow(loop, record, project) for record in loop.journal.children(parent.record.id) if _own(record)
        )
    for one in lives:
        loop.add(one)
    for one in lives:
        if one.events:
            loop.take_up(one)


def _own(record: ExecutionRecord) -> bool:
    return record.parent_task is not None


def _subflow(loop: Loop, record: ExecutionRecord, project: Project) -> LiveExecution:
    live = LiveExecution(record, execution_of(record, load_flow(record.definition, record.source)))
    live.replay(loop.journal.events(record.id))
    return live


def _by_name(project: Project, name: str) -> tuple[Flow, str, str] | None:
    path = project.find_flow(name)
    if path is None:
        return None
    found = read_flow(path)
    return found.flow, found.file, found.text
