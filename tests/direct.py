"""Requests handed to an ASGI app without a socket: the published SDKs on one side, a local service on the other."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote


@dataclass(frozen=True)
class Answered:
    """Status, headers (names in lower case) and body of an answer."""

    status: int
    headers: dict[str, str]
    body: bytes


class DirectApp:
    """Calls one app; each thread has an event loop of its own."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._local = threading.local()

    def ask(self, method: str, path: str, headers: dict[str, str], body: bytes, query: str = "") -> Answered:
        """Send one request, its path as it stands in a request line, and wait for the whole answer."""
        loop = getattr(self._local, "loop", None)
        if loop is None:
            loop = self._local.loop = asyncio.new_event_loop()
        answered: Answered = loop.run_until_complete(self._ask(method, path, headers, body, query))
        return answered

    async def _ask(self, method: str, path: str, headers: dict[str, str], body: bytes, query: str) -> Answered:
        answer: dict[str, Any] = {"body": b""}

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                answer.update(status=message["status"], headers=message["headers"])
            else:
                answer["body"] += message.get("body", b"")

        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
        scope = {
            "type": "http",
            "method": method,
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": raw,
        }
        await self._app(scope, receive, send)
        found = {name.decode().lower(): value.decode("latin-1") for name, value in answer["headers"]}
        return Answered(answer["status"], found, answer["body"])
