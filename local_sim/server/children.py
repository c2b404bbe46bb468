"""Executions started by executions: sub-flows (FNF:StartExecution) and the children of distributed Maps."""

from __future__ import annotations

import json
from collections.abc import Callable

from local_sim.actions import Call, CallFailed, CallSucceeded, Outcome, read_flow_start
from local_sim.definition.model import TaskMode
from local_sim.engine import CancelChild, ChildFinished, InvokeTask, RunChild, StopRequested
from local_sim.journal.served import ServedRecord
from local_sim.runner.live import MapChild
from local_sim.services.cloudflow import CloudFlowError, FlowActions, Order
from local_sim.services.cloudflow.records import EXPRESS

from .definitions import distributed_map
from .hub import Hub
from .live import ServedLive
from .starts import Parent, Starter


class Children:
    """Starts and cancels child executions, and tells a distributed Map of their ends."""

    def __init__(self, hub: Hub, starter: Starter, flows: FlowActions, now_ms: Callable[[], int]) -> None:
        self._hub = hub
        self._starter = starter
        self._flows = flows
        self._now_ms = now_ms
        self._subflows: dict[tuple[int, int], tuple[str, str]] = {}

    async def start_subflow(self, live: ServedLive, command: InvokeTask, call: Call) -> Outcome:
        """Start the sub-flow a task asks for; with the system callback its end is reported by the task's token."""
        start = read_flow_start(call, f"{live.record.name[:100]}-{command.task_id}")
        if isinstance(start, CallFailed):
            return start
        try:
            order = self._order(start.flow, start.name, start.input, command)
            served = await self._starter.start(order, self._now_ms(), Parent(live.id, command.task_id))
        except CloudFlowError as error:
            return CallFailed(f"FnF.{error.code}", error.message)
        self._subflows[live.id, command.task_id] = (served.flow_id, served.execution.name)
        return CallSucceeded({"FlowName": start.flow, "ExecutionName": start.name, "RequestID": call.request_id})

    def cancel_subflow(self, live: ServedLive, task_id: int) -> None:
        """Stop the sub-flow whose end a cancelled task was waiting for (S17)."""
        key = self._subflows.pop((live.id, task_id), None)
        child = self._hub.live(*key) if key else None
        if child is not None and child.served.callback_token and not child.ended:
            cause = "the task that waited for this execution was cancelled"
            self._hub.post(child, StopRequested(self._hub.now(child), cause=cause))

    def run(self, live: ServedLive, command: RunChild) -> None:
        """Start a distributed Map's child, or take up the one an earlier process started."""
        place = MapChild(command.map_run, command.index)
        child = self._hub.live(live.served.flow_id, command.name)
        if child is not None:
            child.place = place
            return
        known = self._hub.reader.find_served(live.served.flow_id, command.name)
        if known is not None:
            self._finished(live, place, known)
            return
        state = distributed_map(live.engine.flow, command.path)
        express = state.distributed is not None and state.distributed.execution_mode == EXPRESS
        map_run = command.name.rpartition("-")[0]
        self._starter.start_child(live, command.name, command.input, map_run, command.path, place, express)

    def cancel(self, live: ServedLive, command: CancelChild) -> None:
        """Stop a distributed Map's child."""
        child = self._hub.live(live.served.flow_id, command.name)
        if child is not None and not child.ended:
            self._hub.post(child, StopRequested(self._hub.now(child), cause=command.reason))

    def ended(self, child: ServedLive) -> None:
        """Tell a distributed Map that one of its children has ended."""
        parent = self._hub.lives.get(child.record.parent or 0)
        if child.place is None or parent is None or parent.ended:
            return
        engine, place, now = child.engine, child.place, self._hub.now(parent)
        event = ChildFinished(now, place.map_run, place.index, engine.status, engine.output, engine.error, engine.cause)
        self._hub.post(parent, event)

    def _finished(self, live: ServedLive, place: MapChild, known: ServedRecord) -> None:
        record, now = known.execution, self._hub.now(live)
        event = ChildFinished(now, place.map_run, place.index, record.status, record.output, record.error, record.cause)
        self._hub.post(live, event)

    def _order(self, flow_name: str, name: str, value: object, command: InvokeTask) -> Order:
        flow = self._flows.find(flow_name)
        definition, environment, version = self._flows.resolve(flow, None)
        token = command.token if command.mode is TaskMode.SYSTEM_CALLBACK else None
        return Order(
            flow=flow,
            definition=definition,
            environment=environment,
            name=name,
            input=json.dumps(value, ensure_ascii=False),
            version=version,
            callback_token=token or "",
        )
