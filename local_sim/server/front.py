"""The server's one port for CloudFlow, Function Compute, console and control endpoint: which app a path is for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from local_sim.services.asgi import ASGIApp, Receive, Reply, Scope, Send, send_reply

CONTROL_PREFIX = "/_local/"
CONSOLE_PATH = "/console"


class Front:
    """Sends each request to its app. Requests that come before `ready` wait for it."""

    def __init__(self, control: ASGIApp) -> None:
        self._control = control
        self._cloudflow: ASGIApp | None = None
        self._functions: ASGIApp | None = None
        self._make_console: Callable[[], ASGIApp] | None = None
        self._console: ASGIApp | None = None
        self._ready = asyncio.Event()

    def open(self, cloudflow: ASGIApp, functions: ASGIApp, make_console: Callable[[], ASGIApp]) -> None:
        """Name the apps; waiting requests go on. The console is made when somebody first looks at it."""
        self._cloudflow, self._functions, self._make_console = cloudflow, functions, make_console
        self._ready.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        path: str = scope["path"]
        if path.startswith(CONTROL_PREFIX):
            await self._control(scope, receive, send)
            return
        await self._ready.wait()
        app = self._app(scope, path)
        if app is not None:
            await app(scope, receive, send)

    def _app(self, scope: Scope, path: str) -> ASGIApp | None:
        if path == CONSOLE_PATH or path.startswith(f"{CONSOLE_PATH}/"):
            if self._console is None and self._make_console is not None:
                self._console = self._make_console()
            return self._console
        if path not in ("", "/"):
            return self._functions
        # RPC clients only ever ask for the root, with an Action; a browser that opens the address has none.
        looks = scope["method"] == "GET" and b"Action=" not in scope["query_string"]
        return _to_console if looks else self._cloudflow


async def _to_console(scope: Scope, receive: Receive, send: Send) -> None:
    await send_reply(send, Reply(302, ((b"location", CONSOLE_PATH.encode()),)))
