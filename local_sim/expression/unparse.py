"""From a tree back to text. Parsing the text again gives an equal tree."""

from __future__ import annotations

import json
import re

from .nodes import Call, Compare, Literal, Logic, Node, Path, Unary

_PLAIN_KEY = re.compile(r"\w+(?:-\w+)*\Z")
_STRENGTH = {"||": 1, "&&": 2}
_COMPARE, _PREFIX = 3, 4


def unparse(node: Node) -> str:
    """Return the canonical text of a tree: aliases resolved, double quotes, brackets only where the tree needs them."""
    if isinstance(node, Literal):
        return json.dumps(node.value, ensure_ascii=False)
    if isinstance(node, Path):
        return node.root + "".join(map(_step, node.steps))
    if isinstance(node, Call):
        return f"{node.name}({', '.join(map(unparse, node.arguments))})"
    if isinstance(node, Unary):
        return node.operator + _inner(node.operand, _PREFIX)
    if isinstance(node, Compare):
        return f"{_inner(node.left, _PREFIX)} {node.operator} {_inner(node.right, _PREFIX)}"
    strength = _STRENGTH[node.operator] + 1
    return f" {node.operator} ".join(_inner(operand, strength) for operand in node.operands)


def _inner(node: Node, least: int) -> str:
    text = unparse(node)
    return f"({text})" if _strength(node) < least else text


def _strength(node: Node) -> int:
    if isinstance(node, Logic):
        return _STRENGTH[node.operator]
    return _COMPARE if isinstance(node, Compare) else _PREFIX


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_KEY.match(step) else f"[{json.dumps(step, ensure_ascii=False)}]"
