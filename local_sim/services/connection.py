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

_TRANSPORT = "local_sim.transport"
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
        super().connection_made(cast(asyncio.Transport, _Cork(transport)))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        cast(dict[str, Any], self.scope)["extensions"] = {_TRANSPORT: self.transport}


class _Cork:
    """A transport whose writes can be held back, so that header and body leave as one segment instead of two."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._held: list[bytes] | None = None

    def cork(self) -> None:
        self._held = []

    def uncork(self) -> None:
        held, self._held = self._held, None
        if held:
            self._transport.write(b"".join(held))

    def write(self, data: bytes) -> None:
        if self._held is None:
            self._transport.write(data)
        else:
            self._held.append(data)

    def close(self) -> None:
        self.uncork()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def _guarded(app: ASGIApp) -> ASGIApp:
    """Wrap `app`: `ConnectionCut` drops the connection, any other escape is logged and answered with status 500."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        sender = _Sender(scope["extensions"][_TRANSPORT], send)
        try:
            await app(scope, receive, sender.send)
        except ConnectionCut:
            if sender.begun:
                raise  # uvicorn sends what was written, then closes
            await _cut(scope["extensions"][_TRANSPORT], receive)
        except Exception:
            _logger.exception("%s %s failed inside the local service", scope.get("method"), scope.get("path"))
            if sender.begun:
                raise  # half an answer cannot be taken back; uvicorn closes the connection
            await send_reply(sender.send, _LAST_RESORT)

    return guarded


class _Sender:
    """Keeps the start of an answer until its first body message. `begun` says whether anything left."""

    def __init__(self, transport: _Cork, send: Send) -> None:
        self._transport = transport
        self._send = send
        self._start: Any = None
        self.begun = False

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            start, self._start, self.begun = self._start, None, True
            self._transport.cork()
            try:
                await self._send(start)
                await self._send(message)
            finally:
                self._transport.uncork()


async def _cut(transport: _Cork, receive: Receive) -> None:
    transport.abort()
    while (await receive())["type"] != "http.disconnect":
        pass  # uvicorn would answer 500 for an app that returns before it has seen the end
