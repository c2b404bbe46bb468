"""YAML text to nodes. A key given twice is kept as a fault beside the tree, so that one run can name them all (C47)."""

from __future__ import annotations

from dataclasses import dataclass, field

import yaml

from scripts.template.errors import TemplateError
from scripts.template.nodes import Node, Place, scalar

__all__ = ["Repeated", "parse"]


@dataclass(frozen=True, slots=True)
class Repeated:
    """A key that its map holds twice."""

    key: str
    first: Place
    again: Place


def parse(text: str, file: str) -> tuple[Node, list[Repeated]]:
    """Parse one YAML document. Raises `TemplateError` for text that is not YAML, or empty."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
        raise TemplateError(f"not YAML: {error.problem or error.context}", place) from None
    except yaml.YAMLError as error:
        raise TemplateError(f"not YAML: {error}", Place(file)) from None
    if root is None:
        raise TemplateError("the file is empty", Place(file))
    reader = _Reader(file)
    return reader.node(root), reader.repeated


@dataclass
class _Reader:
    file: str
    repeated: list[Repeated] = field(default_factory=list)

    def node(self, node: yaml.Node) -> Node:
        place = self._place(node)
        if isinstance(node, yaml.MappingNode):
            return self._map(node, place)
        if isinstance(node, yaml.SequenceNode):
            return Node(tuple(self.node(item) for item in node.value), place)
        text = str(node.value)
        return Node(text if getattr(node, "style", None) else scalar(text), place)

    def _map(self, node: yaml.MappingNode, place: Place) -> Node:
        values: dict[str, Node] = {}
        keys: dict[str, Place] = {}
        for key_node, value_node in node.value:
            at = self._place(key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                raise TemplateError("a key must be text", at)
            key = str(key_node.value)
            if key == "<<" and key_node.style is None:
                inherited = self.node(value_node)
                values = {**inherited.fields, **values}
                continue
            if key in keys:
                self.repeated.append(Repeated(key, keys[key], at))
                continue
            keys[key] = at
            values[key] = self.node(value_node)
        return Node(values, place, keys)

    def _place(self, node: yaml.Node) -> Place:
        return Place(self.file, node.start_mark.line + 1, node.start_mark.column + 1)
