"""Runs functions in a world: instances, deliveries, and the faults of a task's start and end.

An instance is one process of a function: it is kept warm, works on one event at a time, and what its modules remember
is its own. A delivery is one event on its way; it may reach two workers, and then the first answer counts.
"""

from __future__ import annotations

import io
import itertools
import json
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from local_sim.project import Function
from local_sim.workers import WorkerEnvironment, contract
from local_sim.workers.environment import spec_of
from local_sim.workers.model import InvokeResult

from .faults import ERROR
from .fibers import Fiber, Hub, Instance
from .model import Boundary, BoundaryKind
from .world import encoded

Choose = Callable[[Boundary], "str | None"]
"""Told of a boundary; returns the fault to inject there, None for none."""


@dataclass(frozen=True)
class Task:
    """The state a call belongs to: its name, its try from 0, when its Timeout ends it, and its path from the root."""

    state: str
    attempt: int = 0
    due_ms: int | None = None
    path: tuple[str, ...] = ()


@dataclass
class Delivery:
    """One event for one function. `result` is the first answer."""

    function: Function
    event: bytes
    request_id: str
    task: Task
    result: InvokeResult | None = None


@dataclass
class _Invocation:
    delivery: Delivery
    answer: contract.Answer | None = None
    logs: io.StringIO = field(default_factory=io.StringIO)


