"""The shape of fc3 props (serverless-devs reference, section 8): which keys there are and what they hold.

Only what local_sim or a deploy would stumble over is checked; a key that resembles no known one passes, as it does
in the published schema.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from .errors import Place, TemplateError
from .nodes import Node

KINDS: dict[str, tuple[str, ...]] = {
    "region": ("text",),
    "functionName": ("text",),
    "runtime": ("text",),
    "handler": ("text",),
    "description": ("text",),
    "code": ("text", "map"),
    "timeout": ("number",),
    "memorySize": ("number",),
    "cpu": ("number",),
    "diskSize": ("number",),
    "instanceConcurrency": ("number",),
    "role": ("text",),
    "environmentVariables": ("map",),
    "layers": ("list",),
    "tags": ("list",),
    "triggers": ("list",),
    "logConfig": ("text", "map"),
    "vpcConfig": ("text", "map"),
    "nasConfig": ("text", "map"),
    "ossMountConfig": ("text", "map"),
    "instanceLifecycleConfig": ("map",),
    "asyncInvokeConfig": ("map",),
    "provisionConfig": ("map",),
    "scalingConfig": ("map",),
    "concurrencyConfig": ("map",),
    "customDNS": ("map",),
    "tracingConfig": ("map", "text"),
    "internetAccess": ("boolean",),
    "customRuntimeConfig": ("map",),
    "customContainerConfig": ("map",),
    "customDomain": ("map",),
    "sessionAffinity": ("text",),
    "sessionAffinityConfig": ("text", "map"),
    "instanceIsolationMode": ("text",),
    "resourceGroupId": ("text",),
    "vpcBinding": ("map",),
    "endpoint": ("text",),
    "annotations": ("map",),
    "gpuConfig": ("map",),
    "disableOndemand": ("boolean",),
    "disableInjectCredentials": ("text",),
    "idleTimeout": ("number",),
}
RUNTIMES = ("python3", "python3.9", "python3.10", "python3.12")
RESOURCE_KEYS = ("component", "props", "actions", "access", "extend")
TOP_KEYS = ("edition", "name", "access", "vars", "template", "extend", "env", "flow", "actions", "resources")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def check_keys(node: Node, known: tuple[str, ...], what: str) -> None:
    """Raise TemplateError for a key of `node` that looks like a misspelling of a known one (C50)."""
    lower = {key.lower(): key for key in known}
    for key in node.fields:
        if key in known:
            continue
        near = get_close_matches(key.lower(), lower, n=1, cutoff=0.8)
        if near:
            place = (node.keys or {}).get(key, node.place)
            raise TemplateError(f"unknown key {key!r} in {what}; did you mean {lower[near[0]]!r}?", place)


def check_kinds(props: Node, resource: str) -> None:
    """Raise TemplateError for a prop of the wrong type; a text with a variable may become any type later (C50)."""
    for key, node in props.fields.items():
        wanted = KINDS.get(key)
        if wanted is None or node.kind in wanted or (isinstance(node.value, str) and "${" in node.value):
            continue
        raise TemplateError(
            f"{key} of resource {resource!r} must be a {' or '.join(wanted)}, not a {node.kind}", node.place
        )


def check_function_name(name: str, place: Place) -> None:
    """Raise TemplateError unless FC takes `name`: a letter or `_` first, then letters, digits, `_`, `-`; at most 64."""
    if "${" not in name and not _NAME.fullmatch(name):
        raise TemplateError(
            f"functionName {name!r}: letters, digits, _ and - only, not starting with a digit or -, 1 to 64 characters",
            place,
        )


def check_environment(node: Node, resource: str) -> None:
    """Raise TemplateError for a variable FC refuses: not text, a bad name, or the reserved prefix FC_."""
    for key, value in node.fields.items():
        place = (node.keys or {}).get(key, value.place)
        if value.kind != "text":
            raise TemplateError(
                f"environment variable {key!r} of resource {resource!r} must be text, not a {value.kind}; quote it",
                value.place,
            )
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", key):
            raise TemplateError(f"environment variable {key!r}: a letter first, then letters, digits and _", place)
        if key.startswith("FC_"):
            raise TemplateError(f"environment variable {key!r}: the prefix FC_ is reserved", place)


def whole(value: object, low: int, high: int, what: str, place: Place) -> int:
    """Return `value` when it is a whole number in range; text of digits counts, as variables render to text."""
    number = int(value) if isinstance(value, str) and value.isdigit() else value
    if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
        raise TemplateError(f"{what} must be a whole number from {low} to {high}, not {value!r}", place)
    return number
