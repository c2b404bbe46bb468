"""What the engine's tests share: flows from short YAML, and a driver under virtual time.

    run = simulate("- {Type: Pass, Name: a, End: true}", input={"n": 1})
    run.status, run.output, run.visited()

Outcomes of a task are given by its state's name: one outcome for all attempts, a list with one an attempt (the last
repeats), or a function of the InvokeTask command. An outcome is the result itself, a `Fail`, or either inside
`After(seconds, ...)`; `NEVER` leaves the call open; `Reported(outcome)` accepts the call and reports later through the
callback.
"""

from __future__ import annotations

import heapq
import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from local_sim.definition import load_flow
from local_sim.definition.model import Flow
from local_sim.engine import (
    CallbackFailed,
    CallbackSucceeded,
    CancelChild,
    CancelTask,
    CancelTimer,
    ChildFinished,
    Command,
    Event,
    Execution,
    FinishExecution,
    Ignored,
    InvokeTask,
    ItemsRead,
    Limits,
    MapIoFailed,
    ReadItems,
    ResultsWritten,
    RunChild,
    Started,
    StartTimer,
    Status,
    StopRequested,
    TaskFailed,
    TaskSubmitted,
    TaskSucceeded,
    TimerFired,
    WriteResults,
)

SECRET = b"test"


@dataclass(frozen=True)
class Fail:
    error: str
    cause: str = ""


@dataclass(frozen=True)
class After:
    seconds: float
    outcome: Any


@dataclass(frozen=True)
class Reported:
    outcome: Any


NEVER = object()


def body(value: Any) -> dict[str, Any]:
    """Return what FC:InvokeFunction makes of a handler's value (A02)."""
    return {"Body": value}


def indent(text: str, spaces: int = 2) -> str:
    lines = text.strip("\n").splitlines()
    strip = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(" " * spaces + line[strip:] for line in lines)


def flow_of(states: str, *, start: str | None = None, head: str = "", name: str = "flow") -> Flow:
    """Return a flow from its States list; it starts at the first state listed unless told otherwise."""
    first = start or states.split("Name:", 1)[1].split(",")[0].split("}")[0].split("\n")[0].strip()
    text = f"Type: StateMachine\nSpecVersion: v1\nName: {name}\nStartAt: {first}\n{head}\nStates:\n{indent(states)}\n"
    return load_flow(text)


def task(name: str, extra: str = "", *, next_state: str | None = None) -> str:
    """Return a Task state of the usual kind in YAML's flow style."""
    onward = f"Next: {next_state}" if next_state else "End: true"
    parameters = "Parameters: {resourceArn: 'acs:fc:::functions/f', invocationType: Sync}"
    more = f", {extra}" if extra else ""
    return f"- {{Type: Task, Name: {name}, Action: 'FC:InvokeFunction', {parameters}, {onward}{more}}}\n"


@dataclass
class Run:
    """What a simulation leaves behind."""

    execution: Execution
    events: list[Event] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    replies: list[list[Command]] = field(default_factory=list)
    children: dict[tuple[int, int], Run] = field(default_factory=dict)
    at_ms: int = 0
    peak: int = 0

    @property
    def status(self) -> str:
        return self.execution.status.value

    @property
    def output(self) -> Any:
        return self.execution.output

    @property
    def error(self) -> str:
        return self.execution.error

    @property
    def cause(self) -> str:
        return self.execution.cause

    def calls(self, name: str | None = None) -> list[InvokeTask]:
        found = [command for command in self.commands if isinstance(command, InvokeTask)]
        return [command for command in found if name is None or command.path[-1] == name]

    def visited(self) -> list[str]:
        return [event.step_name for event in self.execution.history if event.type == "StepEntered"]

    def types(self) -> list[str]:
        return self.execution.history.types()

    def details(self, kind: str) -> list[Mapping[str, Any]]:
        return [event.detail for event in self.execution.history if event.type == kind]

    def of(self, kind: type[Any]) -> list[Any]:
        return [command for command in self.commands if isinstance(command, kind)]

    def waits_s(self) -> list[float]:
        """Return the delays of the retries, in seconds."""
        pairs = zip(self.events, self.replies, strict=True)
        return [
            (command.due_ms - event.at_ms) / 1000
            for event, commands in pairs
            for command in commands
            if isinstance(command, StartTimer) and command.purpose == "retry"
        ]


