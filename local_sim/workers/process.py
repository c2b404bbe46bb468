"""Runs handlers in child processes, one function instance each: limits enforced by kill, crashes survived, instances
reused while they are warm.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence

from local_sim.project import Function

from . import contract
from .environment import WorkerEnvironment
from .errors import DebuggerMissing, HandlerNotLoadable
from .in_process import require_python
from .instance import FunctionProcess
from .interpreters import interpreter_of
from .model import InstanceInfo, InvokeResult

_logger = logging.getLogger(__name__)
IDLE_SECONDS = 300.0
"""How long an instance stays warm without a call (C02)."""
_LOOK_SECONDS = 0.05
_REST_SECONDS = 1.0


class ProcessWorker:
    """Runs each call in a child process, one call an instance at a time (C03). An idle instance is reused for the next
    call of its function, until it was idle for `idle_seconds`.

    `debug` holds ports: a function in it waits for a debugger there and runs one call at a time. Raises
    DebuggerMissing.
    """

    concurrent = True

    def __init__(
        self,
        environment: WorkerEnvironment | None = None,
        *,
        idle_seconds: float = IDLE_SECONDS,
        debug: Mapping[str, int] | None = None,
    ) -> None:
        if debug and importlib.util.find_spec("debugpy") is None:
            raise DebuggerMissing(next(iter(debug)))
        self._environment = environment or WorkerEnvironment()
        self._idle_seconds = idle_seconds
        self._debug = dict(debug or {})
        self._turns = {name: threading.Lock() for name in self._debug}
        self._idle: dict[tuple[str, str], list[FunctionProcess]] = {}
        self._all: set[FunctionProcess] = set()
        self._retiring: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._work = threading.Event()
        self._keeper: threading.Thread | None = None

    def prepare(self, function: Function) -> None:
        """Start an instance and keep it idle. Raises HandlerNotLoadable, WorkerError, Unresolvable."""
        with self._turn(function):
            self._give_back(self._take(function))

    def invoke(
        self, function: Function, event: bytes, request_id: str, *, timeout: float | None = None
    ) -> InvokeResult:
        """Run the handler; see Worker.invoke."""
        with self._turn(function):
            try:
                child = self._take(function)
            except HandlerNotLoadable:
                return InvokeResult(request_id, contract.import_error_body(function.handler), contract.UNHANDLED)
            result = child.call(event, request_id, function.timeout if timeout is None else timeout)
            if child.alive and result.error_type != contract.INITIALIZATION:
                self._give_back(child)
            else:
                self._drop(child)
            return result

    def instances(self) -> Sequence[InstanceInfo]:
        """Return the instances that are there now, by id."""
        with self._lock:
            found = [child.info for child in self._all]
        return sorted(found, key=lambda info: info.id)

    def close(self) -> None:
        """End all instances: idle ones in order, calls in progress with a crash answer."""
        with self._lock:
            self._closed.set()
            idle = [child for children in self._idle.values() for child in children]
            self._idle.clear()
            busy = self._all - set(idle)
        self._work.set()
        for child in idle:
            self._retire(child)
        for child in busy:
            self._drop(child)
        for thread in [*self._retiring, *([self._keeper] if self._keeper else [])]:
            thread.join()

    def _take(self, function: Function) -> FunctionProcess:
        require_python(function)
        variables = self._environment.build(function, uuid.uuid4().hex[:12])
        while (idle := self._pop_idle(function)) is not None:
            if idle.fits(function, variables):
                return idle
            self._retire(idle)
        port = self._debug.get(function.name, 0)
        if port:
            _logger.warning("function %s waits for a debugger at 127.0.0.1:%s", function.name, port)
        child = FunctionProcess(function, variables, interpreter_of(function, variables), port)
        with self._lock:
            self._all.add(child)
        self._watch()
        try:
            child.load()
        except BaseException:
            self._drop(child)
            raise
        return child

    def _pop_idle(self, function: Function) -> FunctionProcess | None:
        with self._lock:
            children = self._idle.get((function.name, function.version))
            child = children.pop() if children else None
            if child is not None:
                child.idle_since = None
        self._work.set()
        return child

    def _give_back(self, child: FunctionProcess) -> None:
        with self._lock:
            if not self._closed.is_set():
                child.idle_since = time.monotonic()
                self._idle.setdefault((child.function.name, child.function.version), []).append(child)
                return
        self._drop(child)

    def _retire(self, child: FunctionProcess) -> None:
        """End an idle instance; a pre-stop hook takes its time beside whatever comes next."""
        with self._lock:
            self._all.discard(child)
        if child.function.pre_stop is None or child.function.name in self._debug:
            child.kill()
            return
        thread = threading.Thread(target=child.retire, name="local-sim-pre-stop", daemon=True)
        self._retiring = {other for other in self._retiring if other.is_alive()} | {thread}
        thread.start()

    def _drop(self, child: FunctionProcess) -> None:
        with self._lock:
            self._all.discard(child)
        child.kill()

    @contextlib.contextmanager
    def _turn(self, function: Function) -> Iterator[None]:
        lock = self._turns.get(function.name)
        with lock if lock is not None else contextlib.nullcontext():
            yield

    def _watch(self) -> None:
        with self._lock:
            if self._keeper is None:
                self._keeper = threading.Thread(target=self._keep_house, name="local-sim-instances", daemon=True)
                self._keeper.start()
        self._work.set()

    def _keep_house(self) -> None:
        """Look after memory while calls are in progress, and end instances that were idle for too long."""
        while not self._closed.is_set():
            with self._lock:
                busy = [child for child in self._all if child.idle_since is None]
                expired = self._expired(time.monotonic() - self._idle_seconds)
            for child in busy:
                child.check_memory()
            for child in expired:
                self._retire(child)
            if busy:
                self._closed.wait(_LOOK_SECONDS)
            else:
                self._work.wait(min(_REST_SECONDS, self._idle_seconds))
                self._work.clear()

    def _expired(self, before: float) -> list[FunctionProcess]:
        found: list[FunctionProcess] = []
        for children in self._idle.values():
            found += [child for child in children if child.idle_since is not None and child.idle_since < before]
            children[:] = [child for child in children if child not in found]
        return found
