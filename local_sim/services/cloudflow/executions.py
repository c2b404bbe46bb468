"""The actions on executions. What runs them is behind the `Executions` protocol; the server implements it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from local_sim.services.timestamps import format_ms

from . import paging
from . import requests as r
from .errors import (
    ActionNotSupported,
    Conflict,
    EntityTooLarge,
    InvalidArgument,
    NotExists,
    execution_not_exists,
)
from .flows import FlowActions, Surroundings
from .limits import PAYLOAD_BYTES, WAIT_SECONDS
from .parameters import NAME, Environment, load_json
from .records import EXPRESS, FlowRecord
from .replies import Reply, environment_reply, page_reply

STATUSES = ("Starting", "Running", "Stopped", "Succeeded", "Failed", "TimedOut")
RUNNING = ("Starting", "Running")
_END = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What starts an execution. `input` is JSON text of an object; `version` is empty for the present definition."""

    flow: FlowRecord
    definition: str
    environment: Environment
    name: str
    input: str
    version: str = ""
    qualifier: str = ""
    callback_token: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionView:
    """An execution as it is now. `sequence` rises with each start; `stopped_ms` is None while it runs."""

    sequence: int
    flow_id: str
    flow_name: str
    name: str
    definition: str
    input: str
    output: str
    status: str
    started_ms: int
    stopped_ms: int | None
    error: str
    cause: str
    role_arn: str
    environment: Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A page of ListExecutions: newest first, `below` is the sequence to go on under."""

    flow_id: str
    below: int
    limit: int
    status: str | None = None
    started_begin_ms: int | None = None
    started_end_ms: int | None = None
    name_prefix: str | None = None
    qualifier: str | None = None
    map_run_name: str | None = None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One history event; `detail` is JSON text."""

    event_id: int
    schedule_event_id: int
    step_name: str
    type: str
    time_ms: int
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MapRunView:
    """How far a distributed Map is."""

    name: str
    execution_name: str
    status: str
    concurrency: int
    tolerated_failed_count: int
    tolerated_failed_percentage: float
    pending: int
    running: int
    succeeded: int
    failed: int
    aborted: int
    total: int
    started_ms: int
    stopped_ms: int | None


class Executions(Protocol):
    """Runs executions durably. What it acknowledges is on the disk."""

    async def start(self, order: Order) -> ExecutionView:
        """Start; a running execution of the same name is returned instead. Raises Conflict when it has ended (A30)."""
        ...

    def find(self, flow_id: str, name: str) -> ExecutionView | None:
        """Return an execution."""
        ...

    async def wait(self, flow_id: str, name: str, seconds: float) -> ExecutionView | None:
        """Return the execution once it has ended, or as it is after `seconds`."""
        ...

    async def page(self, query: Query) -> list[ExecutionView]:
        """Return a page of executions."""
        ...

    def history(self, flow_id: str, name: str, after: int, limit: int) -> list[HistoryEntry]:
        """Return up to `limit` events with ids above `after`."""
        ...

    async def stop(self, flow_id: str, name: str, error: str, cause: str) -> ExecutionView | None:
        """End a running execution. None when it has ended already."""
        ...

    async def succeed(self, token: str, output: Any) -> int:
        """Take a report; returns the event's id. Raises InvalidArgument or Conflict TaskAlreadyCompleted (A31)."""
        ...

    async def fail(self, token: str, error: str, cause: str) -> int:
        """Take a report of a failure; see `succeed`."""
        ...

    def map_run(self, flow_id: str, name: str, map_run_name: str) -> MapRunView | None:
        """Return a map run of an execution."""
        ...

    async def update_map_run(
        self,
        flow_id: str,
        name: str,
        map_run_name: str,
        concurrency: int | None,
        failed_count: int | None,
        failed_percentage: float | None,
    ) -> MapRunView | None:
        """Change the limits of a map run; None when there is none."""
        ...


