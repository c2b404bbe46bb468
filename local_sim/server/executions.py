"""The executions of the CloudFlow service: from memory while they run, from the journal afterwards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

from local_sim.definition import DefinitionError
from local_sim.engine import Execution, Ignored, MapRunInfo, MapRunUpdated, StopRequested, to_api
from local_sim.journal.served import DropWrite, ServedQuery, ServedRecord
from local_sim.services.cloudflow import ExecutionView, HistoryEntry, MapRunView, Order, Query
from local_sim.services.cloudflow.parameters import Environment, Variable
from local_sim.services.timestamps import parse_ms

from .hub import Hub
from .live import ServedLive, build_engine
from .reports import Reports
from .starts import Starter


class ServedExecutions:
    """Implements `cloudflow.Executions` on a hub."""

    def __init__(self, hub: Hub, starter: Starter, reports: Reports, outside: Any) -> None:
        self._hub = hub
        self._starter = starter
        self._reports = reports
        self._now_ms = outside.now_ms

    async def start(self, order: Order) -> ExecutionView:
        """See Executions."""
        served = await self._starter.start(order, self._now_ms())
        live = self._hub.lives.get(served.execution.id)
        return _view(served, live) if live is not None else self._stored(served)

    def find(self, flow_id: str, name: str) -> ExecutionView | None:
        """See Executions."""
        live = self._hub.live(flow_id, name)
        if live is not None:
            return _view(live.served, live)
        served = self._hub.reader.find_served(flow_id, name)
        return None if served is None else _view(served, None)

    async def wait(self, flow_id: str, name: str, seconds: float) -> ExecutionView | None:
        """See Executions. A waiter costs a future, no thread."""
        live = self._hub.live(flow_id, name)
        if live is not None and not live.ended:
            await asyncio.wait({live.ended_future()}, timeout=seconds)
        return self.find(flow_id, name)

    async def page(self, query: Query) -> list[ExecutionView]:
        """See Executions."""
        await self._hub.settle()
        found = self._hub.reader.page(
            ServedQuery(
                flow_id=query.flow_id,
                below=query.below,
                limit=query.limit,
                status=query.status,
                started_begin_ms=query.started_begin_ms,
                started_end_ms=query.started_end_ms,
                name_prefix=query.name_prefix,
                qualifier=query.qualifier,
                child_of=query.map_run_name,
            )
        )
        return [_view(served, None) for served in found]

    def history(self, flow_id: str, name: str, after: int, limit: int) -> list[HistoryEntry]:
        """See Executions."""
        live = self._hub.live(flow_id, name)
        if live is not None:
            return [_entry(to_api(event)) for event in live.engine.history[after : after + limit]]
        served = self._hub.reader.find_served(flow_id, name)
        text = self._hub.reader.history(served.execution.id) if served is not None else None
        return [_entry(event) for event in json.loads(text or "[]")[after : after + limit]]

    async def stop(self, flow_id: str, name: str, error: str, cause: str) -> ExecutionView | None:
        """See Executions."""
        live = self._hub.live(flow_id, name)
        if live is None or live.ended:
            return None
        commands = await self._hub.ask(live, StopRequested(self._hub.now(live), error, cause))
        if commands and isinstance(commands[0], Ignored):
            return None
        return _view(live.served, live)

    async def succeed(self, token: str, output: Any) -> int:
        """See Executions."""
        return await self._reports.succeed(token, output)

    async def fail(self, token: str, error: str, cause: str) -> int:
        """See Executions."""
        return await self._reports.fail(token, error, cause)

    def map_run(self, flow_id: str, name: str, map_run_name: str) -> MapRunView | None:
        """See Executions."""
        engine = self._engine(flow_id, name)
        found = _map_run(engine.map_runs, map_run_name) if engine is not None else None
        return None if found is None else _map_run_view(found, name)

    async def update_map_run(
        self,
        flow_id: str,
        name: str,
        map_run_name: str,
        concurrency: int | None,
        failed_count: int | None,
        failed_percentage: float | None,
    ) -> MapRunView | None:
        """See Executions. A map run that is over stays as it is."""
        live = self._hub.live(flow_id, name)
        found = _map_run(live.engine.map_runs, map_run_name) if live is not None else None
        if live is not None and found is not None:
            now = self._hub.now(live)
            await self._hub.ask(live, MapRunUpdated(now, found.number, concurrency, failed_count, failed_percentage))
        return self.map_run(flow_id, name, map_run_name)

    async def drop_flow(self, flow_id: str) -> None:
        """End the running executions of a deleted flow; its executions can no longer be found (S05)."""
        self._hub.write(DropWrite(flow_id))
        for live in [live for live in self._hub.lives.values() if live.served.flow_id == flow_id]:
            self._hub.forget(live)
            if not live.ended:
                self._hub.post(live, StopRequested(self._hub.now(live), cause="the flow was deleted"))
        await self._hub.settle()

    def _engine(self, flow_id: str, name: str) -> Execution | None:
        live = self._hub.live(flow_id, name)
        if live is not None:
            return live.engine
        served = self._hub.reader.find_served(flow_id, name)
        if served is None:
            return None
        try:
            engine = build_engine(served, self._hub.definitions)
        except (DefinitionError, KeyError):  # it ended as unreadable, see hub.py
            return None
        for event in self._hub.reader.events(served.execution.id):
            engine.handle(event)
        return engine

    def _stored(self, served: ServedRecord) -> ExecutionView:
        return self.find(served.flow_id, served.execution.name) or _view(served, None)


def _view(served: ServedRecord, live: ServedLive | None) -> ExecutionView:
    record = served.execution
    status, output, error, cause = record.status, record.output, record.error, record.cause
    stopped = served.stopped_ms
    if live is not None:
        engine = live.engine
        status, output, error, cause = engine.status, engine.output, engine.error, engine.cause
        stopped = live.last_ms if live.ended else None
    text = "" if output is None else json.dumps(output, ensure_ascii=False, separators=(",", ":"))
    return ExecutionView(
        sequence=record.id,
        flow_id=served.flow_id,
        flow_name=record.flow,
        name=record.name,
        definition=record.definition,
        input=served.input,
        output=text,
        status=status.value,
        started_ms=record.created_ms,
        stopped_ms=stopped,
        error=error,
        cause=cause,
        role_arn=served.role_arn,
        environment=Environment(tuple(Variable(*item) for item in json.loads(served.environment))),
    )


def _entry(event: dict[str, Any]) -> HistoryEntry:
    return HistoryEntry(
        event["EventId"],
        event["ScheduleEventId"],
        event["StepName"],
        event["Type"],
        parse_ms(event["Time"]),
        event["EventDetail"],
    )


def _map_run(infos: Iterable[MapRunInfo], name: str) -> MapRunInfo | None:
    return next((info for info in infos if info.name == name), None)


def _map_run_view(info: MapRunInfo, execution: str) -> MapRunView:
    counts = info.counts
    return MapRunView(
        name=info.name,
        execution_name=execution,
        status=info.status,
        concurrency=info.concurrency,
        tolerated_failed_count=info.tolerated_failed_count or 0,
        tolerated_failed_percentage=info.tolerated_failed_percentage or 0.0,
        pending=counts.pending,
        running=counts.running,
        succeeded=counts.succeeded,
        failed=counts.failed,
        aborted=counts.aborted,
        total=counts.total,
        started_ms=info.started_ms,
        stopped_ms=info.stopped_ms,
    )
