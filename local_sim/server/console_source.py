"""The local cloud as the console sees it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from local_sim.console.errors import ConsoleError, NotFound, Refused
from local_sim.console.model import (
    Event,
    ExecutionDetail,
    ExecutionRow,
    Filter,
    FlowRow,
    Json,
    LogText,
    Page,
    WaitingTask,
)
from local_sim.journal.served import OverviewQuery
from local_sim.runner.form import Form, callbacks
from local_sim.services.cloudflow import CloudFlowError, ExecutionActions, ExecutionView, FlowStore
from local_sim.services.cloudflow.requests import ReportTaskSucceeded, StartExecution, StopExecution

from .executions import ServedExecutions
from .hub import Hub
from .invocation_logs import InvocationLogs
from .live import ServedLive

_MOST_FLOWS = 1_000
_MOST_EVENTS = 100_000
_KEPT_HISTORIES = 16


class LocalSource:
    """Implements `console.Source` on the server's own parts. Belongs on the server's event loop."""

    title = "local cloud"
    writable = True
    local = True

    def __init__(
        self,
        hub: Hub,
        store: FlowStore,
        actions: ExecutionActions,
        executions: ServedExecutions,
        logs: InvocationLogs,
        fetch: Callable[[str, str], bytes | None],
    ) -> None:
        self._hub = hub
        self._store = store
        self._actions = actions
        self._executions = executions
        self._logs = logs
        self._fetch = fetch
        self._ended: dict[int, list[Event]] = {}

    def change(self) -> int:
        """See Source."""
        return self._hub.changes

    async def flows(self) -> list[FlowRow]:
        """See Source."""
        counts: dict[str, dict[str, int]] = {}
        for (flow, status), count in self._hub.reader.counts().items():
            counts.setdefault(flow, {})[status] = count
        records = self._store.flows("", _MOST_FLOWS, None)
        return [FlowRow(one.name, one.description, one.execution_mode, counts.get(one.name, {})) for one in records]

    async def counts(self) -> dict[str, int]:
        """See Source."""
        await self._hub.settle()
        total: dict[str, int] = {}
        for (_, status), count in self._hub.reader.counts().items():
            total[status] = total.get(status, 0) + count
        return total

    async def definition(self, flow: str) -> str:
        """See Source."""
        record = self._store.flow(flow)
        if record is None:
            raise NotFound(f"there is no flow {flow}")
        return record.definition

    async def executions(self, wanted: Filter) -> Page:
        """See Source."""
        await self._hub.settle()
        query = OverviewQuery(
            limit=wanted.limit + 1,
            below=_below(wanted.below),
            flow=wanted.flow,
            status=wanted.status,
            text=wanted.text,
            from_ms=wanted.from_ms,
            to_ms=wanted.to_ms,
        )
        found = self._hub.reader.overview(query)
        rows = [
            ExecutionRow(
                flow=row.flow, name=row.name, status=row.status, started_ms=row.created_ms, stopped_ms=row.stopped_ms
            )
            for row in found[: wanted.limit]
        ]
        last = found[wanted.limit - 1] if len(found) > wanted.limit else None
        return Page(tuple(rows), f"{last.created_ms}-{last.id}" if last is not None else "")

    async def execution(self, flow: str, name: str) -> ExecutionDetail:
        """See Source."""
        view = self._view(flow, name)
        return ExecutionDetail(
            flow=view.flow_name,
            name=view.name,
            status=view.status,
            started_ms=view.started_ms,
            stopped_ms=view.stopped_ms,
            definition=view.definition,
            input=view.input,
            output=view.output,
            error=view.error,
            cause=view.cause,
        )

    async def history(self, flow: str, name: str) -> list[Event]:
        """See Source."""
        view = self._view(flow, name)
        if (kept := self._ended.get(view.sequence)) is not None:
            return kept
        entries = self._executions.history(view.flow_id, name, 0, _MOST_EVENTS)
        events = [
            Event(one.event_id, one.schedule_event_id, one.step_name, one.type, one.time_ms, one.detail)
            for one in entries
        ]
        if view.stopped_ms is not None:
            if len(self._ended) >= _KEPT_HISTORIES:
                del self._ended[next(iter(self._ended))]
            self._ended[view.sequence] = events
        return events

    async def waiting(self) -> list[WaitingTask]:
        """See Source."""
        found = [
            _waiting(live, task.path, task.token, task.due_ms, task.task_id)
            for live in self._hub.lives.values()
            for task in live.engine.waiting
            if task.submitted and not live.ended
        ]
        return sorted(found, key=lambda task: task.since_ms)

    async def logs(self, flow: str, name: str) -> list[LogText]:
        """See Source."""
        view = self._view(flow, name)
        kept = await asyncio.get_running_loop().run_in_executor(None, self._logs.of, view.sequence)
        return [LogText(log.state, log.attempt, log.at_ms, log.text) for log in kept]

    async def payload(self, bucket: str, key: str) -> bytes | None:
        """See Source."""
        return await asyncio.get_running_loop().run_in_executor(None, self._fetch, bucket, key)

    async def start(self, flow: str, name: str, given: str) -> ExecutionDetail:
        """See Source."""
        try:
            reply = await self._actions.start(StartExecution(flow_name=flow, execution_name=name or None, input=given))
        except CloudFlowError as error:
            raise Refused(error.message) from None
        return await self.execution(flow, str(reply["Name"]))

    async def stop(self, flow: str, name: str) -> None:
        """See Source."""
        try:
            await self._actions.stop(StopExecution(flow_name=flow, execution_name=name, cause="stopped in the console"))
        except CloudFlowError as error:
            raise Refused(error.message) from None

    async def answer(self, token: str, output: Json) -> None:
        """See Source."""
        try:
            await self._actions.succeed(ReportTaskSucceeded(task_token=token, output=json.dumps(output)))
        except CloudFlowError as error:
            raise Refused(error.message) from None

    def _view(self, flow: str, name: str) -> ExecutionView:
        record = self._store.flow(flow)
        view = self._executions.find(record.id, name) if record is not None else None
        if view is None:
            raise NotFound(f"there is no execution {name} of flow {flow}")
        return view


def _waiting(live: ServedLive, path: tuple[str, ...], token: str, due_ms: int | None, task_id: int) -> WaitingTask:
    form = callbacks(live.engine.flow).get(path[-1], Form())
    since = live.engine.history[task_id - 1].time_ms
    return WaitingTask(
        flow=live.record.flow,
        execution=live.record.name,
        state=path[-1],
        token=token,
        since_ms=since,
        due_ms=due_ms,
        field=form.field,
        choices=form.choices,
    )


def _below(text: str) -> tuple[int, int] | None:
    if not text:
        return None
    created, _, number = text.partition("-")
    try:
        return int(created), int(number)
    except ValueError:
        raise ConsoleError(f"{text!r} is no place in the list") from None
