"""Async invocations: accepted durably, run with retries, their results sent on (function-compute page, section 8)."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import re
from collections.abc import Awaitable, Callable

from local_sim.services.alarms import Alarms
from local_sim.workers import InvokeResult

from . import task_store as states
from .calls import Outside
from .catalog import Catalog
from .destinations import Destinations, result_document
from .errors import Conflict, EntityTooLarge, Exhausted, FunctionComputeError, InvalidArgument, NotFound
from .invoker import ASYNC_BYTES, Invoker
from .records import LATEST, TaskRecord
from .settings import SettingActions
from .task_store import TaskStore

_logger = logging.getLogger(__name__)
_TASK_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,127}", re.ASCII)
_FIRST_BACKOFF_MS = 500
_LONGEST_BACKOFF_MS = 300_000
_KEPT_RESULT = 1024 * 1024
LONGEST_DELAY_MS = 3600 * 1000
"""The most an invocation may be put off. Ours: no page gives one (S10)."""

Report = Callable[[str, TaskRecord, InvokeResult], Awaitable[None]]
"""Called with a flow's token, the task and its last result, once the task is over."""


class AsyncQueue:
    """Keeps and runs async invocations. All methods belong on the event loop."""

    def __init__(
        self,
        store: TaskStore,
        flush: Callable[[], Awaitable[None]],
        catalog: Catalog,
        settings: SettingActions,
        invoker: Invoker,
        destinations: Destinations,
        outside: Outside,
        alarms: Alarms,
        *,
        at_once: int = 16,
    ) -> None:
        self._store = store
        self._flush = flush
        self._catalog = catalog
        self._settings = settings
        self._invoker = invoker
        self._destinations = destinations
        self._outside = outside
        self._alarms = alarms
        self._room = asyncio.Semaphore(at_once)
        self._running: set[asyncio.Task[None]] = set()
        self._report: Report | None = None

    @property
    def busy(self) -> bool:
        """True while an attempt or a report is in progress."""
        return bool(self._running)

    def on_report(self, report: Report) -> None:
        """Name who is told when the task of a flow is over."""
        self._report = report

    def submit(
        self,
        name: str,
        qualifier: str | None,
        payload: bytes,
        request_id: str,
        *,
        task_id: str | None = None,
        delay_ms: int = 0,
        callback_token: str = "",
    ) -> TaskRecord:
        """Accept an invocation; whoever acknowledges it calls `accepted` first.

        Raises EntityTooLarge, InvalidArgument, NotFound, or Conflict for a task id that the function has had.
        """
        if len(payload) > ASYNC_BYTES:
            raise EntityTooLarge("the event of an async invocation", len(payload), ASYNC_BYTES)
        if task_id is not None and not _TASK_ID.fullmatch(task_id):
            raise InvalidArgument(
                "x-fc-async-task-id: a letter or '_' first, then letters, digits, '_' and '-', 1 to 128"
            )
        if not 0 <= delay_ms <= LONGEST_DELAY_MS:
            raise InvalidArgument(f"x-fc-async-delay: 0 to {LONGEST_DELAY_MS // 1000} seconds")
        self._catalog.resolve(name, qualifier)
        config = self._settings.async_config(name, qualifier or LATEST)
        now = self._outside.now_ms()
        task = TaskRecord(
            function=name,
            qualifier=qualifier or LATEST,
            task_id=task_id or request_id,
            request_id=request_id,
            payload=payload,
            status=states.ENQUEUED,
            is_task=config.asyncTask or task_id is not None,
            created_ms=now,
            due_ms=now + delay_ms,
            expires_ms=now + delay_ms + config.maxAsyncEventAgeInSeconds * 1000,
            callback_token=callback_token,
            events=((now, states.ENQUEUED, ""),),
        )
        if not self._store.add(task):
            raise Conflict("AsyncTaskAlreadyExists", f"function '{name}' already has an async task '{task.task_id}'")
        self._schedule(task)
        return task

    async def accepted(self) -> None:
        """Return once everything that was submitted is on the disk."""
        await self._flush()

    def resume(self) -> None:
        """Queue again what an earlier process accepted; what it was running runs again (at-least-once)."""
        for task in self._store.open_tasks():
            if task.status not in states.OPEN:
                self._spawn(self._report_end(task, InvokeResult(task.request_id, task.result, task.error)))
            elif task.status == states.RUNNING:
                again = dataclasses.replace(task, attempts=max(task.attempts - 1, 0), due_ms=self._outside.now_ms())
                self._schedule(self._change(again, states.ENQUEUED, "the server was restarted"))
            else:
                self._schedule(task)

    def stop(self, name: str, task_id: str) -> None:
        """End a task; a handler in progress runs on, but its result counts no more. Raises NotFound."""
        task = self._store.get(name, task_id)
        if task is None:
            raise NotFound("AsyncTaskNotFound", f"async task '{task_id}' of function '{name}' does not exist")
        if task.status in states.OPEN:
            ended = dataclasses.replace(task, ended_ms=self._outside.now_ms(), error="stopped by the caller")
            self._change(ended, states.STOPPED)
            self._spawn(self._report_end(ended, InvokeResult(task.request_id, b"", "AsyncTaskStopped")))

    async def close(self) -> None:
        """Wait for nothing any more; what was running runs again after the next start."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _schedule(self, task: TaskRecord) -> None:
        if task.due_ms <= self._outside.now_ms():
            self._spawn(self._attempt(task.function, task.task_id))
        else:
            self._alarms.set(task.due_ms, lambda: self._spawn(self._attempt(task.function, task.task_id)))

    def _spawn(self, work: Awaitable[None]) -> None:
        running = asyncio.ensure_future(self._guarded(work))
        self._running.add(running)
        running.add_done_callback(self._running.discard)

    async def _guarded(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception:
            _logger.exception("an async invocation failed inside the service")

    async def _attempt(self, name: str, task_id: str) -> None:
        async with self._room:
            task = self._store.get(name, task_id)
            if task is None or task.status not in states.OPEN:
                return
            now = self._outside.now_ms()
            if now > task.expires_ms:
                await self._end(task, states.EXPIRED, InvokeResult(task.request_id, b"", "EventExpired"))
                return
            begun = dataclasses.replace(task, attempts=task.attempts + 1, started_ms=task.started_ms or now)
            running = self._change(begun, states.RUNNING)
            await self._settle(running, await self._call(running))

    async def _call(self, task: TaskRecord) -> InvokeResult | FunctionComputeError:
        try:
            _, result = await self._invoker.invoke(task.function, task.qualifier, task.payload, task.request_id)
        except FunctionComputeError as error:
            return error
        return result

    async def _settle(self, task: TaskRecord, result: InvokeResult | FunctionComputeError) -> None:
        current = self._store.get(task.function, task.task_id)
        if current is None or current.status != states.RUNNING:
            return  # stopped meanwhile, or the function is gone
        if isinstance(result, Exhausted):
            # Throttling is retried until the event is too old and does not use up an attempt.
            self._retry(dataclasses.replace(task, attempts=task.attempts - 1), result.message)
        elif isinstance(result, NotFound):
            await self._end(task, states.INVALID, InvokeResult(task.request_id, result.message.encode(), result.code))
        elif isinstance(result, FunctionComputeError):
            await self._end(task, states.FAILED, InvokeResult(task.request_id, result.message.encode(), result.code))
        elif not result.failed:
            await self._end(task, states.SUCCEEDED, result)
        elif task.attempts <= self._settings.async_config(task.function, task.qualifier).maxAsyncRetryAttempts:
            self._retry(task, result.error_type)
        else:
            await self._end(task, states.FAILED, result)

    def _retry(self, task: TaskRecord, why: str) -> None:
        tried = sum(1 for _, status, _ in task.events if status == states.RETRYING)
        pause = min(_FIRST_BACKOFF_MS * 2 ** min(tried, 20), _LONGEST_BACKOFF_MS)
        later = dataclasses.replace(task, due_ms=self._outside.now_ms() + pause)
        self._schedule(self._change(later, states.RETRYING, why))

    async def _end(self, task: TaskRecord, status: str, result: InvokeResult) -> None:
        ended = dataclasses.replace(
            task,
            ended_ms=self._outside.now_ms(),
            error=result.error_type,
            result=result.body[:_KEPT_RESULT],
        )
        config = self._settings.async_config(task.function, task.qualifier).destinationConfig
        wanted = config and (config.onSuccess if status == states.SUCCEEDED else config.onFailure)
        if wanted and wanted.destination:
            delivered = self._deliver(wanted.destination, ended, result)
            ended = dataclasses.replace(ended, destination_status=delivered)
        await self._report_end(self._change(ended, status, result.error_type), result)

    def _deliver(self, destination: str, task: TaskRecord, result: InvokeResult) -> str:
        document = result_document(task, result, self._catalog.arn(task.function, task.qualifier))
        target = self._destinations.function_of(destination)
        try:
            if target is None:
                self._destinations.keep(destination, document)
            else:
                payload = json.dumps(document, ensure_ascii=False).encode()
                self.submit(target[0], target[1], payload, self._destinations.request_id())
        except (FunctionComputeError, OSError) as error:
            _logger.warning("the result of %s could not be sent to %s: %s", task.request_id, destination, error)
            return states.FAILED
        return states.SUCCEEDED

    async def _report_end(self, task: TaskRecord, result: InvokeResult) -> None:
        if task.callback_token and self._report is not None:
            await self._flush()
            await self._report(task.callback_token, task, result)
            current = self._store.get(task.function, task.task_id) or task
            self._store.put(dataclasses.replace(current, callback_token=""))

    def _change(self, task: TaskRecord, status: str, detail: str = "") -> TaskRecord:
        events = (*task.events, (self._outside.now_ms(), status, detail))
        changed = dataclasses.replace(task, status=status, events=events)
        self._store.put(changed)
        return changed
