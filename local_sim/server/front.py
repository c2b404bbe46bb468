"""The server's one port for CloudFlow, Function Compute and the control endpoint: which app a path belongs to."""

from __future__ import annotations

import asyncio

from local_sim.services.asgi import ASGIApp, Receive, Scope, Send

CONTROL_PREFIX = "/_local/"


class Front:
    """Sends each request to its app. Requests that come before `ready` wait for it."""

    def __init__(self, control: ASGIApp) -> None:
        self._control = control
        self._cloudflow: ASGIApp | None = None
        self._functions: ASGIApp | None = None
        self._ready = asyncio.Event()

    def open(self, cloudflow: ASGIApp, functions: ASGIApp) -> None:
        """Name the apps; waiting requests go on."""
        self._cloudflow, self._functions = cloudflow, functions
        self._ready.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        path: str = scope["path"]
        if path.startswith(CONTROL_PREFIX):
            await self._control(scope, receive, send)
            return
        await self._ready.wait()
        # RPC clients only ever ask for the root; everything else has a path.
        app = self._cloudflow if path in ("", "/") else self._functions
        if app is not None:
            await app(scope, receive, send)
