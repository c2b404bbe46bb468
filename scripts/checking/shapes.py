"""Shapes of values: a small part of JSON schema, enough for fc3's props, whose findings name line and column."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from scripts.checking.model import Findings, nearest
from scripts.template import Node

__all__ = ["Shape", "check_shape"]


@dataclass(frozen=True)
class Shape:
    """What a value may be.

    `kinds` are the kinds of `Node.kind`; `low`, `high` and `step` bound a number (`whole`: no fraction); `values` are
    the allowed texts or numbers; `pattern` is what a text must match, `rule` its words. Maps have `fields` (empty: any
    keys), `required` ones and `exclusive` groups of which at most one may be there; `item` is the shape in a list.
    """

    kinds: tuple[str, ...]
    low: float | None = None
    high: float | None = None
    step: float | None = None
    whole: bool = False
    values: tuple[object, ...] = ()
    pattern: str = ""
    rule: str = ""
    fields: Mapping[str, Shape] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    exclusive: tuple[tuple[str, ...], ...] = ()
    item: Shape | None = None


def check_shape(node: Node, shape: Shape, what: str, findings: Findings) -> None:
    """Report where `node` is not of the shape; `what` names it in messages. A text with an open variable passes."""
    if node.open:
        return
    if node.kind not in shape.kinds:
        problem = f"{what} must be a {' or '.join(shape.kinds)}, not a {node.kind}"
        findings.error("SD07", problem + _hint(node, shape), node.place)
        return
    if node.kind == "map":
        _check_map(node, shape, what, findings)
    elif node.kind == "list" and shape.item is not None:
        for number, item in enumerate(node.items):
            check_shape(item, shape.item, f"{what}[{number}]", findings)
    elif node.kind == "number":
        _check_number(node, shape, what, findings)
    elif node.kind == "text":
        _check_text(node, shape, what, findings)


def _hint(node: Node, shape: Shape) -> str:
    if "text" in shape.kinds and node.kind in ("number", "boolean"):
        return "; quote it"
    return "; take the quotes away" if "number" in shape.kinds and re.fullmatch(r"[\d.]+", node.text) else ""


def _check_map(node: Node, shape: Shape, what: str, findings: Findings) -> None:
    if shape.fields:
        findings.unknown_keys(node, tuple(shape.fields), what)
    for key in shape.required:
        if key not in node.fields:
            findings.error("SD06", f"{what} lacks {key}", node.place)
    for group in shape.exclusive:
        there = [key for key in group if key in node.fields]
        if len(there) > 1:
            findings.error("SD06", f"{what}: {' and '.join(there)} exclude each other", node.key_place(there[1]))
    for key, value in node.fields.items():
        if key in shape.fields:
            check_shape(value, shape.fields[key], f"{key} of {what}", findings)


def _check_number(node: Node, shape: Shape, what: str, findings: Findings) -> None:
    number = node.value
    if not isinstance(number, int | float):
        return
    if shape.values and number not in shape.values:
        choices = " or ".join(str(value) for value in shape.values)
        findings.error("SD08", f"{what} must be {choices}, not {number}", node.place)
    elif (shape.low is not None and number < shape.low) or (shape.high is not None and number > shape.high):
        findings.error("SD08", f"{what} must be from {shape.low:g} to {shape.high:g}, not {number}", node.place)
    elif shape.whole and not isinstance(number, int):
        findings.error("SD08", f"{what} must be a whole number, not {number}", node.place)
    elif shape.step is not None and abs(number / shape.step - round(number / shape.step)) > 1e-6:
        findings.error("SD08", f"{what} must be a multiple of {shape.step:g}, not {number}", node.place)


def _check_text(node: Node, shape: Shape, what: str, findings: Findings) -> None:
    if shape.values and node.text not in shape.values:
        texts = tuple(str(value) for value in shape.values)
        near = nearest(node.text, texts)
        mean = f"; did you mean {near!r}?" if near else f": it is one of {', '.join(texts)}"
        findings.error("SD08", f"{what} cannot be {node.text!r}{mean}", node.place)
    elif shape.pattern and not re.fullmatch(shape.pattern, node.text):
        findings.error("SD08", f"{what} cannot be {node.text!r}: {shape.rule}", node.place)
