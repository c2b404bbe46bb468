"""Serves ASGI apps on loopback ports from one background thread with one event loop.

uvicorn's HTTP protocol does the talking; its server class is left out because it owns the process (signals, logging,
one app, a shutdown that polls). uvicorn is imported when the first host starts, since the command line must come up
fast.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from local_sim.services.asgi import ASGIApp
from local_sim.services.errors import AddressUnusable, PortInUse, ServiceNotRunning

if TYPE_CHECKING:
    from types import TracebackType

    from local_sim.services.connection import Listener

_T = TypeVar("_T")
_START_SECONDS = 10.0


class LoopThread:
    """One event loop in one daemon thread, shared by the hosts that run on it."""

    def __init__(self, name: str = "local-sim-services") -> None:
        self._loop = _new_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop, for `call_soon_threadsafe`."""
        return self._loop

    def run(self, coroutine: Coroutine[Any, Any, _T], timeout: float | None = None) -> _T:
        """Run `coroutine` on the loop and return its result; for callers on other threads only."""
        future: Future[_T] = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        return future.result(timeout)

    def close(self) -> None:
        """Stop the loop and join the thread; safe to call twice."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())


class ServiceHost:
    """Serves one ASGI app at `host`:`port`; port 0 takes a free one. Also a context manager.

    Raises `PortInUse` or `AddressUnusable` from `start()`. With `thread` the app runs on that loop, otherwise the host
    has its own. A request in progress gets `grace` seconds to end when the host stops.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        name: str = "service",
        thread: LoopThread | None = None,
        grace: float = 2.0,
    ) -> None:
        self.app = app
        self.host = host
        self.name = name
        self._wanted_port = port
        self._shared_thread = thread
        self._grace = grace
        self._thread: LoopThread | None = None
        self._listener: Listener | None = None
        self._port: int | None = None

    @property
    def port(self) -> int:
        """The port in use; raises `ServiceNotRunning` before `start()`."""
        if self._port is None:
            raise ServiceNotRunning(self.name)
        return self._port

    @property
    def endpoint(self) -> str:
        """`http://HOST:PORT` as the SDKs want it; raises `ServiceNotRunning` before `start()`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def start(self) -> ServiceHost:
        """Listen and serve; returns self once clients can connect. Does nothing when already started."""
        if self._listener is not None:
            return self
        from local_sim.services.connection import Listener

        sock = _bind(self.host, self._wanted_port)
        self._thread = self._shared_thread or LoopThread(f"local-sim-{self.name}")
        listener = Listener(self.app, self._grace)
        self._thread.run(listener.open(sock), _START_SECONDS)
        self._listener, self._port = listener, sock.getsockname()[1]
        return self

    def stop(self) -> None:
        """Close the port, let requests in progress end for `grace` seconds, drop idle clients. Safe to call twice."""
        listener, thread = self._listener, self._thread
        self._listener = self._thread = self._port = None
        if listener is not None and thread is not None:
            thread.run(listener.close())
            if self._shared_thread is None:
                thread.close()

    def __enter__(self) -> ServiceHost:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class Services(Mapping[str, ServiceHost]):
    """Several named services, each on its own port, on one loop and thread. Also a context manager.

    `services["ots"].endpoint` is the address of one of them once started.
    """

    def __init__(self, *, host: str = "127.0.0.1", grace: float = 2.0) -> None:
        self._address = host
        self._grace = grace
        self._thread: LoopThread | None = None
        self._apps: dict[str, tuple[ASGIApp, int]] = {}
        self._hosts: dict[str, ServiceHost] = {}

    def add(self, name: str, app: ASGIApp, *, port: int = 0) -> None:
        """Name an app to serve; when the services already run, it is served at once."""
        self._apps[name] = (app, port)
        if self._thread is not None:
            self._start_one(name, self._thread)

    def start(self) -> Services:
        """Start every app; when one cannot start, stop those that did and raise its error."""
        if self._thread is None:
            self._thread = LoopThread()
            try:
                for name in self._apps:
                    self._start_one(name, self._thread)
            except BaseException:
                self.stop()
                raise
        return self

    def stop(self) -> None:
        """Stop every service and the thread. Safe to call twice."""
        for host in self._hosts.values():
            host.stop()
        self._hosts.clear()
        if self._thread is not None:
            self._thread.close()
            self._thread = None

    def _start_one(self, name: str, thread: LoopThread) -> None:
        app, port = self._apps[name]
        host = ServiceHost(app, host=self._address, port=port, name=name, thread=thread, grace=self._grace)
        self._hosts[name] = host.start()

    def __getitem__(self, name: str) -> ServiceHost:
        if name in self._apps and name not in self._hosts:
            raise ServiceNotRunning(name)
        return self._hosts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._hosts)

    def __len__(self) -> int:
        return len(self._hosts)

    def __enter__(self) -> Services:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:  # no uvloop on Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _bind(host: str, port: int) -> socket.socket:
    """Return a listening socket, so that the port is known and a port in use is an error of ours, not of the loop."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        # A restarted server must get its old port back while old connections linger in TIME_WAIT.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(1024)
    except (OSError, OverflowError) as error:
        sock.close()
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise PortInUse(host, port) from error
        raise AddressUnusable(host, port, str(error)) from error
    sock.setblocking(False)
    return sock
