"""Carries out what the engines ask for: calls, sub-flows, children of Maps. Results come back as events."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Coroutine
from concurrent.futures import Executor
from typing import Any

from local_sim.actions import Actions, Call, CallFailed, CallSucceeded, Outcome
from local_sim.actions.map_io import map_call, map_event
from local_sim.actions.registry import FUNCTION
from local_sim.actions.subflow import ACTION as START_FLOW
from local_sim.definition.model import TaskMode
from local_sim.engine import (
    CancelChild,
    CancelTask,
    Command,
    Event,
    InvokeTask,
    ReadItems,
    RunChild,
    Status,
    TaskFailed,
    TaskSubmitted,
    TaskSucceeded,
    WriteResults,
)
from local_sim.journal.served import ServedRecord
from local_sim.services.cloudflow import CloudFlowError
from local_sim.services.function_compute import FunctionComputeError, FunctionComputeService, TaskRecord
from local_sim.workers import InvokeResult

from .children import Children
from .function_calls import FunctionCall, invoke, outcome_of, read_function_call
from .hub import Hub
from .invocation_logs import InvocationLog, InvocationLogs
from .live import ServedLive
from .reports import Reports

_logger = logging.getLogger(__name__)
_ONCE = "AsyncTaskAlreadyExists"


class ServedCarrier:
    """The server's Carrier. `pool` runs calls that block."""

    def __init__(
        self,
        hub: Hub,
        functions: FunctionComputeService,
        children: Children,
        reports: Reports,
        actions: Actions,
        pool: Executor,
        logs: InvocationLogs,
    ) -> None:
        self._hub = hub
        self._functions = functions
        self._children = children
        self._reports = reports
        self._actions = actions
        self._pool = pool
        self._logs = logs
        self._running: set[asyncio.Task[None]] = set()
        self._closed = False

    def carry_out(self, live: ServedLive, command: Command) -> None:
        """Begin what a command asks for."""
        if isinstance(command, InvokeTask):
            self._spawn(self._task(live, command))
        elif isinstance(command, CancelTask):
            self._children.cancel_subflow(live, command.task_id)
        elif isinstance(command, RunChild):
            self._children.run(live, command)
        elif isinstance(command, CancelChild):
            self._children.cancel(live, command)
        elif isinstance(command, ReadItems | WriteResults):
            self._spawn(self._map_io(live, command))

    def ended(self, live: ServedLive) -> None:
        """Tell whoever waits for the end: a distributed Map, or the task behind a callback token."""
        self._children.ended(live)
        if live.served.callback_token:
            engine = live.engine
            self._spawn(self._tell(live.served, engine.status, engine.output, engine.error, engine.cause))

    @property
    def busy(self) -> bool:
        """True while a call is in progress."""
        return bool(self._running)

    def take_up(self) -> None:
        """Tell the ends that an earlier process had no time to tell."""
        for served in self._hub.reader.untold():
            record = served.execution
            self._spawn(self._tell(served, record.status, record.output, record.error, record.cause))

    async def report(self, token: str, task: TaskRecord, result: InvokeResult) -> None:
        """Tell a flow's task how the async invocation it waits for has ended (WaitForSystemCallback)."""
        outcome = outcome_of(result)
        try:
            if isinstance(outcome, CallSucceeded):
                await self._reports.succeed(token, outcome.output)
            else:
                await self._reports.fail(token, outcome.error, outcome.cause)
        except CloudFlowError as error:
            _logger.info("nobody waits for request %s any more: %s", task.request_id, error.message)

    async def close(self) -> None:
        """Begin nothing any more; calls in progress are carried out again after the next start."""
        self._closed = True
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        if self._closed:
            work.close()
            return
        running = asyncio.get_running_loop().create_task(self._guarded(work))
        self._running.add(running)
        running.add_done_callback(self._running.discard)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            _logger.exception("the server failed while carrying out a task")

    async def _task(self, live: ServedLive, command: InvokeTask) -> None:
        call = self._call(live, command)
        try:
            outcome = await self._carry(live, command, call)
        except Exception as error:
            _logger.exception("task %s of %s could not be carried out", "/".join(command.path), live.record.name)
            outcome = CallFailed("FnF.InternalError", f"{type(error).__name__}: {error}")
        if outcome is not None:
            log = InvocationLog(command.path[-1], command.attempt, self._hub.now(live), outcome.logs)
            self._logs.add(live.id, log)
            self._answer(live, command, outcome)

    async def _carry(self, live: ServedLive, command: InvokeTask, call: Call) -> Outcome | None:
        """Return how a call ended; None when its end is reported later by its token."""
        if call.action == FUNCTION and not self._actions.overrides(FUNCTION):
            return await self._function(live, command, call)
        if call.action == START_FLOW:
            outcome = await self._children.start_subflow(live, command, call)
            return self._unless_awaited(live, command, outcome)
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._actions.run, call)

    async def _function(self, live: ServedLive, command: InvokeTask, call: Call) -> Outcome | None:
        wanted = read_function_call(self._functions, call.parameters)
        if isinstance(wanted, CallFailed):
            return wanted
        if not wanted.asynchronous:
            return await invoke(self._functions, wanted, call.request_id)
        outcome = self._submit(command, wanted, call.request_id)
        await self._functions.queue.accepted()
        return self._unless_awaited(live, command, outcome)

    def _unless_awaited(self, live: ServedLive, command: InvokeTask, outcome: Outcome) -> Outcome | None:
        """With the system callback the outcome so far is only that the call was accepted."""
        if command.mode is not TaskMode.SYSTEM_CALLBACK or isinstance(outcome, CallFailed):
            return outcome
        self._submitted(live, command, outcome)
        return None

    def _submit(self, command: InvokeTask, wanted: FunctionCall, request_id: str) -> Outcome:
        token = command.token if command.mode is TaskMode.SYSTEM_CALLBACK else None
        try:
            self._functions.queue.submit(
                wanted.name, wanted.qualifier, wanted.event, request_id, callback_token=token or ""
            )
        except FunctionComputeError as error:
            # The same attempt carried out again after a restart: it was accepted the first time.
            if error.code != _ONCE:
                return CallFailed(f"FC.{error.code}", error.message)
        return CallSucceeded({"RequestId": request_id})

    def _submitted(self, live: ServedLive, command: InvokeTask, outcome: CallSucceeded) -> None:
        task = live.tasks.get(command.task_id)
        if task is not None and not task.submitted:
            self._send(live, command, TaskSubmitted(self._hub.now(live), command.task_id, outcome.output))

    def _answer(self, live: ServedLive, command: InvokeTask, outcome: Outcome) -> None:
        """A call returned: that ends a RequestComplete task, and submits a task of a callback mode."""
        now, task_id = self._hub.now(live), command.task_id
        if isinstance(outcome, CallFailed):
            self._send(live, command, TaskFailed(now, task_id, outcome.error, outcome.cause))
            return
        if command.mode is not TaskMode.REQUEST_COMPLETE:
            self._submitted(live, command, outcome)
        if command.mode is not TaskMode.CUSTOM_CALLBACK:
            self._send(live, command, TaskSucceeded(now, task_id, outcome.output))

    def _send(self, live: ServedLive, command: InvokeTask, event: Event) -> None:
        """Post a task's event, unless the task has timed out or was cancelled meanwhile."""
        if command.task_id in live.tasks and not live.ended:
            self._hub.post(live, event)

    async def _tell(self, served: ServedRecord, status: Status, output: Any, error: str, cause: str) -> None:
        """Report an execution's end to the task that waits for it (S15)."""
        try:
            if status is Status.SUCCEEDED:
                await self._reports.succeed(served.callback_token, output)
            else:
                await self._reports.fail(served.callback_token, error or f"FnF.Execution{status.value}", cause)
        except CloudFlowError as failure:
            _logger.info("nobody waits for execution %s any more: %s", served.execution.name, failure.message)
        self._hub.told(served.execution.id)

    async def _map_io(self, live: ServedLive, command: ReadItems | WriteResults) -> None:
        call = map_call(live.record.name, command)
        outcome = await asyncio.get_running_loop().run_in_executor(self._pool, self._actions.run, call)
        if not live.ended:
            self._hub.post(live, map_event(command, outcome, self._hub.now(live)))

    def _call(self, live: ServedLive, command: InvokeTask) -> Call:
        return Call(
            execution=live.record.name,
            path=command.path,
            action=command.action,
            mode=command.mode,
            parameters=command.parameters,
            request_id=_request_id(live, command),
            attempt=command.attempt,
            token=command.token,
        )


def _request_id(live: ServedLive, command: InvokeTask) -> str:
    """Return an id of FC's form that is the same each time the same attempt is carried out."""
    text = f"{live.id}#{live.record.name}#{command.task_id}".encode()
    tail = hashlib.sha256(live.record.secret + text).hexdigest()[:24]
    return f"1-{live.record.created_ms // 1000:08x}-{tail}"