class ExecutionActions:
    """Answers the actions on executions, reports and map runs."""

    def __init__(self, flows: FlowActions, surroundings: Surroundings, executions: Executions) -> None:
        self._flows = flows
        self._outside = surroundings
        self._executions = executions

    async def start(self, call: r.StartExecution) -> Reply:
        """Start a standard flow. The status in the reply is as the engine has it (S07)."""
        flow = self._flows.find(call.flow_name)
        if flow.execution_mode == EXPRESS:
            raise ActionNotSupported(f"Flow '{flow.name}' is an express flow: use StartSyncExecution.")
        name = call.execution_name or self._outside.new_id()
        order = self._order(flow, name, call.input, call.qualifier, call.callback_token or "")
        return _start_reply(await self._executions.start(order))

    async def start_sync(self, call: r.StartSyncExecution) -> Reply:
        """Run an express flow to its end; a flow's failure is a success with ErrorCode filled."""
        flow = self._flows.find(call.flow_name)
        if flow.execution_mode != EXPRESS:
            raise ActionNotSupported(f"Flow '{flow.name}' is a standard flow: use StartExecution.")
        unique = self._outside.new_id()
        name = f"{call.execution_name}:{unique}" if call.execution_name else unique
        order = self._order(flow, name, call.input, call.qualifier, "")
        view = await self._executions.start(order)
        while view.stopped_ms is None:
            waited = await self._executions.wait(flow.id, name, WAIT_SECONDS)
            if waited is None:  # the flow was deleted meanwhile
                raise execution_not_exists(name, flow.name)
            view = waited
        return _sync_reply(view)

    async def describe(self, call: r.DescribeExecution) -> Reply:
        """Show an execution, after waiting for its end when asked to."""
        view = self._find(call.flow_name, call.execution_name)
        if call.wait_seconds and view.stopped_ms is None:
            waited = await self._executions.wait(view.flow_id, view.name, call.wait_seconds)
            if waited is None:
                raise execution_not_exists(call.execution_name, call.flow_name)
            view = waited
        return {**_start_reply(view), "Environment": environment_reply(view.environment)}

    async def list_executions(self, call: r.ListExecutions) -> Reply:
        """List executions, newest first (S08)."""
        flow = self._flows.find(call.flow_name)
        if call.status and call.status not in STATUSES:
            raise InvalidArgument(f"Status '{call.status}' is not one of {', '.join(STATUSES)}.", "Status")
        if call.name_prefix and not NAME.fullmatch(call.name_prefix):
            raise InvalidArgument("Parameter 'ExecutionNamePrefix' begins no name.", "ExecutionNamePrefix")
        (below,) = paging.read_token(call.next_token, int) or (_END,)
        query = Query(
            flow_id=flow.id,
            below=max(min(below, _END), 0),
            limit=call.limit + 1,
            status=call.status or None,
            started_begin_ms=call.started_begin_ms,
            started_end_ms=call.started_end_ms,
            name_prefix=call.name_prefix or None,
            qualifier=call.qualifier or None,
            map_run_name=call.map_run_name or None,
        )
        found = await self._executions.page(query)
        page, token = paging.cut_page(found, call.limit, lambda view: (view.sequence,))
        return page_reply("Executions", [_listed(view, call.metadata_only) for view in page], token)

    def history(self, call: r.GetExecutionHistory) -> Reply:
        """List the events by id."""
        view = self._find(call.flow_name, call.execution_name)
        (after,) = paging.read_token(call.next_token, int) or (0,)
        found = self._executions.history(view.flow_id, view.name, max(after, 0), call.limit + 1)
        page, token = paging.cut_page(found, call.limit, lambda entry: (entry.event_id,))
        return page_reply("Events", [_event_reply(entry) for entry in page], token)

    async def stop(self, call: r.StopExecution) -> Reply:
        """End a running execution; raises Conflict ExecutionAlreadyCompleted."""
        view = self._find(call.flow_name, call.execution_name)
        stopped = None
        if view.stopped_ms is None:
            stopped = await self._executions.stop(view.flow_id, view.name, call.error or "", call.cause or "")
        if stopped is None:
            text = f"Execution '{view.name}' in flow '{view.flow_name}' has already completed."
            raise Conflict("ExecutionAlreadyCompleted", text, status=400)
        return {**_start_reply(stopped), "RoleArn": stopped.role_arn}

    async def succeed(self, call: r.ReportTaskSucceeded) -> Reply:
        """End a waiting task well. The report is on the disk before the reply (C46)."""
        return {"EventId": await self._executions.succeed(call.task_token, load_json("Output", call.output))}

    async def fail(self, call: r.ReportTaskFailed) -> Reply:
        """End a waiting task with an error."""
        return {"EventId": await self._executions.fail(call.task_token, call.error, call.cause or "")}

    def describe_map_run(self, call: r.DescribeMapRun) -> Reply:
        """Show how far a distributed Map is."""
        view = self._find(call.flow_name, call.execution_name)
        found = self._executions.map_run(view.flow_id, view.name, call.map_run_name)
        if found is None:
            raise _map_run_not_exists(call.map_run_name, call.execution_name)
        return _map_run_reply(found)

    async def update_map_run(self, call: r.UpdateMapRun) -> Reply:
        """Change the limits of a running distributed Map."""
        view = self._find(call.flow_name, call.execution_name)
        found = await self._executions.update_map_run(
            view.flow_id,
            view.name,
            call.map_run_name,
            call.concurrency,
            call.tolerated_failed_count,
            call.tolerated_failed_percentage,
        )
        if found is None:
            raise _map_run_not_exists(call.map_run_name, call.execution_name)
        return {
            "FlowName": view.flow_name,
            "ExecutionName": view.name,
            "MapRunName": found.name,
            "Concurrency": found.concurrency,
            "ToleratedFailedCount": found.tolerated_failed_count,
            "ToleratedFailedPercentage": found.tolerated_failed_percentage,
        }

    def _find(self, flow_name: str, name: str) -> ExecutionView:
        flow = self._flows.find(flow_name)
        view = self._executions.find(flow.id, name)
        if view is None:
            raise execution_not_exists(name, flow_name)
        return view

    def _order(
        self, flow: FlowRecord, name: str, given: str | None, qualifier: str | None, callback_token: str
    ) -> Order:
        definition, environment, version = self._flows.resolve(flow, qualifier)
        text = given or "{}"
        if len(text.encode()) > PAYLOAD_BYTES:
            raise EntityTooLarge("Input", len(text.encode()), PAYLOAD_BYTES)
        return Order(
            flow=flow,
            definition=definition,
            environment=environment,
            name=name,
            input=text,
            version=version,
            qualifier=qualifier or "",
            callback_token=callback_token,
        )


