"""The server's one port for CloudFlow, Function Compute and the control endpoint: which app a path belongs to."""

from __future__ import annotations

import asyncio

from local_sim.services.asgi import ASGIApp, Receive, Scope, Send
from local_sim.services.function_compute.routes import HTTP_PREFIX, PREFIX

CONTROL_PREFIX = "/_local/"
_OLD_API = "/2016-08-15/"


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
        # Uploads to the temporary bucket go to any path; RPC clients only ever ask for the root.
        for_functions = path.startswith((PREFIX, _OLD_API, HTTP_PREFIX)) or (scope["method"] == "PUT" and path != "/")
        app = self._functions if for_functions else self._cloudflow
        if app is not None:
            await app(scope, receive, send)
