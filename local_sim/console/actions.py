"""The forms that act. Each does its work and sends the browser to where the outcome is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from .errors import ConsoleError
from .model import ExecutionDetail
from .pages import first, segment

if TYPE_CHECKING:
    from .app import Console


async def start(console: Console, request: Request) -> Response:
    """Start an execution."""
    form = await request.form()
    given = first(form, "input").strip() or "{}"
    _object(given, "the input")
    return _to(await console.source.start(first(form, "flow"), first(form, "name").strip(), given))


async def again(console: Console, request: Request) -> Response:
    """Start an execution with the input of another one: what its ledger holds as done is not done again."""
    form = await request.form()
    one = await console.source.execution(first(form, "flow"), first(form, "name"))
    return _to(await console.source.start(one.flow, "", one.input or "{}"))


async def stop(console: Console, request: Request) -> Response:
    """Stop an execution."""
    form = await request.form()
    await console.source.stop(first(form, "flow"), first(form, "name"))
    return _to(await console.source.execution(first(form, "flow"), first(form, "name")))


async def answer(console: Console, request: Request) -> Response:
    """Answer a callback: with one of the flow's words, or with a JSON object."""
    form = await request.form()
    choice, text = first(form, "choice"), first(form, "output").strip()
    chosen = {first(form, "field") or "decision": choice, "note": first(form, "note")}
    output = chosen if choice else _object(text, "the answer")
    await console.source.answer(first(form, "token"), output)
    return RedirectResponse(_safe(first(form, "back")), 303)


async def add_fault(console: Console, request: Request) -> Response:
    """Inject a fault."""
    from local_sim.services.errors import InvalidFaultRule
    from local_sim.services.faults import FaultKind, FaultRule

    form = await request.form()
    given: dict[str, Any] = {"service": first(form, "service"), "api": first(form, "api") or "*"}
    try:
        given["rate"] = float(first(form, "rate") or 1)
        if first(form, "times"):
            given["times"] = int(first(form, "times"))
        rule = FaultRule(kind=FaultKind(first(form, "kind")), **given)
    except (InvalidFaultRule, ValueError, TypeError) as error:
        raise ConsoleError(str(error)) from None
    if console.faults is not None:
        console.faults.add(rule)
    return RedirectResponse("/console/faults", 303)


async def clear_faults(console: Console, request: Request) -> Response:
    """Inject nothing any more."""
    if console.faults is not None:
        console.faults.clear()
    return RedirectResponse("/console/faults", 303)


def _object(text: str, what: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConsoleError(f"{what} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ConsoleError(f"{what} must be a JSON object")
    return value


def _to(one: ExecutionDetail) -> Response:
    return RedirectResponse(f"/console/executions/{segment(one.flow)}/{segment(one.name)}", 303)


def _safe(back: str) -> str:
    """Return where a form came from, if that is a page of the console."""
    return back if back.startswith("/console") else "/console/waiting"
