"""Resource names in a flow: which function or flow a Task calls."""

from __future__ import annotations

import re

from .nodes import MapNode, Node, ScalarNode
from .scopes import StateInfo

_FUNCTION = re.compile(
    r"acs:fc:[^:]*:[^:]*:(?:services/[^/]+/)?functions/(?P<name>[A-Za-z_][\w.$-]*)(?:/(?P<qualifier>[\w-]+))?\Z"
)
_FLOW = re.compile(r"acs:fnf:[^:]*:[^:]*:flow/(?P<name>[A-Za-z_][\w-]*)\Z")


def parameter(info: StateInfo, name: str) -> Node | None:
    """Return the node of a constant parameter of a Task, or None."""
    parameters = info.node.get("Parameters")
    return parameters.get(name) if isinstance(parameters, MapNode) else None


def text_parameter(info: StateInfo, name: str) -> ScalarNode | None:
    """Return the node of a constant text parameter of a Task, or None."""
    node = parameter(info, name)
    return node if isinstance(node, ScalarNode) and isinstance(node.value, str) else None


def parse_function_arn(arn: str) -> str | None:
    """Return the function's name in any of the documented forms (API page 8), or None."""
    match = _FUNCTION.match(arn)
    return match.group("name") if match else None


def parse_flow_arn(arn: str) -> str | None:
    """Return the flow's name in a sub-flow's resource name (language page 6.4), or None."""
    match = _FLOW.match(arn)
    return match.group("name") if match else None


def function_of(info: StateInfo) -> str | None:
    """Return the name of the function a Task calls by a constant resourceArn, or None."""
    node = text_parameter(info, "resourceArn")
    return parse_function_arn(node.text) if node is not None else None
