"""The few ASGI types and helpers every local service uses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

Header = tuple[bytes, bytes]


@dataclass(frozen=True)
class Reply:
    """A whole HTTP answer; `content-length` is added when it is sent."""

    status: int
    headers: Iterable[Header] = field(default=())
    body: bytes = b""


async def read_body(receive: Receive, limit: int | None = None) -> bytes | None:
    """Return the request's body; None when the client left before its end, or when it is longer than `limit` bytes.

    A body over the limit is still read to its end, so that the client gets its answer instead of a broken pipe.
    """
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body", False):
        body = bytes(message.get("body", b""))
        return body if limit is None or len(body) <= limit else None
    return await _read_parts(message, receive, limit)


async def _read_parts(message: Message, receive: Receive, limit: int | None) -> bytes | None:
    parts: list[bytes] = []
    size = 0
    while message["type"] == "http.request":
        part = message.get("body", b"")
        size += len(part)
        if limit is None or size <= limit:
            parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts) if limit is None or size <= limit else None
        message = await receive()
    return None


async def send_reply(send: Send, reply: Reply) -> None:
    """Send `reply` as one start and one body message."""
    headers = [*reply.headers, (b"content-length", str(len(reply.body)).encode())]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})
