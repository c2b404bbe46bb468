"""YAML text to nodes that know their place. Scalars are read by the YAML 1.2 core schema, as the `s` tool does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import yaml

from .errors import Place, TemplateError

Scalar: TypeAlias = "str | int | float | bool | None"


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the document with its place. `value` is a scalar, a mapping of text to nodes, or a tuple of nodes."""

    value: Scalar | Mapping[str, Node] | tuple[Node, ...]
    place: Place
    keys: Mapping[str, Place] | None = None

    @property
    def fields(self) -> Mapping[str, Node]:
        """The entries of a mapping; empty for every other kind of value."""
        return self.value if isinstance(self.value, Mapping) else {}

    @property
    def kind(self) -> str:
        """The JSON name of the value's type, for messages."""
        if isinstance(self.value, Mapping):
            return "map"
        if isinstance(self.value, tuple):
            return "list"
        names = {str: "text", bool: "boolean", int: "number", float: "number"}
        return "null" if self.value is None else names[type(self.value)]


def parse(text: str, file: str) -> Node:
    """Parse one YAML document.

    Raises TemplateError for text that is not YAML, for an empty document, and for a key given twice (both lines are
    named).
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file, 1, 1)
        raise TemplateError(f"not YAML: {error.problem or error.context}", place) from None
    except yaml.YAMLError as error:
        raise TemplateError(f"not YAML: {error}", Place(file, 1, 1)) from None
    if root is None:
        raise TemplateError("the file is empty", Place(file, 1, 1))
    return _node(root, file)


def _node(node: yaml.Node, file: str) -> Node:
    place = _place(node, file)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, file, place)
    if isinstance(node, yaml.SequenceNode):
        return Node(tuple(_node(item, file) for item in node.value), place)
    return Node(_scalar(str(node.value), plain=not getattr(node, "style", None)), place)


def _mapping(node: yaml.MappingNode, file: str, place: Place) -> Node:
    fields: dict[str, Node] = {}
    keys: dict[str, Place] = {}
    merged: dict[str, Node] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise TemplateError("a key must be text", _place(key_node, file))
        key, at = str(key_node.value), _place(key_node, file)
        if key == "<<" and key_node.style is None:
            _merge(merged, _node(value_node, file))
            continue
        if key in keys:
            raise TemplateError(f"key {key!r} is given twice, first at line {keys[key].line}", at)
        keys[key] = at
        fields[key] = _node(value_node, file)
    return Node({**merged, **fields}, place, keys)


def _merge(into: dict[str, Node], source: Node) -> None:
    sources: Sequence[Node] = source.value if isinstance(source.value, tuple) else [source]
    for one in sources:
        if not isinstance(one.value, Mapping):
            raise TemplateError("<< needs a map", one.place)
        for key, value in one.value.items():
            into.setdefault(key, value)


def _place(node: yaml.Node, file: str) -> Place:
    return Place(file, node.start_mark.line + 1, node.start_mark.column + 1)


def _scalar(text: str, *, plain: bool) -> Scalar:
    if not plain:
        return text
    if text in {"", "~", "null", "Null", "NULL"}:
        return None
    if text in {"true", "True", "TRUE", "false", "False", "FALSE"}:
        return text.lower() == "true"
    if re.fullmatch(r"[-+]?[0-9]+", text):
        return int(text)
    if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", text):
        return float(text)
    return text
