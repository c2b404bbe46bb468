"""What a task calls: resourceArn or action, pattern and serviceParams to an action and its Parameters (section 6)."""

from __future__ import annotations

import re

from local_sim.definition.model import TaskMode
from local_sim.definition.nodes import ListNode, MapNode, Node, ScalarNode
from local_sim.definition.readers import Reader
from local_sim.expression import Scope, Template
from local_sim.expression.paths import Evaluator
from local_sim.expression.values import Json

from .mappings import Pair, source_of, template_of
from .paths import SERVICE_ROOTS

FUNCTION = "FC:InvokeFunction"
FLOW = "FNF:StartExecution"
MESSAGE = "MNS:SendMessage"
MODES = {
    "requestResponse": TaskMode.REQUEST_COMPLETE,
    "sync": TaskMode.SYSTEM_CALLBACK,
    "waitForCallback": TaskMode.CUSTOM_CALLBACK,
}
_REF = re.compile(r"([A-Za-z_][\w-]*)/([A-Za-z_][\w-]*)(?:\.\w+)?\Z")
_PLACEHOLDER = re.compile(r"acs:(fc|fnf):([^:]*[<{$][^:]*|[^:]*):([^:]*[<{$][^:]*|[^:]*):(.*)\Z", re.DOTALL)


def resource_of(node: Node) -> str:
    """Return the resource a node names, or an empty text.

    `!Ref service/function` is that function's ARN; placeholders for region and account count as left out (B11).
    """
    if isinstance(node, ListNode):
        parts = [item.text for item in node.items if isinstance(item, ScalarNode)]
        text = "/".join(parts[:1] + parts[1:2] if node.tag else [])
    else:
        text = node.text.strip() if isinstance(node, ScalarNode) and isinstance(node.value, str) else ""
    if node.tag and (match := _REF.match(text)):
        return f"acs:fc:::services/{match[1]}/functions/{match[2]}"
    if match := _PLACEHOLDER.match(text):
        region, account = (part if part.replace("-", "").isalnum() else "" for part in (match[2], match[3]))
        return f"acs:{match[1]}:{region}:{account}:{match[4]}"
    return text


def action_of(resource: str) -> str:
    """Return the action a resource is called by. What is no ARN at all counts as a function's address (B11)."""
    if resource.startswith("acs:fnf:"):
        return FLOW
    return MESSAGE if resource.startswith(("acs:mns:", "acs:mq:")) else FUNCTION


def parameters_of(reader: Reader, action: str, resource: str, mode: TaskMode) -> Template:
    """Return the template of a task's Parameters."""
    service = reader.mapping("serviceParams")
    pairs = _service_params(service, reader) if service is not None else {}
    if action == FUNCTION:
        return _function(resource, pairs, mode)
    if action == FLOW and resource:
        return _flow(resource, pairs)
    if resource:
        return template_of(
            "serviceParams", [("resourceArn", None, resource), *(_lower(pair) for pair in pairs.values())]
        )
    if service is None:
        return Template("serviceParams", _input, {}, ())
    return template_of("serviceParams", list(pairs.values()))


def _service_params(node: MapNode, reader: Reader) -> dict[str, Pair]:
    what = f"serviceParams of {reader.what}"
    return {
        name: (name, *source_of(value, what, reader.collector, SERVICE_ROOTS, deep=True))
        for name, (_, value) in node.entries.items()
    }


def _function(resource: str, pairs: dict[str, Pair], mode: TaskMode) -> Template:
    # FC reports the end of asynchronous invocations only (API page, section 7).
    default = "Async" if mode is TaskMode.SYSTEM_CALLBACK else "Sync"
    kind = pairs.get("InvocationType", ("", None, default))
    made: list[Pair] = [("resourceArn", None, resource), ("invocationType", kind[1], kind[2]), ("body", _input, None)]
    if "StatefulAsyncInvocationID" in pairs:
        made.append(("statefulAsyncInvocationID", *pairs["StatefulAsyncInvocationID"][1:]))
    return template_of("serviceParams", made)


def _flow(resource: str, pairs: dict[str, Pair]) -> Template:
    made: list[Pair] = [("resourceArn", None, resource)]
    made.append(("input", *(pairs["Input"][1:] if "Input" in pairs else (_input, None))))
    if "ExecutionName" in pairs:
        made.append(("executionName", *pairs["ExecutionName"][1:]))
    return template_of("serviceParams", made)


def _lower(pair: Pair) -> Pair:
    return (pair[0][:1].lower() + pair[0][1:], *pair[1:])


def _input(scope: Scope) -> Json:
    return scope.input


INPUT: Evaluator = _input
"""Reads a step's whole mapped input."""
