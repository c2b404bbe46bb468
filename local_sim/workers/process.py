"""Runs handlers in child processes, one function instance each: timeouts by kill, crashes survived, instances
reused.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from local_sim.project import Function

from . import contract, wire
from .child import LOG_END
from .environment import WorkerEnvironment, spec_of
from .errors import HandlerNotLoadable
from .in_process import require_python
from .model import InvokeResult

_ROOT = str(Path(__file__).resolve().parents[2])
# The package's own folder is on the path just long enough to import the child, so that it never hides a handler's
# modules.
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[2]); from local_sim.workers.child import main; "
    "sys.path.remove(sys.argv[2]); main(int(sys.argv[1]))"
)
_START_SECONDS = 60.0


class ProcessWorker:
    """Runs each call in a child process. An idle instance is reused for the next call of its function."""

    concurrent = True

    def __init__(self, environment: WorkerEnvironment | None = None) -> None:
        self._environment = environment or WorkerEnvironment()
        self._idle: dict[str, list[_Child]] = {}
        self._all: set[_Child] = set()
        self._lock = threading.Lock()
        self._closed = False

    def prepare(self, function: Function) -> None:
        """Start an instance and keep it idle. Raises HandlerNotLoadable, WorkerError, Unresolvable."""
        self._give_back(self._take(function))

    def invoke(
        self, function: Function, event: bytes, request_id: str, *, timeout: float | None = None
    ) -> InvokeResult:
        """Run the handler; see Worker.invoke."""
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

    def close(self) -> None:
        """End all instances; calls in progress end with a crash answer."""
        with self._lock:
            self._closed = True
            children = list(self._all)
            self._idle.clear()
        for child in children:
            self._drop(child)

    def _take(self, function: Function) -> _Child:
        require_python(function)
        instance = uuid.uuid4().hex[:12]
        variables = self._environment.build(function, instance)
        with self._lock:
            idle = self._idle.get(function.name, [])
            while idle:
                child = idle.pop()
                if child.fits(function, variables):
                    return child
                self._all.discard(child)
                child.kill()
        child = _Child(function, variables)
        with self._lock:
            self._all.add(child)
        try:
            child.load()
        except BaseException:
            self._drop(child)
            raise
        return child

    def _give_back(self, child: _Child) -> None:
        with self._lock:
            if not self._closed:
                self._idle.setdefault(child.function.name, []).append(child)
                return
        self._drop(child)

    def _drop(self, child: _Child) -> None:
        with self._lock:
            self._all.discard(child)
        child.kill()


class _Child:
    """One child process with its channel and its log pipe."""

    def __init__(self, function: Function, variables: Mapping[str, str]) -> None:
        self.function = function
        self._fixed = _without_instance(variables)
        self._channel, theirs = socket.socketpair()
        command = [sys.executable, "-c", _BOOT, str(theirs.fileno()), _ROOT]
        with theirs:
            # A session of its own: Ctrl-C at the terminal is the parent's to handle, not the handler's.
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own text
                command,
                env=dict(variables),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._logs = _LogReader(self._process.stdout.fileno() if self._process.stdout else -1)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def fits(self, function: Function, variables: Mapping[str, str]) -> bool:
        return self.alive and self.function == function and self._fixed == _without_instance(variables)

    def load(self) -> None:
        self._channel.settimeout(_START_SECONDS)
        try:
            wire.send(self._channel, asdict(spec_of(self.function)))
            answer, _ = wire.receive(self._channel)
        except (wire.Closed, TimeoutError):
            reason = "the process ended while it was imported: " + self._logs.rest().strip()[-2000:]
            raise HandlerNotLoadable(self.function, str(self.function.code), reason) from None
        if not answer["ok"]:
            raise HandlerNotLoadable(self.function, answer["file"], answer["reason"])

    def call(self, event: bytes, request_id: str, timeout: float) -> InvokeResult:
        begin = time.monotonic()
        self._channel.settimeout(timeout)
        error_type = contract.UNHANDLED
        try:
            wire.send(self._channel, {"request_id": request_id}, event)
            answer, body = wire.receive(self._channel)
            error_type = answer["error_type"]
            logs = self._logs.until(request_id)
        except TimeoutError:
            self._end()
            body, logs = contract.timeout_body(timeout, 0), self._logs.rest()
        except wire.Closed:
            self._end()
            body, logs = contract.exit_body(_milliseconds(begin), 0), self._logs.rest()
        return InvokeResult(request_id, body, error_type, logs=logs, duration_ms=_milliseconds(begin))

    def kill(self) -> None:
        self._end()
        self._channel.close()

    def _end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        self._logs.join()
        if self._process.stdout:
            self._process.stdout.close()


class _LogReader:
    """Drains a child's output, so that it never blocks, and cuts it by request."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._text = bytearray()
        self._news = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._read, name="local-sim-logs", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._descriptor, 1 << 16)
            except OSError:
                part = b""
            with self._news:
                self._text += part
                self._ended = not part
                self._news.notify_all()
            if not part:
                return

    def until(self, request_id: str) -> str:
        """Return what was printed up to the end of a request."""
        mark = f"{LOG_END}{request_id}\n".encode()
        with self._news:
            self._news.wait_for(lambda: mark in self._text or self._ended, timeout=5)
            text, _, rest = bytes(self._text).partition(mark)
            self._text = bytearray(rest)
        return text.decode(errors="replace")

    def rest(self) -> str:
        """Return everything printed until the child's end."""
        with self._news:
            self._news.wait_for(lambda: self._ended, timeout=5)
            text = bytes(self._text)
            self._text.clear()
        return text.decode(errors="replace")

    def join(self) -> None:
        """Wait for the reader to see the end of the pipe; a grandchild may hold it open, so not for ever."""
        self._thread.join(timeout=1)


def _without_instance(variables: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in variables.items() if key != "FC_INSTANCE_ID"}


def _milliseconds(begin: float) -> int:
    return int((time.monotonic() - begin) * 1000)
