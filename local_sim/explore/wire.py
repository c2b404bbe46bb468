"""HTTP requests and answers as values: what the clients' transports hand to a world and get back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from local_sim.services.asgi import ASGIApp, Message

from .errors import Hung

_CHUNK = 48 * 1024  # below what the local OSS hands to a thread

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Request:
    """One request. `target` is path and query as sent; header names keep their case."""

    method: str
    host: str
    port: int
    target: str
    headers: Headers
    body: bytes = b""

    @property
    def path(self) -> str:
        """The path, still percent-encoded."""
        return self.target.partition("?")[0]

    def header(self, name: str) -> str:
        """Return a header's value, "" when it is not there."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")


@dataclass(frozen=True)
class Response:
    """One answer."""

    status: int
    headers: Headers
    body: bytes = b""

    def header(self, name: str) -> str:
        """Return a header's value, "" when it is not there."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")


class ConnectionLost(Exception):
    """The connection broke; each transport turns it into its client's own error. `sent`: the request went out."""

    def __init__(self, *, sent: bool) -> None:
        self.sent = sent
        super().__init__("connection reset by peer" if sent else "connection refused")


def scope_of(request: Request) -> dict[str, Any]:
    """Return the ASGI scope of a request."""
    path, _, query = request.target.partition("?")
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in request.headers]
    names = {name for name, _ in headers}
    if b"host" not in names:
        headers.append((b"host", f"{request.host}:{request.port}".encode()))
    if request.body and b"content-length" not in names:
        headers.append((b"content-length", str(len(request.body)).encode()))
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 40000),
        "server": (request.host, request.port),
    }


class Exchange:
    """One request on its way through an ASGI app: `receive` and `send` are the app's, `response` what came of it."""

    def __init__(self, request: Request) -> None:
        self.scope = scope_of(request)
        body = request.body
        self._parts = [body[start : start + _CHUNK] for start in range(0, len(body), _CHUNK)] or [b""]
        self._status = 0
        self._headers: Headers = ()
        self._body = bytearray()
        self._ended = False

    async def receive(self) -> Message:
        """Give the app the next piece of the body."""
        if not self._parts:
            return {"type": "http.disconnect"}
        part = self._parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(self._parts)}

    async def send(self, message: Message) -> None:
        """Take a piece of the answer."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = tuple(
                (name.decode("latin-1"), value.decode("latin-1")) for name, value in message.get("headers", [])
            )
        elif message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            self._ended = not message.get("more_body", False)

    @property
    def response(self) -> Response:
        """The answer. Raises `ConnectionLost` when the app broke off."""
        if not self._status or not self._ended:
            raise ConnectionLost(sent=True)
        return Response(self._status, self._headers, bytes(self._body))


def ask_at_once(app: ASGIApp, request: Request) -> Response:
    """Have an app answer that never waits for anything: no event loop is needed, and nobody else runs meanwhile."""
    exchange = Exchange(request)
    running: Any = app(exchange.scope, exchange.receive, exchange.send)
    try:
        running.send(None)
    except StopIteration:
        return exchange.response
    running.close()
    raise Hung("a service of the local cloud waited for something")
