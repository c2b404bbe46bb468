"""Resource names: function and flow ARNs (all forms of cloudflow-api, section 8)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import InvalidArn

_NAME = r"[A-Za-z_][A-Za-z0-9_-]*"
_FUNCTION = re.compile(
    rf"acs:fc:[a-z0-9-]*:[0-9]*:(?:"
    rf"services/(?P<service>{_NAME})(?:\.(?P<old>[A-Za-z0-9_-]+))?/functions/(?P<old_name>{_NAME}(?:\$[A-Za-z_]+)?)"
    rf"|functions/(?P<name>{_NAME}(?:\$[A-Za-z_-]+)*)(?:/(?P<qualifier>[A-Za-z0-9_-]+))?)"
)
_FLOW = re.compile(rf"acs:fnf:[a-z0-9-]*:[0-9]*:flow/(?P<name>{_NAME})")


@dataclass(frozen=True, slots=True)
class FunctionArn:
    """A parsed function ARN. No qualifier means LATEST (INFERRED in the reference). `service` is None in FC 3.0
    forms.
    """

    name: str
    qualifier: str = "LATEST"
    service: str | None = None


def parse_function_arn(arn: object) -> FunctionArn:
    """Take a function ARN apart.

    FC 3.0: `acs:fc:<region>:<account>:functions/<name>[/<qualifier>]`; FC 2.0:
    `acs:fc:[region]:[account]:services/<service>
    [.<qualifier>]/functions/<name>`. FC shows a 2.0 function in its 3.0 list as `service$name`; both spellings are
    given back as they stand. Raises InvalidArn.
    """
    match = _FUNCTION.fullmatch(arn) if isinstance(arn, str) else None
    if match is None:
        raise InvalidArn(arn, "function", "acs:fc:<region>:<account>:functions/<name>/<qualifier>")
    if match["service"]:
        return FunctionArn(match["old_name"], match["old"] or "LATEST", match["service"])
    return FunctionArn(match["name"], match["qualifier"] or "LATEST")


def parse_flow_arn(arn: object) -> str:
    """Return the flow's name of `acs:fnf:[region]:[account]:flow/<name>`. Raises InvalidArn."""
    match = _FLOW.fullmatch(arn) if isinstance(arn, str) else None
    if match is None:
        raise InvalidArn(arn, "flow", "acs:fnf:<region>:<account>:flow/<name>")
    return match["name"]
