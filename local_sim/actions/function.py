"""FC:InvokeFunction (language page 6.2): Parameters to an event, Function Compute's answer to an outcome."""

from __future__ import annotations

import json
from dataclasses import dataclass

from local_sim.project import Function, InvalidArn, Project, UnknownFunction
from local_sim.workers.model import InvokeResult

from .model import CallFailed, CallSucceeded, Json, Outcome

SYNC_LIMIT = 32 * 1024 * 1024
ASYNC_LIMIT = 128 * 1024


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call of a function, ready to be made."""

    function: Function
    event: bytes
    asynchronous: bool


def read_invocation(project: Project, parameters: Json) -> Invocation | CallFailed:
    """Read the Parameters. What Function Compute would refuse is a CallFailed named `FC.<ErrorCode>` (A05)."""
    given = parameters if isinstance(parameters, dict) else {}
    kind = given.get("invocationType", "Sync")
    if kind not in ("Sync", "Async"):
        return CallFailed("FC.InvalidArgument", f"invocationType must be Sync or Async, not {kind!r}")
    try:
        function = project.function_of(given.get("resourceArn"))
    except InvalidArn as error:
        return CallFailed("FC.InvalidArgument", str(error))
    except UnknownFunction as error:
        return CallFailed("FC.FunctionNotFound", f"function '{error.name}' does not exist: {error}")
    event = encode_body(given.get("body"))
    limit = ASYNC_LIMIT if kind == "Async" else SYNC_LIMIT
    if len(event) > limit:
        return CallFailed("FC.EntityTooLarge", f"the event has {len(event)} bytes, the limit is {limit}")
    return Invocation(function, event, kind == "Async")


def encode_body(body: Json) -> bytes:
    """Return the handler's event: text as UTF-8, nothing for no body, everything else as JSON."""
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode(errors="surrogatepass")
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")


def read_answer(result: InvokeResult) -> Outcome:
    """Turn Function Compute's answer into the task's outcome.

    A 200 without error type is a success with `{Code, Header, Body}` (A02). With one, the error's name is the body's
    errorType, bare (A03), or FC.Unknown when there is none (A04). Any other status is `FC.<ErrorCode>` (A05).
    """
    text = result.body.decode(errors="replace")
    if not 200 <= result.status < 300:
        return CallFailed(f"FC.{result.code or 'Unknown'}", text, result.logs)
    if result.error_type:
        return CallFailed(_error_name(text), text, result.logs)
    header = {"X-Fc-Request-Id": result.request_id}
    return CallSucceeded({"Code": result.status, "Header": header, "Body": parse_body(text)}, result.logs)


def parse_body(text: str) -> Json:
    """Return the JSON value of a body, or the text itself when it is not JSON (A02). NaN and Infinity are not JSON."""
    try:
        return json.loads(text, parse_constant=_not_json)
    except (ValueError, RecursionError):
        return text


def _not_json(name: str) -> Json:
    raise ValueError(name)


def _error_name(text: str) -> str:
    body = parse_body(text)
    name = body.get("errorType") if isinstance(body, dict) else None
    return name if isinstance(name, str) and name else "FC.Unknown"