class Simulator:
    """Drives one execution under virtual time; ties go as A62 says."""

    def __init__(
        self,
        flow: Flow | str,
        *,
        input: Any = None,  # noqa: A002
        tasks: Mapping[str, Any] | None = None,
        items: Any = None,
        written: Any = None,
        limits: Limits | None = None,
        execution: Execution | None = None,
        start_ms: int = 0,
    ) -> None:
        made = flow_of(flow) if isinstance(flow, str) else flow
        self.tasks = dict(tasks or {})
        self.items = items
        self.written = written
        self.run = Run(
            execution or Execution(made, name="run", secret=SECRET, limits=limits or Limits()), at_ms=start_ms
        )
        self.queue: list[tuple[int, int, int, int, Event]] = []
        self.order = itertools.count()
        self.dropped: set[tuple[str, int]] = set()
        self.in_flight: set[int] = set()
        self.start_ms = start_ms
        self.input = {} if input is None and execution is None else input

    def push(self, event: Event, rank: int = 0, key: int = 0) -> None:
        heapq.heappush(self.queue, (event.at_ms, rank, key, next(self.order), event))

    def start(self) -> None:
        self.deliver(Started(self.start_ms, self.input, "seed"))

    def finish(self, until_ms: int | None = None) -> Run:
        while self.queue and (until_ms is None or self.queue[0][0] <= until_ms):
            self.deliver(heapq.heappop(self.queue)[-1])
            if self.run.execution.status not in (Status.STARTING, Status.RUNNING):
                break
        return self.run

    def deliver(self, event: Event) -> list[Command]:
        if isinstance(event, TimerFired) and ("timer", event.timer_id) in self.dropped:
            return []
        self.run.at_ms = event.at_ms
        self.run.events.append(event)
        if isinstance(event, TaskSucceeded | TaskFailed | CallbackSucceeded | CallbackFailed):
            self.in_flight.discard(event.task_id)
        commands = self.run.execution.handle(event)
        self.run.replies.append(commands)
        self.run.commands.extend(commands)
        for command in commands:
            self.carry_out(command)
        self.run.peak = max(self.run.peak, len(self.in_flight))
        return commands

    def carry_out(self, command: Command) -> None:
        now = self.run.at_ms
        if isinstance(command, InvokeTask):
            self.in_flight.add(command.task_id)
            self.invoke(command, now)
        elif isinstance(command, CancelTask):
            self.in_flight.discard(command.task_id)
        elif isinstance(command, StartTimer):
            self.push(TimerFired(command.due_ms, command.timer_id), 1, command.timer_id)
        elif isinstance(command, CancelTimer):
            self.dropped.add(("timer", command.timer_id))
        elif isinstance(command, ReadItems):
            self.push(_answer(self.items, command.map_run, now, ItemsRead))
        elif isinstance(command, WriteResults):
            self.push(_answer(self.written, command.map_run, now, ResultsWritten))
        elif isinstance(command, RunChild):
            self.run_child(command, now)
        else:
            assert isinstance(command, FinishExecution | CancelChild | Ignored)

    def run_child(self, command: RunChild, now: int) -> None:
        child = Simulator(
            self.run.execution.flow,
            execution=self.run.execution.child(command),
            input=command.input,
            tasks=self.tasks,
            start_ms=now,
        )
        child.start()
        run = self.run.children[command.map_run, command.index] = child.finish()
        end = ChildFinished(
            run.at_ms, command.map_run, command.index, run.execution.status, run.output, run.error, run.cause
        )
        self.push(end, 0, command.index)

    def invoke(self, command: InvokeTask, now: int) -> None:
        outcome = self.tasks.get(command.path[-1], body(None))
        if isinstance(outcome, list):
            outcome = outcome[min(command.attempt, len(outcome) - 1)]
        if callable(outcome):
            outcome = outcome(command)
        self.settle(command, now, outcome)

    def settle(self, command: InvokeTask, now: int, outcome: Any) -> None:
        if outcome is NEVER:
            return
        if isinstance(outcome, After):
            self.settle(command, now + round(outcome.seconds * 1000), outcome.outcome)
        elif isinstance(outcome, Reported):
            self.push(TaskSubmitted(self.run.at_ms, command.task_id, body("accepted")), 0, command.task_id)
            self.report(command, now, outcome.outcome)
        elif isinstance(outcome, Fail):
            self.push(TaskFailed(now, command.task_id, outcome.error, outcome.cause), 0, command.task_id)
        else:
            self.push(TaskSucceeded(now, command.task_id, outcome), 0, command.task_id)

    def report(self, command: InvokeTask, now: int, outcome: Any) -> None:
        if outcome is NEVER:
            return
        if isinstance(outcome, After):
            self.report(command, now + round(outcome.seconds * 1000), outcome.outcome)
        elif isinstance(outcome, Fail):
            self.push(CallbackFailed(now, command.task_id, outcome.error, outcome.cause), 0, command.task_id)
        else:
            self.push(CallbackSucceeded(now, command.task_id, outcome), 0, command.task_id)

    def stop(self, at_ms: int, error: str = "", cause: str = "") -> None:
        self.push(StopRequested(at_ms, error, cause))


def _answer(outcome: Any, map_run: int, now: int, kind: Callable[..., Event]) -> Event:
    if isinstance(outcome, Fail):
        return MapIoFailed(now, map_run, outcome.error, outcome.cause)
    return kind(now, map_run, outcome)


def simulate(flow: Flow | str, **options: Any) -> Run:
    """Run a flow to its end, or until nothing more happens by itself."""
    simulator = Simulator(flow, **options)
    simulator.start()
    return simulator.finish()


@dataclass(frozen=True)
class Row:
    """One line of a conformance table. `source` is a page's key (language page, section 14) or an assumption's id.

    Expected is `output`, or `error` with a part of its cause; `visited` and `calls` are checked when given.
    """

    source: str
    name: str
    states: str
    output: Any = None
    error: str = ""
    cause: str = ""
    input: Any = None
    tasks: Mapping[str, Any] = field(default_factory=dict)
    visited: str | None = None
    calls: int | None = None
    limits: Limits | None = None
    head: str = ""

    def __str__(self) -> str:
        return f"{self.source}: {self.name}"

    def check(self) -> Run:
        """Run the row and assert what it expects."""
        flow = flow_of(self.states, head=self.head)
        run = simulate(flow, input=self.input, tasks=self.tasks, limits=self.limits)
        if self.error:
            assert (run.status, run.error) == ("Failed", self.error), run.cause
            assert self.cause in run.cause
        else:
            assert run.status == "Succeeded", (run.error, run.cause)
            assert json.dumps(run.output) == json.dumps(self.output)
        if self.visited is not None:
            assert " ".join(run.visited()) == self.visited
        if self.calls is not None:
            assert len(run.calls()) == self.calls
        return run


def rows(*table: Row) -> pytest.MarkDecorator:
    """Parametrize a test over a table."""
    return pytest.mark.parametrize("row", table, ids=str)
