"""An s.yaml's text to nodes. Scalars are read by the YAML 1.2 core schema, as the `s` tool does."""

from __future__ import annotations

from local_sim.definition.collector import Collector
from local_sim.definition.findings import Finding
from local_sim.definition.nodes import ListNode, MapNode
from local_sim.definition.nodes import Node as YamlNode
from local_sim.definition.yaml_reader import StopReading, read_yaml

from .errors import Place, TemplateError
from .nodes import Node

MAX_HEIGHT = 100
"""Levels of maps and lists in an s.yaml."""
_LEFT_ALONE = ("SK009", "SK014")
"""Tags, and scalars JSON cannot hold: `s` reads the text, whatever it is."""


def parse(text: str, file: str) -> Node:
    """Parse one YAML document, with the reader that flows have.

    Raises TemplateError for text that is not YAML, for an empty document, for a key given twice (both lines are named),
    and for aliases or nesting beyond all measure.
    """
    collector = Collector(file)
    try:
        root = read_yaml(text, collector, merges_override=True)
    except StopReading:
        root = None
    for finding in collector.report().errors:
        if root is None or finding.code not in _LEFT_ALONE:
            raise TemplateError(_words(finding), Place(file, finding.position.line, finding.position.column))
    assert root is not None, "a document without a root has a finding"
    if root.height > MAX_HEIGHT:
        raise TemplateError(f"nested deeper than {MAX_HEIGHT} levels", Place(file, root.line, root.column))
    return _node(root, file)


def _words(finding: Finding) -> str:
    if finding.code == "SK011":
        return "the file is empty"
    message = f"not YAML: {finding.message}" if finding.code == "SK003" else finding.message
    return f"{message}; {finding.fix}" if finding.fix else message


def _node(node: YamlNode, file: str) -> Node:
    place = Place(file, node.line, node.column)
    if isinstance(node, MapNode):
        fields = {name: _node(value, file) for name, (_, value) in node.entries.items()}
        keys = {name: Place(file, key.line, key.column) for name, (key, _) in node.entries.items()}
        return Node(fields, place, keys)
    if isinstance(node, ListNode):
        return Node(tuple(_node(item, file) for item in node.items), place)
    return Node(node.value, place)
