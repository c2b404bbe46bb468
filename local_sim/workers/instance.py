"""One child process: an instance of a function with its channel, its log and its limits."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from local_sim.project import Function

from . import contract, wire
from .child import INITIALIZE, INVOKE, PRE_STOP
from .environment import spec_of
from .errors import HandlerNotLoadable
from .logs import LogReader
from .model import InstanceInfo, InvokeResult

_logger = logging.getLogger(__name__)
_ROOT = str(Path(__file__).resolve().parents[2])
# The package's own folder is on the path just long enough to import the child, so that it never hides a handler's
# modules.
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[2]); from local_sim.workers.child import main; "
    "sys.path.remove(sys.argv[2]); main(int(sys.argv[1]))"
)
_START_SECONDS = 60.0
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class FunctionProcess:
    """An instance. `load` it, then `call` it, one call at a time; `retire` or `kill` ends it.

    With a `debug_port` it waits for a debugger before it loads, and has neither timeouts nor a memory limit.
    """

    def __init__(self, function: Function, variables: Mapping[str, str], interpreter: str, debug_port: int = 0) -> None:
        self.function = function
        self.info = InstanceInfo(variables["FC_INSTANCE_ID"], function.name, function.version)
        self.idle_since: float | None = None
        self._debug_port = debug_port
        self._fixed = without_instance(variables)
        self._ready = function.initializer is None
        self._over_mb = 0
        self._ended = False
        self._channel, theirs = socket.socketpair()
        with theirs:
            # A session of its own: Ctrl-C at the terminal is the parent's to handle, not the handler's.
            self._process = subprocess.Popen(  # noqa: S603 - an interpreter we chose and our own text
                [interpreter, "-c", _BOOT, str(theirs.fileno()), _ROOT],
                env=dict(variables),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._logs = LogReader(self._process.stdout.fileno() if self._process.stdout else -1)

    @property
    def alive(self) -> bool:
        """True while the process runs."""
        return self._process.poll() is None

    def fits(self, function: Function, variables: Mapping[str, str]) -> bool:
        """Say whether the instance can take a call of `function` with this environment."""
        return self.alive and self.function == function and self._fixed == without_instance(variables)

    def load(self) -> None:
        """Let the process import the function. Raises HandlerNotLoadable."""
        self._channel.settimeout(None if self._debug_port else _START_SECONDS)
        try:
            wire.send(self._channel, asdict(spec_of(self.function, self._debug_port)))
            answer, _ = wire.receive(self._channel)
        except (wire.Closed, TimeoutError):
            reason = "the process ended while it was imported: " + self._logs.rest().strip()[-2000:]
            raise HandlerNotLoadable(self.function, str(self.function.code), reason) from None
        if not answer["ok"]:
            raise HandlerNotLoadable(self.function, answer["file"], answer["reason"])

    def call(self, event: bytes, request_id: str, timeout: float) -> InvokeResult:
        """Run the handler on an event, after the initializer in a new instance. Seconds."""
        before = ""
        if not self._ready:
            started = self._exchange(INITIALIZE, b"", request_id, self.function.initializer_timeout)
            if started.failed:
                return dataclasses.replace(started, error_type=contract.INITIALIZATION)
            self._ready, before = True, started.logs
        result = self._exchange(INVOKE, event, request_id, timeout)
        return dataclasses.replace(result, logs=before + result.logs)

    def check_memory(self) -> None:
        """End the process when it holds more memory than its function may (C01)."""
        used = 0 if self._debug_port else _resident_mb(self._process.pid)
        if used > self.function.memory:
            self._over_mb = used
            self._signal()

    def retire(self) -> None:
        """End an idle instance in order: its pre-stop hook runs first; its log is the server's (section 4)."""
        if self.function.pre_stop and self._ready and self.alive:
            result = self._exchange(PRE_STOP, b"", uuid.uuid4().hex, self.function.pre_stop_timeout)
            _logger.info("pre-stop of %s (%s): %s", self.function.name, self.info.id, result.logs.strip() or "done")
        self.kill()

    def kill(self) -> None:
        """End the instance at once."""
        self._end()
        self._channel.close()

    def _exchange(self, hook: str, event: bytes, request_id: str, timeout: float) -> InvokeResult:
        begin = time.monotonic()
        self._channel.settimeout(None if self._debug_port else timeout)
        error_type = contract.UNHANDLED
        try:
            wire.send(self._channel, {"request_id": request_id, "hook": hook}, event)
            answer, body = wire.receive(self._channel)
            error_type, memory = answer["error_type"], answer["memory"]
            logs = self._logs.until(request_id)
            if memory > self.function.memory and not self._debug_port:  # between two looks of check_memory
                self._over_mb = memory
                raise wire.Closed
        except TimeoutError:
            memory = contract.peak_memory_mb(self._process.pid)
            self._end()
            body, logs = contract.timeout_body(timeout, memory), self._logs.rest()
        except wire.Closed:
            memory = self._over_mb or contract.peak_memory_mb(self._process.pid)
            self._end()
            error_type = contract.UNHANDLED
            body, logs = contract.exit_body(_milliseconds(begin), memory), self._logs.rest()
        return InvokeResult(
            request_id,
            body,
            error_type,
            logs=logs,
            duration_ms=_milliseconds(begin),
            memory_mb=memory,
            instance=self.info.id,
        )

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._signal()
        self._process.wait()
        self._logs.join()
        if self._process.stdout:
            self._process.stdout.close()

    def _signal(self) -> None:
        # The whole session: what a handler started goes with its instance, as in the cloud.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def without_instance(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that all instances of a function share."""
    return {key: value for key, value in variables.items() if key != "FC_INSTANCE_ID"}


def _resident_mb(process: int) -> int:
    try:
        pages = Path("/proc", str(process), "statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * _PAGE >> 20


def _milliseconds(begin: float) -> int:
    return int((time.monotonic() - begin) * 1000)
