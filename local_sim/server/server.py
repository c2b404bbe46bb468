"""The whole local cloud in one process: CloudFlow and Function Compute on one port, Tablestore and OSS beside them."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local_sim.clock import Clock, RealClock, VirtualClock
from local_sim.project import Project
from local_sim.services.cloudflow import DIALECT as FNF_DIALECT
from local_sim.services.faults import Faults
from local_sim.services.function_compute import DIALECT as FC_DIALECT
from local_sim.services.host import LoopThread, ServiceHost
from local_sim.workers import InProcessWorker, ProcessWorker, Worker, WorkerEnvironment

from .control import ControlApp
from .core import Core
from .data_services import DataServices
from .errors import SecretNeeded
from .front import Front
from .state import ServerState, remove_state, write_state

if TYPE_CHECKING:
    from types import TracebackType

    from local_sim.actions import Call
    from local_sim.console import Panels
    from local_sim.services.asgi import ASGIApp

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class LocalServer:
    """The local cloud of a project on a data folder. Also a context manager.

    `port` 0 takes free ports. `host` beyond loopback needs a `secret`. `clock` may be a VirtualClock, which then moves
    only by `advance`. `workers` is `process` or `in-process`. `registered` stands in for actions, as in `Actions`.
    `debug` holds the ports at which functions wait for a debugger; `limit_rates` refuses what is over CloudFlow's
    documented request rates.
    """

    def __init__(
        self,
        project: Project,
        folder: Path,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        secret: str | None = None,
        workers: str = "process",
        clock: Clock | None = None,
        registered: Mapping[str, Callable[[Call], object]] | None = None,
        seed: int | None = None,
        debug: Mapping[str, int] | None = None,
        limit_rates: bool = False,
    ) -> None:
        if host not in _LOOPBACK and not secret:
            raise SecretNeeded(host)
        self.project = project
        self.folder = folder.resolve()
        self.faults = Faults()
        self.stop_requested = threading.Event()
        self._host = host
        self._port = port
        self._secret = secret
        self._clock = clock or RealClock()
        self._workers = workers
        self._registered = registered
        self._seed = seed
        self._debug = debug
        self._limit_rates = limit_rates
        self._token = secrets.token_urlsafe(24)
        self._thread: LoopThread | None = None
        self._front_host: ServiceHost | None = None
        self._core: Core | None = None
        ports = (port + 1, port + 2) if port else (0, 0)
        self._data = DataServices(project, self.folder, host=host, ports=ports, secret=secret, faults=self.faults)
        self._environment: dict[str, str] = {}
        self._panels: Panels | None = None

    def __enter__(self) -> LocalServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def endpoint(self) -> str:
        """`http://HOST:PORT` of CloudFlow and Function Compute."""
        return self._environment["FNF_ENDPOINT"]

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables that point clients and functions at this server (docs/architecture.md)."""
        return self._environment

    def start(self) -> LocalServer:
        """Serve; returns once clients are answered, at once when it runs already.

        Raises JournalInUse, PortInUse and their siblings, CloudError.
        """
        if self._core is not None:
            return self
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop serving. Running executions go on after the next start. Safe to call twice."""
        host, core, thread = self._front_host, self._core, self._thread
        self._front_host = self._core = self._thread = None
        if host is not None:
            host.stop()
        if core is not None and thread is not None:
            thread.run(core.close())
        if self._panels is not None and thread is not None:
            thread.run(self._panels.close())
            self._panels = None
        if thread is not None:
            thread.close()
        self._data.close()
        remove_state(self.folder, self._token)

    def advance(self, seconds: float) -> None:
        """Move a virtual clock and do what is due. Raises TypeError with a real clock."""
        if not isinstance(self._clock, VirtualClock) or self._thread is None or self._core is None:
            raise TypeError("only a running server with a VirtualClock can be moved in time")
        self._thread.run(self._advance(self._core, self._clock.now_ms() + round(seconds * 1000)))

    def _start(self) -> None:
        thread = self._thread = LoopThread("local-sim-server")
        control = ControlApp(
            self._token,
            self.faults,
            hosts=frozenset({self._host.lower()}),
            status=self._status,
            stop=self.stop_requested.set,
        )
        front = thread.run(_make_front(control))
        host = self._front_host = ServiceHost(front, host=self._host, port=self._port, name="server", thread=thread)
        host.start()
        mine = {"FNF_ENDPOINT": host.endpoint, "FC_ENDPOINT": host.endpoint}
        self._data.fc_endpoint = host.endpoint
        self._environment = mine | {**self._data.environment, **mine}
        core = self._core = thread.run(self._make_core())
        thread.run(core.open())
        cloudflow = self.faults.wrap(core.cloudflow, FNF_DIALECT)
        functions = self.faults.wrap(core.functions.app, FC_DIALECT)
        thread.run(_open_front(front, cloudflow, functions, lambda: self._console(core)))
        write_state(self.folder, ServerState(os.getpid(), host.endpoint, self._token, dict(self._environment)))

    async def _make_core(self) -> Core:
        return Core(
            self.project,
            self.folder,
            worker=self._worker(),
            clock=self._clock,
            fetch=self._data.object,
            secret=self._secret,
            region=self._environment.get("ALIBABA_CLOUD_REGION", "cn-hangzhou"),
            registered=self._registered,
            seed=self._seed,
            variables=lambda: self._environment,
            limit_rates=self._limit_rates,
        )

    def _console(self, core: Core) -> ASGIApp:
        from local_sim.console import Panels, make_console

        panels = self._panels = Panels(self.project.settings.panels, self.project.root, self._environment)
        return make_console(core.source, panels=panels, faults=self.faults, hosts={self._host}, secret=self._secret)

    def _worker(self) -> Worker:
        environment = WorkerEnvironment(lambda: self._environment)
        if self._workers == "in-process":
            return InProcessWorker(environment)
        return ProcessWorker(environment, debug=self._debug)

    async def _advance(self, core: Core, until_ms: int) -> None:
        """Go from one due moment to the next, so that what an alarm sets in motion meets the right time."""
        clock = core.clock
        while True:
            await core.settle()
            due = core.alarms.next_due()
            clock.sleep_until(until_ms if due is None else min(due, until_ms))
            core.alarms.check()
            if due is None or due > until_ms:
                await core.settle()
                return

    def _status(self) -> Mapping[str, Any]:
        core = self._core
        running = len(core.hub.lives) if core is not None else 0
        return {"pid": os.getpid(), "running_executions": running, "environment": dict(self._environment)}


async def _make_front(control: ControlApp) -> Front:
    return Front(control)


async def _open_front(front: Front, cloudflow: Any, functions: Any, make_console: Callable[[], ASGIApp]) -> None:
    front.open(cloudflow, functions, make_console)
