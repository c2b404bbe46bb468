"""One listening port: uvicorn's HTTP protocol with our way of ending connections.

Imports uvicorn, so `host` imports this module late.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from local_sim.services.asgi import ASGIApp, Receive, Reply, Scope, Send, send_reply
from local_sim.services.errors import ConnectionCut

_logger = logging.getLogger(__name__)
_silent = logging.Logger("uvicorn.silent")
_silent.addHandler(logging.NullHandler())

_ABORT = "local_sim.abort"
_KEEP_ALIVE_SECONDS = 600  # a client's pooled connection must not be closed under a request that is being sent
_LAST_RESORT = Reply(500, ((b"content-type", b"text/plain"),), b"internal error of the local service; see its log\n")


class Listener:
    """Serves one app on one socket; `open` and `close` run on the loop."""

    def __init__(self, app: ASGIApp, grace: float) -> None:
        self._config = Config(
            app=cast(Any, _guarded(app)),
            http=_Protocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        )
        self._config.load()
        self._grace = grace
        self._state = ServerState()
        self._server: asyncio.AbstractServer | None = None

    async def open(self, sock: socket.socket) -> None:
        """Accept clients on the listening socket `sock`, which the listener then owns."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Protocol(self._config, self._state, {}, loop), sock=sock, backlog=1024
        )

    async def close(self) -> None:
        """Stop accepting, give requests in progress `grace` seconds, then cut what is left."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._state.connections):
            connection.shutdown()
        if self._state.tasks:
            await asyncio.wait(list(self._state.tasks), timeout=self._grace)
        for task in list(self._state.tasks):
            task.cancel()
        for connection in list(self._state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # lets the transports report their end before the loop may stop


class _Protocol(HttpToolsProtocol):
    """uvicorn's protocol: silent, able to drop its connection, and with one send for header and body."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.logger = _silent
        self.access_log = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if type(transport).__module__.startswith("asyncio"):
            transport = cast(asyncio.Transport, _OneSend(transport, self.loop))
        super().connection_made(transport)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        cast(dict[str, Any], self.scope)["extensions"] = {_ABORT: self.transport.abort}


class _OneSend:
    """A transport that joins the writes of one turn of the loop: asyncio sends each alone, uvloop joins them itself."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        self._parts = []
        self._transport.abort()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(b"".join(parts))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def _guarded(app: ASGIApp) -> ASGIApp:
    """Wrap `app`: `ConnectionCut` drops the connection, any other escape is logged and answered with status 500."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched_send(message: Any) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await app(scope, receive, watched_send)
        except ConnectionCut:
            await _cut(scope, receive, started)
        except Exception:
            _logger.exception("%s %s failed inside the local service", scope.get("method"), scope.get("path"))
            if started:
                raise  # half an answer cannot be taken back; uvicorn closes the connection
            await send_reply(send, _LAST_RESORT)

    return guarded


async def _cut(scope: Scope, receive: Receive, started: bool) -> None:
    if started:
        raise ConnectionCut  # uvicorn sends what was written, then closes
    scope["extensions"][_ABORT]()
    while (await receive())["type"] != "http.disconnect":
        pass  # uvicorn would answer 500 for an app that returns before it has seen the end
