"""The body of a request: streamed into a file, read whole within a bound, or thrown away."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
from collections.abc import AsyncIterator

from local_sim.services.asgi import Receive
from local_sim.services.oss.blobs import BlobWriter
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.request import Request

MAX_OBJECT_BYTES = 5 * 1024**3
MAX_XML_BYTES = 2 * 1024**2
OVERLAP_BYTES = 64 * 1024  # below it a change of threads costs more than it saves


class ClientGone(Exception):
    """The client dropped the connection before its request was complete."""


class Body:
    """The bytes that come behind the headers, once."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ended = False

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body piece by piece; raise `ClientGone` when the client leaves before its end."""
        while not self._ended:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            self._ended = not message.get("more_body", False)
            if data := message.get("body", b""):
                yield data

    async def drain(self) -> None:
        """Read what is left, so that a client still sending gets its answer and not a broken pipe."""
        async for _ in self.chunks():
            pass

    async def store(self, request: Request, writer: BlobWriter) -> None:
        """Stream the body into `writer`; raises `EntityTooLarge`, `MissingContentLength` or `InvalidDigest`."""
        if not request.header("content-length") and not request.header("transfer-encoding"):
            raise ApiError("MissingContentLength")
        await self._write_all(writer)
        check_digest(request, writer.md5())

    async def _write_all(self, writer: BlobWriter) -> None:
        """Hash and write each piece in a thread while the next one comes in; at most two are in memory."""
        size, pending = 0, None
        try:
            async for data in self.chunks():
                size += len(data)
                if size > MAX_OBJECT_BYTES:
                    raise ApiError("EntityTooLarge", MaxSizeAllowed=MAX_OBJECT_BYTES)
                if pending is not None:
                    await pending
                if len(data) < OVERLAP_BYTES:
                    writer.write(data)
                    pending = None
                else:
                    pending = asyncio.ensure_future(asyncio.to_thread(writer.write, data))
        finally:
            if pending is not None:
                await pending

    async def read(self, request: Request) -> bytes:
        """Return a body that must be small; raises `EntityTooLarge` above 2 MiB or `InvalidDigest`."""
        parts: list[bytes] = []
        size = 0
        async for data in self.chunks():
            size += len(data)
            if size > MAX_XML_BYTES:
                raise ApiError("EntityTooLarge", MaxSizeAllowed=MAX_XML_BYTES)
            parts.append(data)
        whole = b"".join(parts)
        check_digest(request, hashlib.md5(whole, usedforsecurity=False).digest())
        return whole


def check_digest(request: Request, md5: bytes) -> None:
    """Raise `InvalidDigest` unless Content-MD5 is absent or right."""
    claimed = request.headers.get("content-md5")
    if claimed is None:
        return
    try:
        expected = base64.b64decode(claimed, validate=True)
    except (binascii.Error, ValueError):
        expected = b""
    if expected != md5:
        raise ApiError("InvalidDigest", ClientMD5=claimed, ServerMD5=base64.b64encode(md5).decode())
