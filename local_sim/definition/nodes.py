"""A document as nodes with places: what both readers, YAML and JSON, produce."""

from __future__ import annotations

from typing import TypeAlias

from local_sim.expression import Position

from .scalars import Json


class ScalarNode:
    """A scalar: its `value` by the YAML 1.2 core schema, its `text` without quotes, `plain` when it bears none.

    `shift` is how many characters stand before the text on its line (0, or 1 for a quote); -1 when the text does not
    stand there character by character: escapes, folded and block texts.
    """

    __slots__ = ("column", "line", "plain", "shift", "tag", "text", "value")
    size = 1
    height = 0

    def __init__(
        self, text: str, value: Json, line: int, column: int, *, plain: bool, shift: int, tag: str = ""
    ) -> None:
        self.shift = shift
        self.text = text
        self.value = value
        self.line = line
        self.column = column
        self.plain = plain
        self.tag = tag

    @property
    def position(self) -> Position:
        """Where it starts."""
        return Position(self.line, self.column)


class ListNode:
    """A list. `size` counts the nodes below with aliases expanded, `height` the levels."""

    __slots__ = ("column", "height", "items", "line", "size", "tag")

    def __init__(self, line: int, column: int, tag: str = "") -> None:
        self.items: list[Node] = []
        self.line = line
        self.column = column
        self.tag = tag
        self.size = 1
        self.height = 1

    @property
    def position(self) -> Position:
        """Where it starts."""
        return Position(self.line, self.column)


class MapNode:
    """A map. `entries` maps each key as written to its own node and its value."""

    __slots__ = ("column", "entries", "height", "line", "size", "tag")

    def __init__(self, line: int, column: int, tag: str = "") -> None:
        self.entries: dict[str, tuple[ScalarNode, Node]] = {}
        self.line = line
        self.column = column
        self.tag = tag
        self.size = 1
        self.height = 1

    @property
    def position(self) -> Position:
        """Where it starts."""
        return Position(self.line, self.column)

    def get(self, key: str) -> Node | None:
        """Return the value of a key, or None."""
        entry = self.entries.get(key)
        return entry[1] if entry else None

    def key(self, key: str) -> ScalarNode:
        """Return the node of a key that is there."""
        return self.entries[key][0]


Node: TypeAlias = ScalarNode | ListNode | MapNode

KIND_NAMES = {ScalarNode: "a single value", ListNode: "a list", MapNode: "a map"}


def describe(node: Node) -> str:
    """Say what a node is, for a message: a list, a map, or the type and text of a scalar."""
    if not isinstance(node, ScalarNode):
        return KIND_NAMES[type(node)]
    if node.value is None:
        return "nothing" if not node.text else "null"
    shown = node.text if len(node.text) <= 60 else node.text[:57] + "..."
    kind = {bool: "the boolean", int: "the number", float: "the number"}.get(type(node.value), "the text")
    return f"{kind} {shown!r}" if kind == "the text" else f"{kind} {shown}"


def plain_value(node: Node) -> Json:
    """Return a node as plain JSON. Call it on nodes of bounded `height` only: it recurses."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, ListNode):
        return [plain_value(item) for item in node.items]
    return {key: plain_value(value) for key, (_, value) in node.entries.items()}


def find(node: Node, path: tuple[str | int, ...]) -> Node:
    """Return the node at a path of keys and indices that exists."""
    for step in path:
        if isinstance(node, MapNode):
            node = node.entries[str(step)][1]
        elif isinstance(node, ListNode):
            node = node.items[int(step)]
    return node
