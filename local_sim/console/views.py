"""The pages that show. Each takes the console and a request and returns the page."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from local_sim.definition import DefinitionError
from local_sim.definition.loader import load_flow
from local_sim.graph import Layout, LayoutMissing, Progress, draw, lay_out

from .errors import ConsoleError, NotFound
from .gantt import MOST_ROWS, draw_timeline
from .model import STATUSES, Event, ExecutionDetail, Filter
from .pages import first, readable
from .timeline import Visit, state_marks, visits_of, ways_taken

if TYPE_CHECKING:
    from .app import Console

_PAGE = 50
_EVENTS = 100
_VISITS = 100
_PAYLOAD_BYTES = 100_000
_DAY_MS = 86_400_000


async def overview(console: Console, request: Request) -> Response:
    """What runs, what waits, what ended lately, and the project's own panels."""
    counts = await console.source.counts()
    newest = await console.source.executions(Filter(limit=12))
    waits = await console.source.waiting()
    values: dict[str, Any] = {"counts": counts, "rows": newest.rows, "waits": waits[:8], "waiting": len(waits)}
    return console.pages.render(request, "overview.html", now_ms=now_ms(), statuses=STATUSES, **values)


async def own_panels(console: Console, request: Request) -> Response:
    """What the project itself has to show of everything: the figures of its ledger, say."""
    own = await console.panels.overview()
    template = "panel_list.html" if request.headers.get("x-fragment") else "own_panels.html"
    return console.pages.render(request, template, panels=own)


async def flows(console: Console, request: Request) -> Response:
    """All flows."""
    return console.pages.render(request, "flows.html", rows=await console.source.flows(), statuses=STATUSES)


async def flow(console: Console, request: Request) -> Response:
    """One flow: its graph, its newest executions, its text, a form to start it."""
    name = request.path_params["flow"]
    text = await console.source.definition(name)
    newest = await console.source.executions(Filter(flow=name, limit=10))
    picture = await run_in_threadpool(_graph, text, Progress())
    values = {"flow": name, "definition": text, "rows": newest.rows, "graph": picture}
    return console.pages.render(request, "flow.html", now_ms=now_ms(), **values)


async def executions(console: Console, request: Request) -> Response:
    """Executions by status, flow, time and text."""
    given = request.query_params
    wanted = Filter(
        flow=first(given, "flow"),
        status=first(given, "status"),
        text=first(given, "text").strip(),
        from_ms=_time(first(given, "from"), 0),
        to_ms=_time(first(given, "to"), _DAY_MS - 1),
        below=first(given, "below"),
        limit=_PAGE,
    )
    page = await console.source.executions(wanted)
    names = [row.name for row in await console.source.flows()]
    return console.pages.render(
        request,
        "executions.html",
        page=page,
        wanted=wanted,
        given=given,
        flows=names,
        statuses=STATUSES,
        now_ms=now_ms(),
    )


async def execution(console: Console, request: Request) -> Response:
    """One execution: graph, timeline, states."""
    detail, events = await _execution(console, request)
    visits, picture, timeline = await run_in_threadpool(_drawn, detail, events)
    page = _page_number(request)
    shown = visits[::-1][page * _VISITS : (page + 1) * _VISITS]
    waits = [
        task for task in await console.source.waiting() if (task.flow, task.execution) == (detail.flow, detail.name)
    ]
    return console.pages.render(
        request,
        "execution.html",
        one=detail,
        given=readable(detail.input),
        output=readable(detail.output),
        visits=shown,
        page=page,
        more=len(visits) > (page + 1) * _VISITS,
        count=len(visits),
        cut=len(visits) > MOST_ROWS,
        graph=picture,
        timeline=timeline,
        waits=waits,
        now_ms=now_ms(),
    )


async def visit(console: Console, request: Request) -> Response:
    """One visit of a state with its values; a fragment for the page around it when it asks for that."""
    detail, events = await _execution(console, request)
    wanted = request.path_params["event"]
    found = next((one for one in visits_of(events) if one.event == wanted), None)
    if found is None:
        raise NotFound(f"the execution entered no state at event {wanted}")
    template = "visit_body.html" if request.headers.get("x-fragment") else "visit.html"
    return console.pages.render(request, template, one=detail, visit=found, most=50_000)


