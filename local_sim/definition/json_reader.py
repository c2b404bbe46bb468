"""JSON text to nodes, with the place of every key and value; nothing recurses."""

from __future__ import annotations

import json
import re

from local_sim.expression import Position

from .collector import Collector
from .nodes import ListNode, MapNode, Node, ScalarNode
from .scalars import BadScalar, Json, read_plain
from .yaml_reader import MAX_HEIGHT, StopReading, place_of_index, report_duplicate

_SPACE = re.compile(r"[ \t\r\n]*")
_BLANKS = ("", " ", "\t", "\n", "\r")
_TEXT = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORD = re.compile(r"true|false|null")
_HALF_PAIR = re.compile("[\ud800-\udfff]")


class JsonProblem(Exception):
    """The text is not JSON; `code`, `message` and `position` say why."""

    def __init__(self, code: str, message: str, position: Position) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.position = position


def read_json(text: str, collector: Collector) -> Node:
    """Return the root node. Raises JsonProblem when the text is not JSON; duplicate keys go to the collector."""
    return _Reader(text, collector).read()


def stop_for(problem: JsonProblem, collector: Collector) -> StopReading:
    """Record the problem and return what to raise."""
    fix = "JSON wants double quotes, no trailing comma and no comments" if problem.code == "SK015" else ""
    collector.add(problem.code, problem.position, problem.message, fix=fix)
    return StopReading()


class _Reader:
    def __init__(self, text: str, collector: Collector) -> None:
        self._text = text
        self._collector = collector
        self._at = 0
        self._line = 1
        self._line_start = 0
        self._counted = 0

    def _place(self, index: int) -> tuple[int, int]:
        """Return line and column of an index; indices are asked in rising order, so counting stays linear."""
        start = self._text.rfind("\n", self._counted, index)
        if start >= 0:
            self._line += self._text.count("\n", self._counted, index)
            self._line_start = start + 1
        if index > self._counted:
            self._counted = index
        return self._line, index - self._line_start + 1

    def _problem(self, message: str, code: str = "SK015") -> JsonProblem:
        return JsonProblem(code, message, place_of_index(self._text, self._at))

    def _skip(self) -> str:
        char = self._text[self._at : self._at + 1]
        if char not in _BLANKS:
            return char
        self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
        return self._text[self._at : self._at + 1]

    def read(self) -> Node:
        stack: list[tuple[MapNode | ListNode, ScalarNode | None]] = []
        while True:
            node = self._value()
            if isinstance(node, ScalarNode) or not self._opened(node):
                done = self._close(node, stack)
                if done is not None:
                    return self._finish(done)
            else:
                if len(stack) >= MAX_HEIGHT:
                    raise self._problem(f"nested deeper than {MAX_HEIGHT} levels", "SK007")
                stack.append((node, self._key(node) if isinstance(node, MapNode) else None))

    def _finish(self, root: Node) -> Node:
        if self._skip():
            raise self._problem("the text goes on after the JSON value")
        return root

    def _opened(self, node: MapNode | ListNode) -> bool:
        """Say whether a container just begun has entries; an empty one is passed over."""
        if self._skip() == ("}" if isinstance(node, MapNode) else "]"):
            self._at += 1
            return False
        return True

    def _close(self, node: Node, stack: list[tuple[MapNode | ListNode, ScalarNode | None]]) -> Node | None:
        """Put a finished value into its container, closing containers that end here.

        Return the root when all is closed.
        """
        while stack:
            parent, key = stack[-1]
            self._put(parent, key, node)
            closing = "}" if isinstance(parent, MapNode) else "]"
            following = self._skip()
            self._at += 1
            if following == ",":
                stack[-1] = (parent, self._key(parent) if isinstance(parent, MapNode) else None)
                return None
            if following != closing:
                self._at -= 1
                raise self._problem(f"',' or '{closing}' expected")
            node = stack.pop()[0]
        return node

    def _put(self, parent: MapNode | ListNode, key: ScalarNode | None, node: Node) -> None:
        if isinstance(parent, ListNode):
            parent.items.append(node)
        elif key is not None and key.text in parent.entries:
            report_duplicate(parent.entries[key.text][0], key, self._collector)
        elif key is not None:
            parent.entries[key.text] = (key, node)
        parent.size += node.size
        parent.height = max(parent.height, node.height + 1)

    def _key(self, parent: MapNode) -> ScalarNode:
        if self._skip() != '"':
            raise self._problem("a key in double quotes expected")
        key = self._string()
        if self._skip() != ":":
            raise self._problem("':' expected after a key")
        self._at += 1
        return key

    def _value(self) -> Node:
        first = self._skip()
        if first in ("{", "["):
            line, column = self._place(self._at)
            self._at += 1
            return MapNode(line, column) if first == "{" else ListNode(line, column)
        if first == '"':
            return self._string()
        match = _NUMBER.match(self._text, self._at) or _WORD.match(self._text, self._at)
        if match is None:
            raise self._problem("a value expected" if first else "the text ends too early")
        line, column = self._place(self._at)
        self._at = match.end()
        number = self._number(match.group(), Position(line, column))
        return ScalarNode(match.group(), number, line, column, plain=True, shift=0)

    def _number(self, text: str, place: Position) -> Json:
        try:
            return read_plain(text)
        except BadScalar as error:
            self._collector.add("SK014", place, str(error), text=text[:80])
            return 0

    def _string(self) -> ScalarNode:
        match = _TEXT.match(self._text, self._at)
        if match is None:
            raise self._problem("a text with a wrong escape, a line break inside, or no closing quote")
        line, column = self._place(self._at)
        self._at = match.end()
        raw = match.group()
        if "\\" not in raw:
            value = raw[1:-1]
            return ScalarNode(value, value, line, column, plain=False, shift=1)
        value = json.loads(raw)
        if _HALF_PAIR.search(value):
            place = Position(line, column)
            self._collector.add("SK014", place, "the text holds half of a surrogate pair", text=raw[:80])
        shift = 1 if len(value) + 2 == len(raw) else -1
        return ScalarNode(value, value, line, column, plain=False, shift=shift)
