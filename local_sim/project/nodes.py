"""Values of s.yaml that know their place. `yaml_nodes` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .errors import Place

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
