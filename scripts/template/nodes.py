"""A YAML document as values that know their place. Scalars are read by the YAML 1.2 core schema, as `s` reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["Node", "Place", "Scalar", "merged", "plain", "scalar"]

Scalar: TypeAlias = "str | int | float | bool | None"
_WORDS: Mapping[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_KINDS = {str: "text", bool: "boolean", int: "number", float: "number", type(None): "null"}


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in a file; line and column count from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Node:
    """A value with its place: a scalar, a map of nodes (`keys` has the places of its keys) or a tuple of nodes.

    `rendered` says that a variable made it, so that the file itself holds something else.
    """

    value: Scalar | Mapping[str, Node] | tuple[Node, ...]
    place: Place
    keys: Mapping[str, Place] = field(default_factory=dict)
    rendered: bool = False

    @property
    def fields(self) -> Mapping[str, Node]:
        """The entries of a map; empty for every other kind of value."""
        return self.value if isinstance(self.value, Mapping) else {}

    @property
    def items(self) -> tuple[Node, ...]:
        """The items of a list; empty for every other kind of value."""
        return self.value if isinstance(self.value, tuple) else ()

    @property
    def text(self) -> str:
        """The value when it is text, else the empty text."""
        return self.value if isinstance(self.value, str) else ""

    @property
    def kind(self) -> str:
        """`map`, `list`, `text`, `number`, `boolean` or `null`."""
        if isinstance(self.value, Mapping):
            return "map"
        return "list" if isinstance(self.value, tuple) else _KINDS[type(self.value)]

    @property
    def open(self) -> bool:
        """True for a text that still holds a `${...}`: what it will be, only a deploy can tell."""
        return "${" in self.text

    def key_place(self, key: str) -> Place:
        """Where `key` is written, else where the map begins."""
        return self.keys.get(key, self.place)


def plain(node: Node) -> object:
    """The value without its places, as `json` takes it."""
    if isinstance(node.value, Mapping):
        return {key: plain(value) for key, value in node.value.items()}
    if isinstance(node.value, tuple):
        return [plain(value) for value in node.value]
    return node.value


def merged(base: Node, own: Node) -> Node:
    """`own` over `base` as `extend` does it: maps deeply, everything else (lists too) replaced."""
    if not isinstance(base.value, Mapping) or not isinstance(own.value, Mapping):
        return own
    values = dict(base.value)
    for key, value in own.value.items():
        values[key] = merged(values[key], value) if key in values else value
    return Node(values, own.place, {**base.keys, **own.keys})


def scalar(text: str) -> Scalar:
    """Read an unquoted scalar by the YAML 1.2 core schema."""
    if text in _WORDS:
        return _WORDS[text]
    if re.fullmatch(r"[-+]?[0-9]+", text):
        return int(text)
    if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", text):
        return float(text)
    return text
