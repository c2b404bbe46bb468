"""The console as an ASGI app: pages to look, forms to act, a stream of changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from . import actions, views
from .errors import ConsoleError, NotFound
from .guard import COOKIE, HEADERS, Guard
from .pages import FOLDER, Pages, first
from .panels import Panels
from .source import Source

if TYPE_CHECKING:
    from local_sim.services.faults import Faults

Endpoint = Callable[["Console", Request], Awaitable[Response]]
_STATIC = {"console.css": "text/css", "console.js": "text/javascript", "icon.svg": "image/svg+xml"}
_LOOK_SECONDS = 0.5
_STREAM_SECONDS = 600.0
_WRONG_SECRET_SECONDS = 1.0


class Console:
    """What the pages share. `faults` are None where none can be injected; `panels` are the project's own."""

    def __init__(self, source: Source, guard: Guard, panels: Panels, faults: Faults | None = None) -> None:
        self.source = source
        self.guard = guard
        self.panels = panels
        self.faults = faults
        self.pages = Pages(source, guard)


def make_console(
    source: Source,
    *,
    panels: Panels,
    faults: Faults | None = None,
    hosts: Iterable[str] = (),
    secret: str | None = None,
) -> Starlette:
    """Return the app, to be served at `/console`. `hosts` and `secret` are for servers beyond loopback."""
    console = Console(source, Guard(hosts, secret), panels, faults)
    reads: dict[str, Endpoint] = {
        "/console": views.overview,
        "/console/flows": views.flows,
        "/console/flows/{flow}": views.flow,
        "/console/executions": views.executions,
        "/console/executions/{flow}/{name}": views.execution,
        "/console/executions/{flow}/{name}/visits/{event:int}": views.visit,
        "/console/executions/{flow}/{name}/history": views.history,
        "/console/executions/{flow}/{name}/logs": views.logs,
        "/console/executions/{flow}/{name}/panels": views.panels,
        "/console/panels": views.own_panels,
        "/console/waiting": views.waiting,
        "/console/payload": views.payload,
        "/console/faults": views.faults,
        "/console/login": _login_page,
        "/console/static/{file}": _static,
        "/console/changes": _changes,
    }
    writes: dict[str, Endpoint] = {
        "/console/start": actions.start,
        "/console/stop": actions.stop,
        "/console/again": actions.again,
        "/console/answer": actions.answer,
        "/console/faults/add": actions.add_fault,
        "/console/faults/clear": actions.clear_faults,
    }
    routes = [Route(path, _guarded(console, endpoint)) for path, endpoint in reads.items()]
    for path, endpoint in writes.items():
        routes.append(Route(path, _guarded(console, _checked(endpoint)), methods=["POST"]))
    routes.append(Route("/console/login", _guarded(console, _login), methods=["POST"]))
    routes.append(Route("/console/{rest:path}", _guarded(console, _nothing)))
    return Starlette(routes=routes, middleware=[Middleware(GZipMiddleware, minimum_size=1024)])


def _guarded(console: Console, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        refused = console.guard.refusal(request)
        if refused is not None:
            return refused
        # Taken before anything is read: what changes meanwhile makes the page look again.
        request.state.change = console.source.change()
        try:
            return await endpoint(console, request)
        except NotFound as error:
            return console.pages.render(request, "error.html", 404, title="Not found", message=error.message)
        except ConsoleError as error:
            return console.pages.render(request, "error.html", 400, title="Could not be done", message=error.message)

    return answer


def _checked(endpoint: Endpoint) -> Endpoint:
    """Let only forms of our own act, and only where acting is allowed."""

    async def answer(console: Console, request: Request) -> Response:
        form = await request.form()
        if not console.guard.form_is_ours(form.get("form_token")):
            return PlainTextResponse("the form is not this server's, or older than its last start: reload", 403)
        if not console.source.writable:
            return PlainTextResponse("the console is read-only", 403)
        return await endpoint(console, request)

    return answer


async def _nothing(console: Console, request: Request) -> Response:
    raise NotFound(f"there is no page {request.url.path}")


async def _static(console: Console, request: Request) -> Response:
    name = request.path_params["file"]
    if name == "graph.css":
        from local_sim.graph.style import STYLE

        return Response(STYLE, headers=HEADERS, media_type="text/css")
    if name not in _STATIC:
        raise NotFound(f"there is no file {name}")
    cached = {**HEADERS, "Cache-Control": "max-age=300"}
    return FileResponse(FOLDER / "static" / name, headers=cached, media_type=_STATIC[name])


async def _changes(console: Console, request: Request) -> Response:
    """Stream a line whenever something may have changed since what a page has seen; browsers come again at the end."""

    async def lines() -> AsyncIterator[str]:
        given = first(request.query_params, "seen")
        seen = int(given) if given.isdecimal() and len(given) < 20 else console.source.change()
        end = time.monotonic() + _STREAM_SECONDS
        yield "retry: 2000\n\n"
        while time.monotonic() < end and not await request.is_disconnected():
            await asyncio.sleep(_LOOK_SECONDS)
            now = console.source.change()
            if now != seen:
                seen = now
                yield f"data: {now}\n\n"

    headers = {**HEADERS, "X-Accel-Buffering": "no", "Content-Encoding": "identity"}
    return StreamingResponse(lines(), media_type="text/event-stream", headers=headers)


async def _login_page(console: Console, request: Request) -> Response:
    return console.pages.render(request, "login.html", wrong=False)


async def _login(console: Console, request: Request) -> Response:
    form = await request.form()
    cookie = console.guard.login(first(form, "secret"))
    if cookie is None:
        await asyncio.sleep(_WRONG_SECRET_SECONDS)
        return console.pages.render(request, "login.html", 403, wrong=True)
    answer = RedirectResponse("/console", 303)
    answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", path="/console")
    return answer
