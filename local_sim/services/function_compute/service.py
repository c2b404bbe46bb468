"""Puts the service together on a data folder."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from pathlib import Path

from local_sim.project import Function
from local_sim.services.alarms import Alarms
from local_sim.services.durability import Flusher
from local_sim.services.timetable import Timetable
from local_sim.workers import Worker

from .app import FunctionComputeApp, new_request_id
from .archive import CodeStore
from .async_queue import AsyncQueue
from .calls import Outside
from .catalog import ACCOUNT, Catalog
from .destinations import Destinations
from .errors import FunctionComputeError
from .functions import FunctionActions
from .invocations import InvocationActions
from .invoker import Invoker
from .project_functions import register_project
from .records import TriggerRecord
from .settings import SettingActions, TagActions
from .store import FunctionStore, open_store
from .task_store import TaskStore
from .tasks import TaskActions
from .temp_objects import TempObjects
from .triggers import TriggerActions, timer_event
from .versions import VersionActions

_logger = logging.getLogger(__name__)


class FunctionComputeService:
    """Function Compute on `folder`. `app` is the ASGI app; `start` and `close` run on the event loop.

    `project` are the functions of s.yaml, `fetch` reads objects of OSS, `draw` returns a number from 0 up to 1.
    """

    def __init__(
        self,
        folder: Path,
        *,
        project: Mapping[str, Function],
        worker: Worker,
        pool: Executor,
        alarms: Alarms,
        outside: Outside,
        draw: Callable[[], float],
        fetch: Callable[[str, str], bytes | None] = lambda bucket, key: None,
        secret: str | None = None,
        region: str = "cn-hangzhou",
        late_ms: int | None = 60_000,
    ) -> None:
        path = folder / "functions.sqlite"
        self._database = open_store(path)
        self._flusher = Flusher(self._database, path)
        self._outside = outside
        self._project = project
        store = FunctionStore(self._database)
        tasks = TaskStore(self._database)
        code = CodeStore(folder / "code")
        temp = TempObjects(outside, ACCOUNT)
        self.catalog = Catalog(store, project, draw, region)
        config = SettingActions(self.catalog, outside)
        self.invoker = Invoker(self.catalog, config, worker, pool)
        destinations = Destinations(folder / "destinations", new_request_id)
        self.queue = AsyncQueue(
            tasks, self._flusher.flush, self.catalog, config, self.invoker, destinations, outside, alarms
        )
        self._triggers = TriggerActions(self.catalog, outside, self._refresh)
        self._timetable = Timetable(alarms, outside.now_ms, self._triggers.due_after, self._fire, late_ms=late_ms)
        self.app = FunctionComputeApp(
            FunctionActions(
                self.catalog, code, outside, lambda bucket, key: temp.get(bucket, key) or fetch(bucket, key), self._gone
            ),
            VersionActions(self.catalog, code, outside),
            self._triggers,
            config,
            TagActions(self.catalog),
            TaskActions(self.catalog, tasks, self.queue),
            InvocationActions(self.catalog, self.invoker, self.queue, outside),
            temp,
            now_ms=outside.now_ms,
            flush=self._flusher.flush,
            secret=secret,
            region=region,
        )

    async def start(self) -> None:
        """Register the project's functions, go on with accepted invocations, set the timers."""
        register_project(self.catalog, self._project, self._outside.now_ms())
        self.queue.resume()
        self._timetable.start()

    async def close(self) -> None:
        """Stop; what was accepted goes on after the next start."""
        await self.queue.close()
        await asyncio.sleep(0)
        self._flusher.close()
        self._database.close()

    def _refresh(self) -> None:
        self._timetable.refresh()

    def _gone(self, name: str) -> None:
        self._timetable.refresh()

    def _fire(self, trigger: TriggerRecord, at_ms: int) -> None:
        try:
            self.queue.submit(trigger.function, trigger.qualifier, timer_event(trigger, at_ms), new_request_id())
        except FunctionComputeError as error:
            _logger.warning("trigger %s of %s did not fire: %s", trigger.name, trigger.function, error)
