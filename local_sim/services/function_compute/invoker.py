"""Runs a function: resolves the qualifier, keeps to its concurrency, calls a worker in a thread, masks its log."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor

from local_sim.project import Function, ProjectError
from local_sim.workers import InstanceInfo, InstanceKeeper, InvokeResult, Worker, WorkerError

from .catalog import Catalog
from .errors import EntityTooLarge, Exhausted, FunctionComputeError, InvalidArgument
from .functions import check_enabled
from .records import FunctionRecord
from .settings import SettingActions
from .watch import VARIABLE, CodeWatch

SYNC_BYTES = 32 * 1024 * 1024
ASYNC_BYTES = 128 * 1024
_TAIL_BYTES = 4096
_SECRET_WORDS = ("SECRET", "TOKEN", "PASSWORD", "ACCESS_KEY", "API_KEY")
_OFFLINE_SECRETS = ("offline-access-key-secret", "offline-security-token")
_SHORTEST_SECRET = 6


class Invoker:
    """Invokes functions by name and qualifier; many at once, on the threads of `pool`."""

    def __init__(self, catalog: Catalog, settings: SettingActions, worker: Worker, pool: Executor) -> None:
        self._catalog = catalog
        self._settings = settings
        self._worker = worker
        self._pool = pool
        self._watch = CodeWatch()
        self._running: Counter[str] = Counter()

    def running(self, name: str) -> int:
        """Return how many invocations of a function are in progress."""
        return self._running[name]

    def instances(self, name: str, version: str | None) -> Sequence[InstanceInfo]:
        """Return the instances of a function, of one of its versions or of all; none where the worker keeps none."""
        kept = self._worker.instances() if isinstance(self._worker, InstanceKeeper) else ()
        return [info for info in kept if info.function == name and version in (None, info.version)]

    async def invoke(
        self, name: str, qualifier: str | None, event: bytes, request_id: str, *, limit: int = SYNC_BYTES
    ) -> tuple[FunctionRecord, InvokeResult]:
        """Run the handler and return what ran and how it ended. Raises FunctionComputeError when FC would refuse."""
        if len(event) > limit:
            raise EntityTooLarge("the event", len(event), limit)
        record = self._catalog.resolve(name, qualifier)
        check_enabled(self._catalog, name)
        reserved = self._settings.reserved_concurrency(name)
        if reserved is not None and self._running[name] >= reserved:
            raise Exhausted(f"function '{name}' already runs {reserved} requests, its reserved concurrency")
        function = self._catalog.worker_function(record)
        self._running[name] += 1
        try:
            return record, await self._run(record, function, event, request_id)
        finally:
            self._running[name] -= 1

    async def _run(self, record: FunctionRecord, function: Function, event: bytes, request_id: str) -> InvokeResult:
        loop = asyncio.get_running_loop()
        try:
            result = await loop.run_in_executor(self._pool, self._call, record, function, event, request_id)
        except (ProjectError, WorkerError) as error:
            raise InvalidArgument(str(error)) from error
        except RuntimeError as error:  # the pool or the worker is closed: the server is stopping
            raise FunctionComputeError(f"the server is stopping: {error}") from error
        return dataclasses.replace(result, logs=mask(result.logs, function.environment))

    def _call(self, record: FunctionRecord, function: Function, event: bytes, request_id: str) -> InvokeResult:
        if record.from_project:
            stamp = self._watch.stamp((function.code, *function.beside))
            function = dataclasses.replace(function, environment={**function.environment, VARIABLE: stamp})
        return self._worker.invoke(function, event, request_id)


def mask(logs: str, environment: Mapping[str, str]) -> str:
    """Return the log with credentials replaced by asterisks."""
    own = [
        value
        for key, value in environment.items()
        if any(word in key.upper() for word in _SECRET_WORDS) and len(value) >= _SHORTEST_SECRET
    ]
    for secret in sorted({*own, *_OFFLINE_SECRETS}, key=len, reverse=True):
        logs = logs.replace(secret, "*" * 6)
    return logs


def result_headers(record: FunctionRecord, result: InvokeResult, log_type: str | None) -> dict[str, str]:
    """Return the headers of an answer (function-compute page, section 5.2)."""
    headers = {
        "X-Fc-Request-Id": result.request_id,
        "X-Fc-Code-Checksum": record.code.checksum,
        "X-Fc-Invocation-Service-Version": record.version,
        "X-Fc-Invocation-Duration": str(result.duration_ms),
    }
    if result.instance:
        headers["X-Fc-Instance-Id"] = result.instance
    if result.memory_mb:
        headers["X-Fc-Max-Memory-Usage"] = str(result.memory_mb)
    if result.error_type:
        headers["X-Fc-Error-Type"] = result.error_type
    if (log_type or "").lower() == "tail":
        headers["X-Fc-Log-Result"] = base64.b64encode(log_text(result)[-_TAIL_BYTES:]).decode()
    return headers


def log_text(result: InvokeResult) -> bytes:
    """Return the log of a request between the lines that FC writes around it."""
    body = result.logs if not result.logs or result.logs.endswith("\n") else result.logs + "\n"
    lines = f"FC Invoke Start RequestId: {result.request_id}\n{body}FC Invoke End RequestId: {result.request_id}\n"
    return lines.encode("utf-8", "replace")
