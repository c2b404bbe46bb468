"""FC:InvokeFunction as the server carries it out: the Parameters, and what the answer means to the flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from local_sim.actions import CallFailed, Outcome
from local_sim.actions.function import encode_body, read_answer
from local_sim.project import InvalidArn, parse_function_arn
from local_sim.services.function_compute import FunctionComputeError, FunctionComputeService
from local_sim.workers import InvokeResult

_KINDS = ("Sync", "Async")


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of a function of the service."""

    name: str
    qualifier: str | None
    event: bytes
    asynchronous: bool


def read_function_call(service: FunctionComputeService, parameters: Any) -> FunctionCall | CallFailed:
    """Read a task's Parameters. What Function Compute would refuse is a CallFailed named `FC.<code>` (A05)."""
    given = parameters if isinstance(parameters, dict) else {}
    kind = given.get("invocationType", "Sync")
    if kind not in _KINDS:
        return CallFailed("FC.InvalidArgument", f"invocationType must be Sync or Async, not {kind!r}")
    try:
        arn = parse_function_arn(given.get("resourceArn"))
    except InvalidArn as error:
        return CallFailed("FC.InvalidArgument", str(error))
    name = arn.name
    # The 2.0 form names a service; Function Compute 3.0 knows such functions as service$function.
    if arn.service and service.catalog.store.get(f"{arn.service}${arn.name}"):
        name = f"{arn.service}${arn.name}"
    return FunctionCall(name, arn.qualifier or None, encode_body(given.get("body")), kind == "Async")


async def invoke(service: FunctionComputeService, call: FunctionCall, request_id: str) -> Outcome:
    """Run a function to its end."""
    try:
        _, result = await service.invoker.invoke(call.name, call.qualifier, call.event, request_id)
    except FunctionComputeError as error:
        return CallFailed(f"FC.{error.code}", error.message)
    return read_answer(result)


def outcome_of(result: InvokeResult) -> Outcome:
    """Return what the end of an async invocation means to the task that waits for it (S16)."""
    return read_answer(result)
