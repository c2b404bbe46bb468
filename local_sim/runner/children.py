"""Executions started by executions: sub-flows (FNF:StartExecution) and the children of distributed Maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from local_sim.actions import Call, CallFailed, CallSucceeded, Outcome, read_flow_start
from local_sim.definition.model import Flow, TaskMode
from local_sim.engine import (
    CancelChild,
    ChildFinished,
    Execution,
    InvokeTask,
    RunChild,
    Started,
    Status,
    StopRequested,
    TaskSubmitted,
    Trace,
)
from local_sim.journal import ExecutionNotFound, ExecutionRecord, ExecutionStored

from .live import LiveExecution, MapChild
from .observer import Observer

if TYPE_CHECKING:
    from .loop import Loop

FindFlow = Callable[[str], "tuple[Flow, str, str] | None"]
"""From a flow's name to its definition, its file and its text; None when there is none."""


class Children:
    """Starts, cancels and ends child executions. The loop drives them like any other."""

    def __init__(self, find_flow: FindFlow, observer: Observer) -> None:
        self._find_flow = find_flow
        self._observer = observer

    def connect(self, loop: Loop) -> None:
        """Name the loop that children are added to."""
        self._loop = loop

    def start_subflow(self, parent: LiveExecution, command: InvokeTask, call: Call) -> None:
        """Start the sub-flow a task asks for, or find it started already; its end is the task's in the system mode."""
        task = parent.tasks.get(command.task_id)
        if task is None or parent.ended:
            return
        outcome = self._start(parent, command, call)
        if isinstance(outcome, CallFailed) or command.mode is TaskMode.REQUEST_COMPLETE:
            self._loop.finish_task(parent, command.task_id, outcome)
        elif not task.submitted:
            self._loop.feed(parent, TaskSubmitted(self._loop.now(parent), command.task_id, outcome.output))
        for live in self._loop.lives:
            if live.ended and live.record.parent == parent.record.id and live.record.parent_task == command.task_id:
                self.ended(live)

    def _start(self, parent: LiveExecution, command: InvokeTask, call: Call) -> Outcome:
        start = read_flow_start(call, f"{parent.record.name}-{command.task_id}")
        if isinstance(start, CallFailed):
            return start
        found = self._find_flow(start.flow)
        if found is None:
            return CallFailed("FnF.FlowNotExists", f"there is no flow {start.flow!r} in this project")
        flow, source, text = found
        answer = {"FlowName": start.flow, "ExecutionName": start.name, "RequestID": call.request_id}
        journal, now = self._loop.journal, self._loop.now(parent)
        try:
            record = journal.create(
                flow=start.flow,
                name=start.name,
                source=source,
                definition=text,
                secret=parent.record.secret,
                at_ms=now,
                virtual=parent.record.virtual,
                parent=parent.record.id,
                parent_task=command.task_id,
            )
        except ExecutionStored as error:
            mine = self._mine(parent, command.task_id)
            if mine is None:
                return CallFailed("FnF.ExecutionAlreadyExists", str(error))
            record = mine
        if all(live.record.id != record.id for live in self._loop.lives):
            live = LiveExecution(record, execution_of(record, flow, self._observer.trace(flow)))
            live.replay(journal.events(record.id))
            self._enter(live, start.input)
        return CallSucceeded(answer)

    def _mine(self, parent: LiveExecution, task_id: int) -> ExecutionRecord | None:
        records = self._loop.journal.children(parent.record.id)
        return next((record for record in records if record.parent_task == task_id), None)

    def run(self, parent: LiveExecution, command: RunChild) -> None:
        """Start a distributed Map's child, or take up the one an earlier process started."""
        engine, place = parent.engine.child(command), MapChild(command.map_run, command.index)
        try:
            record = self._loop.journal.create(
                flow=parent.record.flow,
                name=command.name,
                source=parent.record.source,
                definition="",
                secret=parent.record.secret,
                at_ms=self._loop.now(parent),
                virtual=parent.record.virtual,
                parent=parent.record.id,
            )
        except ExecutionStored:
            record = self._record(parent.record, command.name)
        live = LiveExecution(record, engine, place)
        live.replay(self._loop.journal.events(record.id))
        self._enter(live, command.input)
        if live.ended:
            self.ended(live)

    def _record(self, parent: ExecutionRecord, name: str) -> ExecutionRecord:
        for record in self._loop.journal.children(parent.id):
            if record.name == name:
                return record
        raise ExecutionNotFound(name, ())

    def _enter(self, live: LiveExecution, value: object) -> None:
        """Add an execution to the loop: begin it, or take it up where its events left it."""
        self._loop.add(live)
        if live.events == 0:
            seed = f"{live.record.secret.hex()}{live.record.name}"
            self._loop.feed(live, Started(self._loop.now(live), value, seed))
        else:
            self._loop.take_up(live)

    def cancel(self, parent: LiveExecution, command: CancelChild) -> None:
        """Stop a distributed Map's child."""
        for live in list(self._loop.lives):
            if live.record.parent == parent.record.id and live.record.name == command.name and not live.ended:
                self._loop.feed(live, StopRequested(self._loop.now(live), cause=command.reason))

    def cancel_subflow(self, parent: LiveExecution, task_id: int) -> None:
        """Stop the sub-flow whose end the cancelled task was waiting for."""
        for live in list(self._loop.lives):
            mine = live.record.parent == parent.record.id and live.record.parent_task == task_id
            if mine and live.place is None and not live.ended:
                self._loop.feed(live, StopRequested(self._loop.now(live), cause="the parent's task was cancelled"))

    def ended(self, live: LiveExecution) -> None:
        """Tell the parent of an ended execution how it ended."""
        parent = next((other for other in self._loop.lives if other.record.id == live.record.parent), None)
        if parent is None or parent.ended:
            return
        engine = live.engine
        if live.place is not None:
            now = self._loop.now(parent)
            place = live.place
            self._loop.feed(
                parent,
                ChildFinished(
                    now, place.map_run, place.index, engine.status, engine.output, engine.error, engine.cause
                ),
            )
            return
        task = parent.tasks.get(live.record.parent_task or 0)
        if task is not None and task.submitted and task.command.mode is TaskMode.SYSTEM_CALLBACK:
            self._loop.finish_task(parent, task.command.task_id, outcome_of(engine))


def outcome_of(engine: Execution) -> Outcome:
    """Return what a parent's task makes of a child's end: its output, or its error and cause (R07)."""
    if engine.status is Status.SUCCEEDED:
        return CallSucceeded(engine.output)
    return CallFailed(engine.error or f"FnF.Execution{engine.status.value}", engine.cause)


def execution_of(record: ExecutionRecord, flow: Flow, trace: Trace | None = None) -> Execution:
    """Return a new engine execution for a record."""
    return Execution(flow, name=record.name, flow_name=record.flow, secret=record.secret, trace=trace)
