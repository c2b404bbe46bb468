"""The invocation itself: by the API, synchronously or not, and by an HTTP trigger."""

from __future__ import annotations

from collections.abc import Mapping

from .async_queue import AsyncQueue
from .calls import Answer, Call, Outside
from .catalog import ACCOUNT, Catalog
from .errors import AccessDenied, InvalidArgument, trigger_not_found
from .functions import check_enabled
from .http_trigger import build_event, read_answer
from .invoker import Invoker, result_headers
from .routes import HTTP_PREFIX
from .triggers import HTTP, http_config


class InvocationActions:
    """Answers InvokeFunction and requests below `/http/`."""

    def __init__(self, catalog: Catalog, invoker: Invoker, queue: AsyncQueue, outside: Outside) -> None:
        self._catalog = catalog
        self._invoker = invoker
        self._queue = queue
        self._outside = outside

    async def invoke(self, call: Call) -> Answer:
        """Run a function, or accept an async invocation with 202."""
        kind = call.headers.get("x-fc-invocation-type") or "Sync"
        if kind not in ("Sync", "Async"):
            raise InvalidArgument(f"x-fc-invocation-type: must be Sync or Async, not {kind!r}")
        request_id = _given_id(call.headers) or self._request_id()
        qualifier = call.text("qualifier")
        if kind == "Async":
            return self._accept(call, qualifier, request_id)
        record, result = await self._invoker.invoke(call.function, qualifier, call.body, request_id)
        headers = result_headers(record, result, call.headers.get("x-fc-log-type"))
        return Answer(result.status, None, result.body, headers)

    def instances(self, call: Call) -> Answer:
        """List the instances that are warm or busy; of one version when a qualifier is given."""
        qualifier = call.text("qualifier")
        version = self._catalog.resolve(call.function, qualifier).version if qualifier else None
        self._catalog.find(call.function)
        found = self._invoker.instances(call.function, version)
        return Answer(
            document={
                "requestId": self._request_id(),
                "instances": [{"instanceId": info.id, "versionId": info.version} for info in found],
            }
        )

    def _accept(self, call: Call, qualifier: str | None, request_id: str) -> Answer:
        check_enabled(self._catalog, self._catalog.find(call.function).name)
        headers = call.headers
        task = self._queue.submit(
            call.function,
            qualifier,
            call.body,
            request_id,
            task_id=headers.get("x-fc-async-task-id") or headers.get("x-fc-stateful-async-invocation-id") or None,
            delay_ms=_delay_ms(headers.get("x-fc-async-delay")),
        )
        return Answer(202, None, b"", {"X-Fc-Request-Id": request_id, "X-Fc-Async-Task-Id": task.task_id})

    async def http(
        self, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes, request_id: str
    ) -> Answer:
        """Serve a request to an HTTP trigger."""
        function, _, rest = path.removeprefix(HTTP_PREFIX).partition("/")
        name, slash, rest = rest.partition("/")
        trigger = self._catalog.store.trigger(self._catalog.find(function).name, name)
        if trigger is None or trigger.type != HTTP:
            raise trigger_not_found(function, name)
        allowed = [given.upper() for given in http_config(trigger).methods]
        if method not in allowed:
            raise AccessDenied("AccessDenied", f"the trigger allows {', '.join(allowed)}, not {method}")
        event = build_event(
            method=method,
            path=f"/{rest}" if slash else "/",
            query=query,
            headers=headers,
            body=body,
            request_id=request_id,
            account=ACCOUNT,
            at_ms=self._outside.now_ms(),
        )
        _, result = await self._invoker.invoke(function, trigger.qualifier, event, request_id)
        return read_answer(result)

    def _request_id(self) -> str:
        text = self._outside.new_id().replace("-", "")
        return f"1-{text[:8]}-{text[8:]}"


def _given_id(headers: Mapping[str, str]) -> str | None:
    """Take a caller's own request id only when it is harmless in headers and logs."""
    given = headers.get("x-fc-request-id", "")
    return given if given and len(given) <= 128 and given.isascii() and given.replace("-", "").isalnum() else None


def _delay_ms(text: str | None) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise InvalidArgument("x-fc-async-delay: must be a whole number of seconds")
    return int(text) * 1000
