"""The CloudFlow service as an ASGI app: reads a request, lets an action answer it, replies with a JSON object."""

from __future__ import annotations

import inspect
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from local_sim.services.asgi import Receive, Scope, Send, read_body, send_reply
from local_sim.services.asgi import Reply as HttpReply

from . import limits
from . import requests as r
from .errors import CloudFlowError, EntityTooLarge, InternalError
from .executions import ExecutionActions
from .flows import FlowActions
from .rates import Rates
from .replies import Reply
from .schedules import ScheduleActions
from .wire import HttpRequest, check_signature, decode, encode_error, encode_reply, open_envelope

_logger = logging.getLogger(__name__)
_JSON = (b"content-type", b"application/json;charset=utf-8")

Handler = Callable[[Any], "Reply | Awaitable[Reply]"]


class CloudFlowApp:
    """Answers the 29 actions. With `secret` every request must be signed with it; `region` names this machine.

    `flush` returns once what an action changed is on the disk; with `rates` calls over them are refused.
    """

    def __init__(
        self,
        flows: FlowActions,
        schedules: ScheduleActions,
        executions: ExecutionActions,
        *,
        now_ms: Callable[[], int],
        flush: Callable[[], Awaitable[None]],
        secret: str | None = None,
        region: str = "cn-hangzhou",
        rates: Rates | None = None,
    ) -> None:
        self._handlers = _handlers(flows, schedules, executions)
        self._now_ms = now_ms
        self._flush = flush
        self._secret = secret
        self._region = region
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        body = await read_body(receive, limits.REQUEST_BYTES)
        request = _request(scope, body or b"")
        request_id = str(uuid.uuid4()).upper()
        try:
            if body is None:
                raise EntityTooLarge("The request", limits.REQUEST_BYTES + 1, limits.REQUEST_BYTES)
            reply = await self.answer(request)
        except CloudFlowError as error:
            status, payload = error.status, self._error(error, request, request_id)
        except Exception:
            _logger.exception("request %s failed inside the service", request_id)
            failure = InternalError("An internal error occurred; the server's log has it under the request id.")
            status, payload = failure.status, self._error(failure, request, request_id)
        else:
            status, payload = 200, encode_reply(reply, request_id)
        headers = (_JSON, (b"x-acs-request-id", request_id.encode()))
        await send_reply(send, HttpReply(status, headers, b"" if request.method == "HEAD" else payload))

    async def answer(self, request: HttpRequest) -> Reply:
        """Return the fields of the reply; raises CloudFlowError."""
        envelope = open_envelope(request)
        if self._secret is not None:
            check_signature(request, envelope, self._secret, self._now_ms())
        call = decode(envelope)
        if self._rates is not None:
            self._rates.take(type(call).__name__)
        if isinstance(call, r.DescribeRegions):
            host = request.headers.get("host", "")
            region = {"RegionId": self._region, "RegionEndpoint": host, "LocalName": "local_sim"}
            return {"Regions": {"Region": [region]}}
        answer = self._handlers[type(call)](call)
        reply = await answer if inspect.isawaitable(answer) else answer
        await self._flush()
        return reply

    def _error(self, error: CloudFlowError, request: HttpRequest, request_id: str) -> bytes:
        return encode_error(error, request_id, request.headers.get("host", ""))


def _handlers(
    flows: FlowActions, schedules: ScheduleActions, executions: ExecutionActions
) -> Mapping[type[r.ActionCall], Handler]:
    return {
        r.CreateFlow: flows.create_flow,
        r.DescribeFlow: flows.describe_flow,
        r.UpdateFlow: flows.update_flow,
        r.DeleteFlow: flows.delete_flow,
        r.ListFlows: flows.list_flows,
        r.PublishFlowVersion: flows.publish_version,
        r.ListFlowVersions: flows.list_versions,
        r.DeleteFlowVersion: flows.delete_version,
        r.CreateFlowAlias: flows.create_alias,
        r.DescribeFlowAlias: flows.describe_alias,
        r.UpdateFlowAlias: flows.update_alias,
        r.DeleteFlowAlias: flows.delete_alias,
        r.ListFlowAliases: flows.list_aliases,
        r.CreateSchedule: schedules.create_schedule,
        r.DescribeSchedule: schedules.describe_schedule,
        r.UpdateSchedule: schedules.update_schedule,
        r.DeleteSchedule: schedules.delete_schedule,
        r.ListSchedules: schedules.list_schedules,
        r.StartExecution: executions.start,
        r.StartSyncExecution: executions.start_sync,
        r.DescribeExecution: executions.describe,
        r.ListExecutions: executions.list_executions,
        r.GetExecutionHistory: executions.history,
        r.StopExecution: executions.stop,
        r.ReportTaskSucceeded: executions.succeed,
        r.ReportTaskFailed: executions.fail,
        r.DescribeMapRun: executions.describe_map_run,
        r.UpdateMapRun: executions.update_map_run,
    }


def _request(scope: Scope, body: bytes) -> HttpRequest:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    query = scope["query_string"].decode("latin-1")
    return HttpRequest(scope["method"], scope["path"], query, headers, body)