class Functions:
    """A Worker over fibers. `brief` says that boundaries need no labels any more: no fault can come."""

    concurrent = True

    def __init__(self, hub: Hub, environment: WorkerEnvironment, choose: Choose) -> None:
        self.hub = hub
        self.choose = choose
        self.brief: Callable[[], bool] = lambda: False
        self._environment = environment
        self._world = Instance(0, "")
        self._ids = itertools.count(1)  # never given twice: locks and caches are kept by it
        self.reset()

    def reset(self) -> None:
        """Begin anew: no instances, nothing under way."""
        self.tasks: dict[str, Task] = {}
        self.under_way = 0
        self.logs: list[str] = []
        self._new: Mapping[str, str] = {}
        self._idle: dict[str, list[Instance]] = {}
        self._variables: dict[str, dict[str, str]] = {}

    def prepare(self, function: Function) -> None:
        """Load the handler once, so that it is imported. Raises HandlerNotLoadable."""
        from local_sim.workers.errors import HandlerNotLoadable

        try:
            contract.Instance(spec_of(function))
        except contract.NotLoadable as error:
            raise HandlerNotLoadable(function, error.file, error.reason) from error

    def close(self) -> None:
        """Do nothing: the process ends."""

    def deploy(self, variables: Mapping[str, str]) -> None:
        """Deploy another version: its variables differ, and no instance of the old one takes another event."""
        self._new = dict(variables)
        self._variables.clear()
        self._idle.clear()

    def invoke(
        self, function: Function, event: bytes, request_id: str, *, timeout: float | None = None
    ) -> InvokeResult:
        """Deliver an event and wait for the first answer, with the faults of the task's start and end."""
        task = self.tasks.get(request_id, Task(function.name))
        delivery = Delivery(function, event, request_id, task)
        return self._end(delivery, self._start(delivery))

    def _start(self, delivery: Delivery) -> InvokeResult:
        fault = self.choose(self._boundary(delivery, BoundaryKind.START))
        request_id = delivery.request_id
        if fault == "crash_before":
            return _exited(request_id)
        if fault == "throttled":
            return InvokeResult(request_id, b"too many requests", status=429, code="ResourceThrottled")
        if fault is not None and fault.startswith(ERROR):
            return _raised(request_id, fault.removeprefix(ERROR))
        if fault == "slow_timeout":
            self.sleep_past(delivery.task)
        self.deliver(delivery)
        if fault is not None and fault.startswith("twice"):
            self.hub.random.seed(f"{self.hub.seed} {fault}")
            self.deliver(delivery)
        self.hub.wait(lambda: delivery.result is None, None)
        assert delivery.result is not None
        return delivery.result

    def _end(self, delivery: Delivery, result: InvokeResult) -> InvokeResult:
        fault = self.choose(self._boundary(delivery, BoundaryKind.END))
        if fault == "crash_after":
            self._idle.pop(delivery.function.name, None)
            return _exited(delivery.request_id)
        if fault == "reply_lost":
            return InvokeResult(delivery.request_id, b"internal error", status=500, code="InternalServerError")
        if fault == "slow_timeout":
            self.sleep_past(delivery.task)
        return result

    def sleep_past(self, task: Task) -> None:
        """Let the current fiber sleep until the state's Timeout is just over."""
        if task.due_ms is not None:
            self.hub.sleep((task.due_ms + 1000) / 1000 - self.hub.clock.now_us / 1_000_000)

    def _boundary(self, delivery: Delivery, kind: BoundaryKind) -> Boundary:
        task = delivery.task
        return Boundary(0, kind, task.state, task.attempt, delivery.function.name, due_ms=task.due_ms)

    def deliver(self, delivery: Delivery, after_s: float = 0) -> None:
        """Give the event to a worker, in so many seconds."""
        self.under_way += 1

        def work() -> None:
            try:
                if after_s:
                    self.hub.sleep(after_s)
                result = self._run(delivery)
                if delivery.result is None:
                    delivery.result = result
            finally:
                self.under_way -= 1

        self.hub.spawn(self._world, work)

    def _run(self, delivery: Delivery) -> InvokeResult:
        function = delivery.function
        instance = self._take(function)
        invocation = _Invocation(delivery)
        begin = self.hub.clock.now_us
        fiber = self.hub.spawn(instance, lambda: self._handle(instance, invocation))
        fiber.logs = invocation.logs
        instance.call = delivery
        self.hub.wait(lambda: not instance.dead and invocation.answer is None, None)
        self.logs.append(invocation.logs.getvalue())
        elapsed_s = (self.hub.clock.now_us - begin) / 1_000_000
        if instance.dead or invocation.answer is None:
            return _exited(delivery.request_id)
        instance.idle = True
        self._idle.setdefault(function.name, []).append(instance)
        if elapsed_s > function.timeout:
            body = contract.timeout_body(function.timeout, function.memory)
            return InvokeResult(delivery.request_id, body, contract.UNHANDLED)
        answer = invocation.answer
        return InvokeResult(delivery.request_id, answer.body, answer.error_type)

    def _take(self, function: Function) -> Instance:
        """A warm instance if one is idle, else a new one."""
        idle = self._idle.get(function.name, [])
        if idle:
            instance = idle.pop()
            instance.idle = False
            return instance
        number = next(self._ids)
        if function.name not in self._variables:
            found = self._environment.build(function, "explored")
            self._variables[function.name] = {**found, **self._new}
        return Instance(number, function.name, encoded(self._variables[function.name]))

    def _handle(self, instance: Instance, invocation: _Invocation) -> None:
        delivery = invocation.delivery
        try:
            if instance.handler is None:
                instance.handler = contract.Instance(spec_of(delivery.function))
            answer = instance.handler.call(delivery.event, delivery.request_id)
        except contract.NotLoadable:
            answer = contract.Answer(contract.import_error_body(delivery.function.handler), contract.UNHANDLED)
        except (SystemExit, KeyboardInterrupt):
            self.hub.drop(instance)
            self.hub.die()
        except BaseException as error:  # noqa: BLE001 - whatever leaves a handler ends its process, not the explorer
            traceback.print_exc(file=invocation.logs)
            answer = contract.Answer(contract.error_body(error, instance.handler.spec.code), contract.UNHANDLED)
        if answer.error_type == contract.INITIALIZATION:
            instance.handler = None
        invocation.answer = answer


class Output:
    """Standard output of the handlers: each invocation's own."""

    def __init__(self, hub: Hub, else_to: Any) -> None:
        self._hub, self._else = hub, else_to

    def write(self, text: str) -> int:
        """Write to the log of the invocation at work."""
        fiber: Fiber | None = self._hub.current
        target = fiber.logs if fiber is not None and fiber.logs is not None else self._else
        return int(target.write(text))

    def flush(self) -> None:
        """Do nothing: nothing is held back."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._else, name)


def redirect(hub: Hub) -> None:
    """Let what handlers print go to their invocation's log."""
    sys.stdout = Output(hub, sys.stderr)
    sys.stderr = Output(hub, sys.stderr)


def _exited(request_id: str) -> InvokeResult:
    return InvokeResult(request_id, contract.exit_body(0, 0), contract.UNHANDLED)


def _raised(request_id: str, name: str) -> InvokeResult:
    body = json.dumps({"errorMessage": f"{name}, injected", "errorType": name, "stackTrace": []}).encode()
    return InvokeResult(request_id, body, contract.UNHANDLED)
