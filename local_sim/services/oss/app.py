"""The ASGI app: decodes, authenticates, runs the operation, and answers - always, and always in OSS's own form."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping, Sequence

from local_sim.clock import Clock
from local_sim.services.asgi import ASGIApp, Receive, Scope, Send
from local_sim.services.errors import ConnectionCut
from local_sim.services.oss.access import check_anonymous
from local_sim.services.oss.body import Body, ClientGone
from local_sim.services.oss.conditions import http_date
from local_sim.services.oss.context import Context
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.operations import route
from local_sim.services.oss.request import parse_scope
from local_sim.services.oss.response import Response, Stream, error_response
from local_sim.services.oss.signing import authenticate
from local_sim.services.oss.store import OssStore

_logger = logging.getLogger(__name__)


def create_app(
    store: OssStore,
    *,
    credentials: Mapping[str, str] | None,
    clock: Clock,
    region: str = "cn-hangzhou",
    domains: Sequence[str] = ("localhost",),
) -> ASGIApp:
    """Return the OSS service over `store`.

    `credentials` maps access key ids to secrets; None takes any key without computing signatures (presigned URLs still
    expire). `domains` are the hosts at which `bucket.DOMAIN` addresses a bucket. The caller closes the store.
    """
    service = _Service(store, credentials, clock, region, tuple(domain.lower() for domain in domains))
    return service.serve


class _Service:
    def __init__(
        self, store: OssStore, credentials: Mapping[str, str] | None, clock: Clock, region: str, domains: Sequence[str]
    ) -> None:
        self._store = store
        self._credentials = credentials
        self._clock = clock
        self._region = region
        self._domains = domains

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        body, request_id = Body(receive), secrets.token_hex(12).upper()
        try:
            response = await self._answer(scope, body, request_id)
        except ClientGone:
            return
        try:
            await body.drain()
            await self._send(scope, send, response, request_id)
        except ClientGone:
            return
        finally:
            if isinstance(response.body, Stream):
                response.body.reader.close()

    async def _answer(self, scope: Scope, body: Body, request_id: str) -> Response:
        try:
            return await self._run(scope, body)
        except ApiError as error:
            failure = error
        except (ClientGone, ConnectionCut):
            raise
        except Exception:
            _logger.exception("%s %s failed", scope["method"], scope["path"])
            failure = ApiError("InternalError")
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        return error_response(failure, head=scope["method"] == "HEAD", request_id=request_id, host=host)

    async def _run(self, scope: Scope, body: Body) -> Response:
        request = parse_scope(scope, self._domains)
        now_ms = self._clock.now_ms()
        caller = authenticate(request, self._credentials, now_ms)
        context = Context(self._store, request, body, caller, now_ms, self._region)
        operation = route(request)
        if caller is None:
            check_anonymous(context)
        return await operation(context)

    async def _send(self, scope: Scope, send: Send, response: Response, request_id: str) -> None:
        headers = [
            *response.headers,
            ("content-length", str(response.length)),
            ("date", http_date(self._clock.now_ms())),
            ("server", "AliyunOSS"),
            ("x-oss-request-id", request_id),
            ("x-oss-server-time", "0"),
        ]
        # These have no body, hence no length.
        encoded = [
            (name.encode(), value.encode("latin-1"))
            for name, value in headers
            if response.status not in {204, 304} or name != "content-length"
        ]
        await send({"type": "http.response.start", "status": response.status, "headers": encoded})
        await _send_body(send, response, head=scope["method"] == "HEAD")


async def _send_body(send: Send, response: Response, *, head: bool) -> None:
    if isinstance(response.body, bytes):
        await send({"type": "http.response.body", "body": b"" if head else response.body})
        return
    stream = response.body
    left = 0 if head else response.length
    chunks = stream.reader.chunks(stream.span.start, stream.span.start + left)
    for data in chunks:
        left -= len(data)
        await send({"type": "http.response.body", "body": data, "more_body": left > 0})
    if response.length == 0 or head:
        await send({"type": "http.response.body", "body": b""})
