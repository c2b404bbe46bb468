"""The Function Compute service as an ASGI app: routes, answers, and always the documented error shape."""

from __future__ import annotations

import inspect
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from local_sim.services.asgi import Receive, Reply, Scope, Send, read_body, send_reply

from . import routes, settings
from .access import check_access
from .calls import Answer, Call
from .errors import EntityTooLarge, FunctionComputeError, NotFound, PathNotSupported
from .functions import FunctionActions
from .invocations import InvocationActions
from .settings import SettingActions, TagActions
from .tasks import TaskActions
from .temp_objects import TempObjects
from .triggers import TriggerActions
from .versions import VersionActions

_logger = logging.getLogger(__name__)
_BODY_BYTES = 700 * 1024 * 1024
"""A ZIP of the largest size in base64, and the JSON around it."""
_HEAD_ONLY = (204, 304)

Handler = Callable[[Call], "Answer | Awaitable[Answer]"]


class FunctionComputeApp:
    """Answers the API, HTTP triggers and the temporary bucket. With `secret` API requests must be signed with it.

    `flush` returns once what a request changed is on the disk.
    """

    def __init__(
        self,
        functions: FunctionActions,
        versions: VersionActions,
        triggers: TriggerActions,
        config: SettingActions,
        tags: TagActions,
        tasks: TaskActions,
        invocations: InvocationActions,
        temp: TempObjects,
        *,
        now_ms: Callable[[], int],
        flush: Callable[[], Awaitable[None]],
        secret: str | None = None,
        region: str = "cn-hangzhou",
    ) -> None:
        self._handlers: Mapping[str, Handler] = {
            **_function_handlers(functions, versions),
            **_trigger_handlers(triggers, tasks, invocations),
            **_setting_handlers(config, tags),
            **_empty_handlers(functions, region),
        }
        self._invocations = invocations
        self._temp = temp
        self._now_ms = now_ms
        self._flush = flush
        self._secret = secret

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request_id = new_request_id()
        try:
            answer = await self._answer(scope, receive, request_id)
        except FunctionComputeError as error:
            answer = _error_answer(error, request_id)
        except Exception:
            _logger.exception("request %s failed inside the service", request_id)
            failure = FunctionComputeError("an internal error occurred; the server's log has it under the request id")
            answer = _error_answer(failure, request_id)
        await send_reply(send, _reply(answer, request_id, scope["method"]))

    async def _answer(self, scope: Scope, receive: Receive, request_id: str) -> Answer:
        body = await read_body(receive, _BODY_BYTES)
        if body is None:
            raise EntityTooLarge("the request", _BODY_BYTES + 1, _BODY_BYTES)
        raw_path = scope.get("raw_path", b"").partition(b"?")[0].decode("latin-1") or scope["path"]
        method, query = scope["method"], scope["query_string"].decode("latin-1")
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if raw_path.startswith(routes.HTTP_PREFIX):
            return await self._invocations.http(method, scope["path"], query, headers, body, request_id)
        if method == "PUT" and not raw_path.startswith(routes.PREFIX):
            taken = self._temp.put(scope["path"], body)
            if taken is not None:
                return taken
        if self._secret is not None:
            check_access(method, raw_path, query, headers, self._secret, self._now_ms())
        if raw_path == routes.TEMP_TOKEN_PATH and method == "GET":
            return Answer(document=self._temp.token())
        if not raw_path.startswith(routes.PREFIX):
            raise PathNotSupported(f"{method} {raw_path[:200]} is not supported")
        matched = routes.match(method, raw_path)
        # Some clients write their whole endpoint into Host (cloudflow-api page, section 3.6).
        host = headers.get("host", "").removeprefix("http://").rstrip("/")
        call = Call(matched.action, matched.function, matched.item, _query(query), headers, body, host)
        answer = self._handlers[matched.action](call)
        result = await answer if inspect.isawaitable(answer) else answer
        await self._flush()
        return result


def new_request_id() -> str:
    """Return a fresh request id, `1-<8 hex>-<24 hex>` (function-compute page, section 5.2)."""
    text = uuid.uuid4().hex
    return f"1-{text[:8]}-{text[8:]}"