async def history(console: Console, request: Request) -> Response:
    """The events, a page at a time."""
    detail, events = await _execution(console, request)
    page = _page_number(request)
    shown = events[page * _EVENTS : (page + 1) * _EVENTS]
    more = len(events) > (page + 1) * _EVENTS
    start = events[0].time_ms if events else 0
    values: dict[str, Any] = {"one": detail, "events": shown, "page": page, "more": more}
    values |= {"count": len(events), "start_ms": start}
    return console.pages.render(request, "history.html", **values)


async def logs(console: Console, request: Request) -> Response:
    """What the invocations printed."""
    detail = await console.source.execution(request.path_params["flow"], request.path_params["name"])
    found = await console.source.logs(detail.flow, detail.name)
    return console.pages.render(request, "logs.html", one=detail, logs=found[-200:])


async def panels(console: Console, request: Request) -> Response:
    """What the project itself has to show of an execution: the rows of its ledger, say."""
    detail = await console.source.execution(request.path_params["flow"], request.path_params["name"])
    described = {"flow": detail.flow, "name": detail.name, "status": detail.status, "input": readable(detail.input)}
    own = await console.panels.execution(described)
    template = "panel_list.html" if request.headers.get("x-fragment") else "panels.html"
    return console.pages.render(request, template, one=detail, panels=own)


async def waiting(console: Console, request: Request) -> Response:
    """The callbacks that wait for an answer, each with its form."""
    return console.pages.render(request, "waiting.html", waits=await console.source.waiting(), now_ms=now_ms())


async def payload(console: Console, request: Request) -> Response:
    """An object that an execution refers to, as text."""
    bucket, key = first(request.query_params, "bucket"), first(request.query_params, "key")
    data = await console.source.payload(bucket, key) if bucket and key else None
    if data is None:
        raise NotFound(f"there is no object {bucket}/{key}")
    text = data[:_PAYLOAD_BYTES].decode(errors="replace")
    values: dict[str, Any] = {"bucket": bucket, "key": key, "size": len(data), "text": text}
    values["cut"] = len(data) > _PAYLOAD_BYTES
    return console.pages.render(request, "payload.html", **values)


async def faults(console: Console, request: Request) -> Response:
    """The faults that are being injected."""
    from local_sim.services.faults import FaultKind

    if console.faults is None:
        raise NotFound("faults can be injected into the local cloud only")
    hits = [hit.rule for hit in console.faults.hits]
    rules = [(number, rule, hits.count(number)) for number, rule in console.faults.rules.items()]
    return console.pages.render(request, "faults.html", rules=rules, kinds=[kind.value for kind in FaultKind])


def now_ms() -> int:
    """Return the machine's time."""
    return time.time_ns() // 1_000_000


async def _execution(console: Console, request: Request) -> tuple[ExecutionDetail, list[Event]]:
    detail = await console.source.execution(request.path_params["flow"], request.path_params["name"])
    return detail, await console.source.history(detail.flow, detail.name)


def _drawn(detail: ExecutionDetail, events: list[Event]) -> tuple[list[Visit], Markup, Markup]:
    visits = visits_of(events)
    progress = Progress(state_marks(visits), ways_taken(visits))
    timeline = draw_timeline(visits, now_ms())
    return visits, _graph(detail.definition, progress), Markup(timeline)  # noqa: S704 - gantt.py escapes


def _graph(definition: str, progress: Progress) -> Markup:
    """Return the picture; empty for a text that is no definition, or without the layout library."""
    try:
        return Markup(draw(_layout(definition), progress, embedded=True))  # noqa: S704 - draw.py escapes
    except (DefinitionError, LayoutMissing):
        return Markup()


@lru_cache(maxsize=64)
def _layout(definition: str) -> Layout:
    return lay_out(load_flow(definition))


def _page_number(request: Request) -> int:
    text = first(request.query_params, "page")
    return int(text) if text.isdecimal() and len(text) < 6 else 0


def _time(text: str, into_day: int) -> int | None:
    """Return the milliseconds of a day (`2026-01-31`) or a moment (`2026-01-31T09:30`), UTC."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConsoleError(f"{text!r} is no day such as 2026-01-31") from None
    at = round(moment.replace(tzinfo=moment.tzinfo or timezone.utc).timestamp() * 1000)
    return at + (into_day if len(text) <= 10 else 0)
