"""CloudFlow and Function Compute on one event loop and one data folder."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from local_sim.actions import Actions, Call
from local_sim.clock import Clock, VirtualClock
from local_sim.project import Project
from local_sim.services.alarms import Alarms
from local_sim.services.cloudflow import (
    CloudFlowApp,
    CloudFlowError,
    ExecutionActions,
    FlowActions,
    FlowStore,
    Order,
    Rates,
    ScheduleActions,
)
from local_sim.services.cloudflow.records import EXPRESS, ScheduleRecord
from local_sim.services.function_compute import FunctionComputeService
from local_sim.services.timestamps import format_ms
from local_sim.services.timetable import Timetable
from local_sim.workers import Worker

from .carrier import ServedCarrier
from .children import Children
from .console_source import LocalSource
from .definitions import Definitions
from .executions import ServedExecutions
from .hub import Hub
from .invocation_logs import InvocationLogs
from .outside import World
from .reports import Reports
from .starts import Starter

_logger = logging.getLogger(__name__)
_THREADS = 64
_FLOW_SUFFIXES = (".yaml", ".yml", ".json")


class Core:
    """The two services and what runs behind them. Make it, `open` it and `close` it on one event loop."""

    def __init__(
        self,
        project: Project,
        folder: Path,
        *,
        worker: Worker,
        clock: Clock,
        fetch: Callable[[str, str], bytes | None],
        secret: str | None = None,
        region: str = "cn-hangzhou",
        registered: Mapping[str, Callable[[Call], object]] | None = None,
        seed: int | None = None,
        variables: Callable[[], Mapping[str, str]] | None = None,
        limit_rates: bool = False,
    ) -> None:
        virtual = isinstance(clock, VirtualClock)
        late_ms = None if virtual else 60_000
        self._project = project
        self._worker = worker
        self._background: set[asyncio.Task[None]] = set()
        self.clock = clock
        self.alarms = Alarms(clock.now_ms, real=not virtual)
        definitions = Definitions()
        self._world = World(clock, definitions, seed)
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="local-sim-call")
        self.functions = FunctionComputeService(
            folder / "function-compute",
            project=project.functions,
            worker=worker,
            pool=self._pool,
            alarms=self.alarms,
            outside=self._world,
            draw=self._world.fraction,
            fetch=fetch,
            secret=secret,
            region=region,
            late_ms=late_ms,
        )
        self._store = FlowStore(folder / "cloudflow.sqlite")
        self.hub = Hub(folder, clock.now_ms, self.alarms, definitions)
        self._starter = Starter(self.hub)
        self._reports = Reports(self.hub, self._flow_id)
        self._executions = ServedExecutions(self.hub, self._starter, self._reports, self._world)
        self.flows = FlowActions(self._store, self._world, self._drop_flow)
        self._schedules = ScheduleActions(self._store, self._world, self.flows, self._refresh)
        self._timetable = Timetable(self.alarms, clock.now_ms, self._schedules.due_after, self._fire, late_ms=late_ms)
        self._logs = InvocationLogs(folder)
        children = Children(self.hub, self._starter, self.flows, clock.now_ms)
        actions = Actions(project, worker, registered, variables=variables)
        self._carrier = ServedCarrier(
            self.hub, self.functions, children, self._reports, actions, self._pool, self._logs
        )
        execution_actions = ExecutionActions(self.flows, self._world, self._executions)
        self.source = LocalSource(self.hub, self._store, execution_actions, self._executions, self._logs, fetch)
        self.cloudflow = CloudFlowApp(
            self.flows,
            self._schedules,
            execution_actions,
            now_ms=clock.now_ms,
            flush=self._store.flush,
            secret=secret,
            region=region,
            rates=Rates(clock.now_ms) if limit_rates else None,
        )

    async def open(self) -> None:
        """Bring back what an earlier process left, then go on with it. Raises JournalError."""
        await self.hub.open(self._carrier)
        self._register_flows()
        self.functions.queue.on_report(self._carrier.report)
        await self.functions.start()
        self.hub.take_up()
        self._carrier.take_up()
        self._timetable.start()

    async def close(self) -> None:
        """Stop. Nothing acknowledged is lost; running executions go on after the next `open`."""
        self.alarms.close()
        await self._carrier.close()
        await self.functions.close()
        await self.hub.close()
        for task in self._background:
            task.cancel()
        self._store.close()
        self._logs.close()
        # Closing the worker ends the handlers in progress, so the pool's threads come to an end too.
        await asyncio.get_running_loop().run_in_executor(None, self._worker.close)
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def settle(self) -> None:
        """Return once nothing but the clock, an outside report or a handler can move anything."""
        while self._background or self.busy:
            await asyncio.sleep(0.001)
        await self.hub.settle()

    @property
    def busy(self) -> bool:
        """True while a call is in progress or an event waits for its commit."""
        return self.hub.busy or self._carrier.busy or self.functions.queue.busy

    def _register_flows(self) -> None:
        folder = self._project.flows
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.suffix in _FLOW_SUFFIXES:
                try:
                    self.flows.add_from_project(path.stem, path.read_text(encoding="utf-8"))
                except (CloudFlowError, OSError, UnicodeDecodeError) as error:
                    _logger.warning("%s is left out: %s", path.name, error)

    def _flow_id(self, name: str) -> str | None:
        flow = self._store.flow(name)
        return flow.id if flow is not None else None

    async def _drop_flow(self, flow_id: str) -> None:
        self._timetable.refresh()
        await self._executions.drop_flow(flow_id)

    def _refresh(self) -> None:
        self._timetable.refresh()

    def _fire(self, schedule: ScheduleRecord, at_ms: int) -> None:
        task = asyncio.get_running_loop().create_task(self._start_scheduled(schedule, at_ms))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _start_scheduled(self, schedule: ScheduleRecord, at_ms: int) -> None:
        """Start the execution of a schedule; its name holds the moment, so no moment starts two (S09)."""
        flow = self._store.flow_by_id(schedule.flow_id)
        if flow is None:
            return
        payload = json.loads(schedule.payload) if schedule.payload else {}
        given = {"payload": payload, "triggerName": schedule.name, "triggerTime": format_ms(at_ms)}
        unique = self._world.new_id() if flow.execution_mode == EXPRESS else f"{schedule.id[:8]}-{at_ms}"
        order = Order(
            flow=flow,
            definition=flow.definition,
            environment=flow.environment,
            name=f"schedule-{unique}",
            input=json.dumps(given, ensure_ascii=False),
        )
        try:
            await self._starter.start(order, self._world.now_ms())
        except CloudFlowError as error:
            _logger.warning("schedule %s of flow %s did not start: %s", schedule.name, flow.name, error.message)