def _function_handlers(functions: FunctionActions, versions: VersionActions) -> dict[str, Handler]:
    return {
        "ListFunctions": functions.list_functions,
        "CreateFunction": functions.create,
        "GetFunction": functions.get,
        "UpdateFunction": functions.update,
        "DeleteFunction": functions.delete,
        "GetFunctionCode": functions.get_code,
        "DownloadCode": functions.download_code,
        "EnableFunctionInvocation": functions.enable,
        "DisableFunctionInvocation": functions.disable,
        "ListFunctionVersions": versions.list_versions,
        "PublishFunctionVersion": versions.publish,
        "DeleteFunctionVersion": versions.delete_version,
        "ListAliases": versions.list_aliases,
        "CreateAlias": versions.create_alias,
        "GetAlias": versions.get_alias,
        "UpdateAlias": versions.update_alias,
        "DeleteAlias": versions.delete_alias,
    }


def _trigger_handlers(
    triggers: TriggerActions, tasks: TaskActions, invocations: InvocationActions
) -> dict[str, Handler]:
    return {
        "ListTriggers": triggers.list_triggers,
        "CreateTrigger": triggers.create,
        "GetTrigger": triggers.get,
        "UpdateTrigger": triggers.update,
        "DeleteTrigger": triggers.delete,
        "ListAsyncTasks": tasks.list_tasks,
        "GetAsyncTask": tasks.get_task,
        "StopAsyncTask": tasks.stop_task,
        "InvokeFunction": invocations.invoke,
        "ListInstances": invocations.instances,
    }


def _setting_handlers(config: SettingActions, tags: TagActions) -> dict[str, Handler]:
    handlers: dict[str, Handler] = {
        "ListVpcBindings": config.list_vpc,
        "CreateVpcBinding": config.create_vpc,
        "DeleteVpcBinding": config.delete_vpc,
        "ListTagResources": tags.list_tags,
        "TagResources": tags.tag,
        "UntagResources": tags.untag,
    }
    for kind, name, listing, key in (
        (settings.ASYNC, "AsyncInvokeConfig", "ListAsyncInvokeConfigs", "configs"),
        (settings.CONCURRENCY, "ConcurrencyConfig", "ListConcurrencyConfigs", "configs"),
        (settings.PROVISION, "ProvisionConfig", "ListProvisionConfigs", "provisionConfigs"),
        (settings.SCALING, "ScalingConfig", "ListScalingConfigs", "scalingConfigs"),
    ):
        handlers[f"Get{name}"] = partial(config.get, kind)
        handlers[f"Put{name}"] = partial(config.put, kind)
        handlers[f"Delete{name}"] = partial(config.delete, kind)
        handlers[listing] = partial(config.list_all, kind, key)
    return handlers


def _empty_handlers(functions: FunctionActions, region: str) -> dict[str, Handler]:
    """What local_sim does not play but clients ask for on their way: an honest 'there is none' (S12)."""

    def nothing(key: str, call: Call) -> Answer:
        if call.function:
            functions.get(call)
        return Answer(document={key: []})

    def no_domain(call: Call) -> Answer:
        raise NotFound("DomainNameNotFound", f"domain name '{call.item}' does not exist")

    return {
        "ListSessions": partial(nothing, "sessions"),
        "ListCustomDomains": partial(nothing, "customDomains"),
        "ListLayers": partial(nothing, "layers"),
        "ListSnapshots": partial(nothing, "snapshots"),
        "GetCustomDomain": no_domain,
        "DescribeRegions": lambda call: Answer(document={"Regions": [{"RegionId": region, "LocalName": "local_sim"}]}),
    }


def _query(query: str) -> Mapping[str, str]:
    return dict(parse_qsl(query, keep_blank_values=True, errors="replace"))


def _error_answer(error: FunctionComputeError, request_id: str) -> Answer:
    document = {"RequestId": request_id, "Code": error.code, "Message": error.message}
    return Answer(error.status, document)


def _reply(answer: Answer, request_id: str, method: str) -> Reply:
    headers: dict[str, Any] = {
        "content-type": "application/json" if answer.body is None else "application/octet-stream"
    }
    headers |= {"x-fc-request-id": request_id}
    headers |= {name.lower(): value for name, value in answer.headers.items()}
    encoded = tuple(
        (name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in headers.items()
    )
    bodiless = method == "HEAD" or answer.status in _HEAD_ONLY
    return Reply(answer.status, encoded, b"" if bodiless else answer.content())