def _map_run_not_exists(name: str, execution: str) -> NotExists:
    return NotExists("MapRunNotExists", f"Map run '{name}' of execution '{execution}' does not exist.")


def _start_reply(view: ExecutionView) -> Reply:
    return {
        "FlowName": view.flow_name,
        "Name": view.name,
        "FlowDefinition": view.definition,
        "Input": view.input,
        "Output": view.output,
        "Status": view.status,
        "StartedTime": format_ms(view.started_ms),
        "StoppedTime": "" if view.stopped_ms is None else format_ms(view.stopped_ms),
    }


def _sync_reply(view: ExecutionView) -> Reply:
    reply = _start_reply(view)
    del reply["Input"], reply["FlowDefinition"]  # cloudflow-api page, section 3.4
    failed = {"ErrorCode": view.error, "ErrorMessage": view.cause}
    return {**reply, **failed, "Environment": environment_reply(view.environment)}


def _listed(view: ExecutionView, metadata_only: bool) -> Reply:
    reply = {**_start_reply(view), "Environment": environment_reply(view.environment)}
    if metadata_only:
        for heavy in ("FlowDefinition", "Input", "Output", "Environment"):
            del reply[heavy]
    return reply


def _event_reply(entry: HistoryEntry) -> Reply:
    return {
        "EventId": entry.event_id,
        "ScheduleEventId": entry.schedule_event_id,
        "StepName": entry.step_name,
        "Type": entry.type,
        "Time": format_ms(entry.time_ms),
        "EventDetail": entry.detail,
    }


def _map_run_reply(view: MapRunView) -> Reply:
    return {
        "MapRunName": view.name,
        "ExecutionName": view.execution_name,
        "Status": view.status,
        "Concurrency": view.concurrency,
        "ToleratedFailedCount": view.tolerated_failed_count,
        "ToleratedFailedPercentage": view.tolerated_failed_percentage,
        "ItemCounts": {
            "Aborted": view.aborted,
            "Failed": view.failed,
            "Pending": view.pending,
            "Running": view.running,
            "Succeed": view.succeeded,  # the wire's spelling (cloudflow-api page, section 3.4)
            "Total": view.total,
        },
        "StartedTime": format_ms(view.started_ms),
        "StoppedTime": "" if view.stopped_ms is None else format_ms(view.stopped_ms),
    }
