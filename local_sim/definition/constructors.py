"""Reads constructors: compiles them and looks at their constants (language page 4.2)."""

from __future__ import annotations

import json
import re

from local_sim.expression import (
    ALIASES,
    PLAIN_ROOTS,
    SIGNATURES,
    ExpressionSyntaxError,
    Position,
    Template,
    compile_template,
)

from .collector import Collector
from .nodes import ListNode, MapNode, Node, ScalarNode, find, plain_value
from .readers import Reader, expression_place, report_expression

MAX_CONSTANT_BYTES = 64 * 1024
_MAX_HEIGHT = 101
_MAX_KEY_BYTES = 128
_FUNCTION = "|".join((*SIGNATURES, *ALIASES))
_LOOKS_LIKE_EXPRESSION = re.compile(rf"""(?:\$[A-Za-z_][\w.\[\]"'-]*|(?:{_FUNCTION})\(.*\))\Z""")
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")


def read_template(reader: Reader, field: str, roots: frozenset[str] = PLAIN_ROOTS) -> Template | None:
    """Return the compiled constructor in a field, or None when there is none or it cannot be read."""
    node = reader.mapping(field)
    if node is None:
        return None
    if node.height > _MAX_HEIGHT:
        message = f"{field} of {reader.what} is nested deeper than {_MAX_HEIGHT - 1} levels"
        reader.collector.add("SK007", node, message, fix="hand big structures over by reference")
        return None
    where = f"{field} of {reader.what}"

    def refuse(path: tuple[str | int, ...], error: ExpressionSyntaxError) -> None:
        _refuse(find(node, path), path, error, where, reader.collector)

    def locate(path: tuple[str | int, ...]) -> Position:
        at = find(node, path)
        return expression_place(at) if isinstance(at, ScalarNode) else at.position

    template = compile_template(plain_value(node), name=field, roots=roots, locate=locate, on_error=refuse)
    _check_constants(node, where, reader.collector)
    if field == "GlobalConstructor":
        _check_global_keys(node, reader.collector)
    if template.is_constant:
        _check_size(node, template, where, reader.collector)
    return template


def _refuse(
    node: Node, path: tuple[str | int, ...], error: ExpressionSyntaxError, where: str, collector: Collector
) -> None:
    label = f"{where}, key {'.'.join(map(str, path))}"
    is_text = isinstance(node, ScalarNode) and type(node.value) is str
    if is_text and "is no expression" not in error.message and "twice" not in error.message:
        report_expression(error, node, label, collector)
        return
    if error.message.startswith("nested deeper"):
        collector.add("SK306", node, f"{label}: {error.message}", fix=error.fix)
        return
    collector.add("SK006" if "twice" in error.message else "SK307", node, f"{label}: {error.message}", fix=error.fix)


def _check_constants(node: Node, where: str, collector: Collector) -> None:
    """Look for texts that seem to be meant as expressions, and for placeholders."""
    waiting: list[tuple[str, Node]] = [("", node)]
    while waiting:
        key, one = waiting.pop()
        if isinstance(one, MapNode):
            waiting.extend((name, value) for name, (_, value) in one.entries.items() if not name.endswith(".$"))
        elif isinstance(one, ListNode):
            waiting.extend(("", item) for item in one.items)
        elif isinstance(one.value, str) and ("$" in one.value or "(" in one.value):
            _check_text(key, one, where, collector)


def _check_text(key: str, node: ScalarNode, where: str, collector: Collector) -> None:
    text = node.text
    if _LOOKS_LIKE_EXPRESSION.match(text):
        fix = f"write '{key}.$: {text}'" if key else "an item of a list stays text; build the list with toArray(...)"
        collector.add("SK308", node, f"{where}: {text[:60]!r} stays a text", fix=fix)
    elif match := _PLACEHOLDER.search(text):
        fix = "replace it before deployment, or build the text with format(...)"
        collector.add("SK320", node, f"{where}: {match.group()[:60]!r} is not replaced by anything", fix=fix)


def _check_global_keys(node: MapNode, collector: Collector) -> None:
    for name, (key, _) in node.entries.items():
        size = len(name.removesuffix(".$").encode("utf-8", "surrogatepass"))
        if size > _MAX_KEY_BYTES:
            message = f"a global variable's name has {size} bytes, at most {_MAX_KEY_BYTES} are allowed"
            collector.add("SK105", key, message, fix="shorten it", text=name[:80])


def _check_size(node: MapNode, template: Template, where: str, collector: Collector) -> None:
    # A value of n nodes has at least 2 n bytes of JSON; only then is it worth writing out.
    if node.size < 1_000 and not any(
        isinstance(value, ScalarNode) and len(value.text) > 1_000 for _, value in node.entries.values()
    ):
        return
    size = len(json.dumps(template.constant, ensure_ascii=False).encode("utf-8", "replace"))
    if size > MAX_CONSTANT_BYTES:
        message = f"{where} is a constant of {size} bytes; a state's input and output hold {MAX_CONSTANT_BYTES}"
        collector.add("SK114", node, message, fix="keep it in OSS and hand a reference on")
