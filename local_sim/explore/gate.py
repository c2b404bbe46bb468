"""Every request of a handler passes here: it is told to the explorer, and meets the fault chosen for it."""

from __future__ import annotations

from local_sim.services import oss, tablestore
from local_sim.services.asgi import Reply
from local_sim.services.oss.model import Attributes, ObjectInfo

from .fibers import Hub, Instance
from .functions import Delivery, Functions, Task
from .labels import Sources, label
from .model import Boundary, BoundaryKind, Overwrite
from .wire import ConnectionLost, Request, Response
from .world import OSS, TABLESTORE, World

_LATENCY_US = 1000
_PUTS = frozenset({"PutObject", "CopyObject", "CompleteMultipartUpload"})
_READS = frozenset({"GetObject", "HeadObject", "GetObjectMeta"})
_OUTSIDE_ERROR = Response(500, (("content-type", "application/json"),), b'{"error": "internal", "message": "injected"}')
_OUTSIDE_BUSY = Response(429, (("content-type", "application/json"),), b'{"error": "busy", "message": "injected"}')


class Gate:
    """Answers the requests of a world's handlers. `lease_s` is how long the project's claims hold."""

    def __init__(self, hub: Hub, world: World, functions: Functions, sources: Sources, lease_s: float) -> None:
        self._hub, self._world, self._functions, self._sources = hub, world, functions, sources
        self._lease_s = lease_s
        self._inside = False

    def __call__(self, request: Request) -> Response:
        """Answer a request; those of services, hooks and invariants pass as they are."""
        service = self._world.service(request.host, request.port)
        fiber = self._hub.current
        if self._inside or fiber is None:
            return self._world.answer(service, request)
        delivery = fiber.instance.call
        if not isinstance(delivery, Delivery):
            return self._of_flow(service, request, fiber.task)
        self._hub.give_way()
        self._hub.clock.pass_until(self._hub.clock.now_us + _LATENCY_US)
        boundary = self._boundary(service, request, delivery.task, delivery.function.name)
        fault = self._functions.choose(boundary)
        return self._meet(fault, service, request, boundary, fiber.instance, delivery)

    def _of_flow(self, service: str, request: Request, task: Task | None) -> Response:
        """A request that the flow itself sends (HTTP:Request), or one of a hook."""
        if task is None:
            return self._world.answer(service, request)
        boundary = self._boundary(service, request, task, "")
        fault = self._functions.choose(boundary)
        if fault == "throttled":
            return _busy(service)
        if fault == "slow_timeout":
            self._functions.sleep_past(task)
        response = self._send(service, request, boundary)
        if fault == "reply_lost":
            raise ConnectionLost(sent=True)
        return _error(service, request) if fault == "error_after" else response

    def _boundary(self, service: str, request: Request, task: Task, function: str) -> Boundary:
        """Describe a request. Where no more faults can come, only what the judgement needs is found out."""
        outside = service not in (TABLESTORE, OSS)
        brief = self._functions.brief()
        operation, key = ("", "") if brief and service == TABLESTORE else label(service, request)
        line, stack = ("", ()) if brief and service == TABLESTORE else self._sources.trace()
        return Boundary(
            0,
            BoundaryKind.REQUEST,
            task.state,
            task.attempt,
            function,
            service,
            operation,
            key,
            line,
            stack,
            operation in _READS and self._object(key) is not None,
            task.due_ms,
            outside,
            task.path,
        )

    def _meet(
        self,
        fault: str | None,
        service: str,
        request: Request,
        boundary: Boundary,
        instance: Instance,
        delivery: Delivery,
    ) -> Response:
        if fault == "crash_before":
            self._crash(instance)
        elif fault == "throttled":
            return _busy(service)
        elif fault == "slow_lease":
            self._functions.deliver(delivery, self._lease_s + 0.5)
            self._freeze(instance, self._lease_s + 1)
        elif fault == "slow_timeout" and boundary.due_ms is not None:
            self._freeze(instance, (boundary.due_ms + 1000) / 1000 - self._hub.clock.now_us / 1_000_000)
        elif fault == "object_missing":
            bucket, key = _place(boundary.key)
            self._world.objects.delete(bucket, [key])
        elif fault == "object_changed":
            self._change(boundary.key)
        response = self._send(service, request, boundary)
        if fault == "crash_after":
            self._crash(instance)
        if fault == "reply_lost":
            raise ConnectionLost(sent=True)
        return _error(service, request) if fault == "error_after" else response

    def _send(self, service: str, request: Request, boundary: Boundary) -> Response:
        self._inside = True
        try:
            response = self._answer(service, request, boundary)
        finally:
            self._inside = False
        if boundary.outside:
            self._world.record(service, request, response, boundary)
        return response

    def _answer(self, service: str, request: Request, boundary: Boundary) -> Response:
        """Have the service answer, and see whether an object got other bytes."""
        if service != OSS or boundary.operation not in _PUTS:
            return self._world.answer(service, request)
        before = self._object(boundary.key)
        response = self._world.answer(service, request)
        after = self._object(boundary.key)
        if before is not None and after is not None and (before.size, before.crc64) != (after.size, after.crc64):
            self._world.overwrites.append(Overwrite(boundary.key, boundary.line, boundary.stack))
        return response

    def _crash(self, instance: Instance) -> None:
        self._hub.drop(instance)
        self._hub.die()

    def _freeze(self, instance: Instance, seconds: float) -> None:
        """The whole process stands still, threads that renew a lease included."""
        instance.frozen_until_us = self._hub.clock.now_us + round(seconds * 1_000_000)
        self._hub.sleep(seconds)

    def _object(self, place: str) -> ObjectInfo | None:
        bucket, key = _place(place)
        try:
            return self._world.objects.find(bucket, key)
        except oss.ApiError:
            return None

    def _change(self, place: str) -> None:
        """Somebody else overwrites the object: other bytes of the same length, without the owner's attributes."""
        bucket, key = _place(place)
        found = self._object(place)
        size = found.size if found is not None else 0
        writer = self._world.objects.write()
        writer.write(b"?" * max(size, 1))
        self._world.objects.put(bucket, key, writer.seal(), Attributes(), now_ms=self._hub.clock.now_ms())


def _place(text: str) -> tuple[str, str]:
    bucket, _, key = text.partition("/")
    return bucket, key


def _busy(service: str) -> Response:
    if service == TABLESTORE:
        return _reply(tablestore.fault_dialect().error(None))
    return _reply(oss.DIALECT.error(None)) if service == OSS else _OUTSIDE_BUSY


def _error(service: str, request: Request) -> Response:
    if service == TABLESTORE:
        return _reply(tablestore.fault_dialect().error("OTSInternalServerError"))
    if service != OSS:
        return _OUTSIDE_ERROR
    answer = _reply(oss.DIALECT.error("InternalError"))
    return Response(answer.status, answer.headers) if request.method == "HEAD" else answer


def _reply(reply: Reply) -> Response:
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in reply.headers)
    return Response(reply.status, headers, reply.body)
