"""FNF:StartExecution (language page 6.4): Parameters to the start of another flow's execution."""

from __future__ import annotations

from dataclasses import dataclass

from local_sim.project import InvalidArn, parse_flow_arn

from .model import Call, CallFailed, Json

ACTION = "FNF:StartExecution"


@dataclass(frozen=True, slots=True)
class FlowStart:
    """A sub-flow to start. A generated `name` is the same each time the same attempt is carried out again."""

    flow: str
    name: str
    input: Json


def read_flow_start(call: Call, generated_name: str) -> FlowStart | CallFailed:
    """Read the Parameters; what CloudFlow would refuse is a CallFailed (`FnF.InvalidArgument`, R07)."""
    given = call.parameters if isinstance(call.parameters, dict) else {}
    try:
        flow = parse_flow_arn(given.get("resourceArn"))
    except InvalidArn as error:
        return CallFailed("FnF.InvalidArgument", str(error))
    name, value = given.get("executionName") or generated_name, given.get("input", {})
    if not isinstance(name, str):
        return CallFailed("FnF.InvalidArgument", f"executionName must be text, not {name!r}")
    if not isinstance(value, dict):
        return CallFailed("FnF.InvalidArgument", "input of FNF:StartExecution must be an object")
    return FlowStart(flow, name, value)
