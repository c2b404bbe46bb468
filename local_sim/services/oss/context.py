"""What an operation works with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from local_sim.services.oss.body import Body
from local_sim.services.oss.model import Written
from local_sim.services.oss.request import Request
from local_sim.services.oss.response import Response
from local_sim.services.oss.signing import Caller
from local_sim.services.oss.store import OssStore

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Context:
    """One request on its way: the store, the decoded request, its body, who sent it, and when (milliseconds)."""

    store: OssStore
    request: Request
    body: Body
    caller: Caller | None
    now_ms: int
    region: str

    async def receive(self) -> Written:
        """Stream the body into a new file; return it once it is whole and on disk."""
        writer = self.store.write()
        try:
            await self.body.store(self.request, writer)
            return writer.seal() if writer.in_memory else await in_thread(writer.seal)
        except BaseException:
            writer.abandon()
            raise

    async def read_xml(self) -> bytes:
        """Return the body of a request that carries XML, or nothing."""
        return await self.body.read(self.request)


Operation = Callable[[Context], Awaitable[Response]]


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run what waits for the disk outside the event loop."""
    return await asyncio.to_thread(work, *args, **kwargs)
