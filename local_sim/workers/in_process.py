"""Runs handlers in this process: quick, one at a time, with the process's environment and import path lent to each
call.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from local_sim.project import Function

from . import contract
from .environment import WorkerEnvironment, spec_of
from .errors import HandlerNotLoadable, WorkerError
from .model import InvokeResult


class InProcessWorker:
    """Runs one handler at a time in this process.

    `os.environ` is the function's during a call and restored after it. Functions with different code folders do not see
    each other's modules. A handler that outlives its timeout is not killed: its answer becomes the timeout's once it
    returns (R03). `os._exit` ends the whole process; ProcessWorker takes that too.
    """

    concurrent = False

    def __init__(self, environment: WorkerEnvironment | None = None) -> None:
        self._environment = environment or WorkerEnvironment()
        self._instances: dict[str, contract.Instance] = {}
        self._lock = threading.RLock()

    def prepare(self, function: Function) -> None:
        """Import the handler. Raises HandlerNotLoadable, WorkerError for another runtime, Unresolvable."""
        with self._lock, self._borrowed(function):
            self._instance(function)

    def invoke(
        self, function: Function, event: bytes, request_id: str, *, timeout: float | None = None
    ) -> InvokeResult:
        """Run the handler; see Worker.invoke."""
        limit = function.timeout if timeout is None else timeout
        logs = io.StringIO()
        with self._lock, self._borrowed(function), contextlib.redirect_stdout(logs), contextlib.redirect_stderr(logs):
            begin = time.monotonic()
            answer = self._answer(function, event, request_id, begin)
            elapsed = time.monotonic() - begin
        if elapsed > limit:
            body = contract.timeout_body(limit, contract.memory_mb())
            answer = contract.Answer(body, contract.UNHANDLED)
        return InvokeResult(
            request_id,
            answer.body,
            answer.error_type,
            logs=logs.getvalue(),
            duration_ms=int(elapsed * 1000),
            memory_mb=contract.memory_mb(),
            instance="c-local",
        )

    def _answer(self, function: Function, event: bytes, request_id: str, begin: float) -> contract.Answer:
        try:
            instance = self._instance(function)
        except HandlerNotLoadable:
            return contract.Answer(contract.import_error_body(function.handler), contract.UNHANDLED)
        try:
            answer = instance.call(event, request_id)
        except SystemExit:
            self._instances.pop(function.name, None)
            body = contract.exit_body(int((time.monotonic() - begin) * 1000), contract.memory_mb())
            return contract.Answer(body, contract.UNHANDLED)
        if answer.error_type == contract.INITIALIZATION:
            self._instances.pop(function.name, None)
        return answer

    def close(self) -> None:
        """Forget the loaded handlers; their modules stay imported for the next worker."""
        self._instances.clear()

    def _instance(self, function: Function) -> contract.Instance:
        found = self._instances.get(function.name)
        if found is None or found.spec != spec_of(function):
            require_python(function)
            try:
                found = contract.Instance(spec_of(function))
            except contract.NotLoadable as error:
                raise HandlerNotLoadable(function, error.file, error.reason) from error
            self._instances[function.name] = found
        return found

    @contextlib.contextmanager
    def _borrowed(self, function: Function) -> Iterator[None]:
        variables = self._environment.build(function)
        with borrowed_environment(variables), _MODULES.active(function.code, function.beside):
            yield


@contextlib.contextmanager
def borrowed_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Make `variables` the whole of os.environ until the block ends."""
    saved = dict(os.environ)
    os.environ.clear()
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(saved)


def require_python(function: Function) -> None:
    """Raise WorkerError for a function whose runtime is not Python."""
    if not function.runtime.startswith("python"):
        raise WorkerError(
            function.name,
            f"{function.place}: function {function.name!r} has runtime {function.runtime!r}; only Python runs here",
        )


class _Modules:
    """Keeps the modules of each code folder apart by moving them out of sys.modules while another folder is active."""

    def __init__(self) -> None:
        self._stash: dict[Path, dict[str, ModuleType]] = {}
        self._active: Path | None = None
        self._baseline: frozenset[str] = frozenset()

    @contextlib.contextmanager
    def active(self, code: Path, beside: Sequence[Path] = ()) -> Iterator[None]:
        """Put `code` and `beside` first on sys.path, and the modules of `code` in place, until the block ends."""
        if code != self._active:
            self._leave()
            self._baseline = frozenset(sys.modules)
            sys.modules.update(self._stash.pop(code, {}))
            self._active = code
        entries = [str(code), *map(str, beside)]
        sys.path[:0] = entries
        try:
            yield
        finally:
            for entry in entries:
                with contextlib.suppress(ValueError):
                    sys.path.remove(entry)

    def _leave(self) -> None:
        if self._active is None:
            return
        prefix = str(self._active) + os.sep
        mine = {
            name: module
            for name, module in list(sys.modules.items())
            if name not in self._baseline and name.partition(".")[0] != "local_sim" and _below(module, prefix)
        }
        for name in mine:
            del sys.modules[name]
        self._stash[self._active] = mine
        self._active = None


# One for the whole process, because sys.modules is: workers of several projects may take turns.
_MODULES = _Modules()


def borrowed_modules(code: Path) -> contextlib.AbstractContextManager[None]:
    """Put a code folder first on the import path, with its modules in place, until the block ends."""
    return _MODULES.active(code)


def _below(module: ModuleType, prefix: str) -> bool:
    origin = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", None) or []), "")
    return origin.startswith(prefix) and "site-packages" not in origin
