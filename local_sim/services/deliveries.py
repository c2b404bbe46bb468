"""Requests that can be delivered more than once and answers that can be held back, whatever their size."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from local_sim.services.asgi import ASGIApp, Message, Receive, Scope, Send

_IN_MEMORY = 1024 * 1024
_CHUNK = 256 * 1024


class Delivery:
    """One request on its way to the app. It streams, unless it has to be given to the app more than once."""

    def __init__(self, app: ASGIApp, scope: Scope, receive: Receive) -> None:
        self._app = app
        self._scope = scope
        self._receive = receive
        self._kept: _Spool | None = None

    async def keep(self) -> bool:
        """Read the body, on the disk when it is large; False when the client left before its end."""
        spool = _Spool()
        while (message := await self._receive())["type"] == "http.request":
            spool.write(message.get("body", b""))
            if not message.get("more_body", False):
                self._kept = spool
                return True
        return False

    async def deliver(self, send: Send) -> None:
        """Run the app; a request that was kept can be delivered again."""
        await self._app(self._scope, self._kept.replay(self._receive) if self._kept else self._receive, send)


class _Spool:
    """Bytes that can be read again and again: in memory while they are few, else in a file without a name."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - ends with this object
        self.size = 0

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self.size += len(data)

    def chunks(self) -> Iterator[bytes]:
        self._file.seek(0)
        while data := self._file.read(_CHUNK):
            yield data

    def replay(self, after: Receive) -> Receive:
        """Return a `receive` that gives the bytes as a request's body, then what `after` gives."""
        chunks, left = self.chunks(), self.size
        ended = False

        async def receive() -> Message:
            nonlocal left, ended
            if ended:
                return await after()
            data = next(chunks, b"")
            left -= len(data)
            ended = left == 0
            return {"type": "http.request", "body": data, "more_body": not ended}

        return receive


class HeldAnswer:
    """An answer held back, to be sent later."""

    def __init__(self) -> None:
        self._start: Message = {"type": "http.response.start", "status": 500, "headers": []}
        self._body = _Spool()

    async def take(self, message: Message) -> None:
        """Be the app's `send`."""
        if message["type"] == "http.response.start":
            self._start = message
        else:
            self._body.write(message.get("body", b""))

    async def send(self, send: Send) -> None:
        """Send the whole answer."""
        await send(self._start)
        left = self._body.size
        for data in self._body.chunks():
            left -= len(data)
            await send({"type": "http.response.body", "body": data, "more_body": left > 0})
        if not self._body.size:
            await send({"type": "http.response.body", "body": b""})

    async def send_half(self, send: Send) -> None:
        """Send the head and half of the body, as if more were to come; nothing when there is no body to cut."""
        left = self._body.size // 2
        if self._body.size:
            await send(self._start)
            for data in self._body.chunks():
                await send({"type": "http.response.body", "body": data[:left], "more_body": True})
                left -= len(data)
                if left <= 0:
                    return


def replayed(body: bytes, after: Receive) -> Receive:
    """Return a `receive` that gives `body` whole, then what `after` gives."""
    given = False

    async def receive() -> Message:
        nonlocal given
        if given:
            return await after()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def ignore(_: Message) -> None:
    """Take an answer that nobody gets."""
