"""YAML text to nodes, from libyaml's event stream; nothing recurses, so no text can exhaust the stack."""

from __future__ import annotations

import re
from typing import Any

from local_sim.expression import Position

from .collector import Collector
from .nodes import ListNode, MapNode, Node, ScalarNode
from .scalars import TAGS, BadScalar, Json, read_plain, read_tagged, reading_of_yaml_11

MAX_HEIGHT = 1_000
"""Levels of maps and lists in a document (A42); libyaml has the same limit."""
MAX_SIZE = 500_000
"""Values in a document, aliases expanded (A53)."""

_CORE_TAGS = {"tag:yaml.org,2002:map": MapNode, "tag:yaml.org,2002:seq": ListNode}
_GLUED = re.compile(r"\s*(?:-\s+)*([A-Z][A-Za-z]*(?:\.\$)?):(?=[^\s/])")


class StopReading(Exception):
    """The text cannot be read any further; the finding is in the collector."""


def read_yaml(text: str, collector: Collector, *, merges_override: bool = False) -> Node:
    """Return the root node. Raises StopReading after recording why there is none.

    `merges_override`: a key written out, or merged first, wins over one merged by `<<`, as YAML 1.1 has it; without it
    that is a duplicate key (A49).
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder(collector, merges_override=merges_override)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.reader.ReaderError as error:
        character = f"#x{error.character:04x}" if isinstance(error.character, int) else repr(error.character)
        place = place_of_index(text, error.position if isinstance(error.position, int) else 0)
        collector.add("SK001", place, f"the character {character} is not allowed in YAML", fix="remove it")
        raise StopReading from None
    except yaml.MarkedYAMLError as error:
        _report_syntax(text, error, collector)
        raise StopReading from None
    if builder.root is None:
        collector.add(
            "SK011", Position(1, 1), "there is no definition in the text", fix="start with 'Type: StateMachine'"
        )
        raise StopReading
    return builder.root


def place_of_index(text: str, index: int) -> Position:
    """Return line and column of a character."""
    return Position(text.count("\n", 0, index) + 1, index - (text.rfind("\n", 0, index) + 1) + 1)


def _report_syntax(text: str, error: Any, collector: Collector) -> None:
    """Turn libyaml's complaint into a finding that names the usual cause where it can be seen."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    lines = text.splitlines() or [""]
    if "nesting" in (error.problem or ""):
        collector.add(
            "SK007",
            Position(line + 1, column + 1),
            "maps and lists nested too deep",
            fix=f"at most {MAX_HEIGHT} levels",
        )
        return
    here = lines[min(line, len(lines) - 1)]
    if "\t" in here[: len(here) - len(here.lstrip())]:
        place = Position(line + 1, here.index("\t") + 1)
        collector.add(
            "SK004", place, f"line {line + 1} is indented with a tab", fix="indent with blanks", text=here[:80]
        )
        return
    for number in range(min(line, len(lines) - 1), max(-1, line - 3), -1):
        if glued := _GLUED.match(lines[number]):
            report_glued(lines[number], Position(number + 1, glued.start(1) + 1), glued.group(1), collector)
            return
    parts = [part for part in (error.context, error.problem) if part]
    message = ": ".join(parts) or "not YAML"
    collector.add(
        "SK003", Position(line + 1, column + 1), message, text=here.strip()[:80], fix=_hint(error.problem or "")
    )


def _hint(problem: str) -> str:
    if "mapping values are not allowed" in problem:
        return "quote a text that contains ': ', and check the indentation"
    if "did not find expected" in problem:
        return "check the indentation of this line and the one before, and that brackets and quotes are closed"
    if "cannot start any token" in problem:
        return "quote the text"
    return ""


def report_glued(line: str, place: Position, key: str, collector: Collector) -> None:
    """Report a field whose colon has no blank after it (C60)."""
    rest = line[place.column - 1 + len(key) + 1 :].strip()
    fix = f"write '{key}: {rest}'" if len(rest) < 80 else f"put a blank after '{key}:'"
    collector.add("SK005", place, f"a blank is missing after '{key}:'", fix=fix, text=line.strip()[:80])


def find_glued(text: str) -> str:
    """Return the field's name when a scalar is a field and its value with no blank between; else an empty text."""
    match = _GLUED.match(text)
    return match.group(1) if match else ""


class _Builder:
    """Builds nodes from events with a stack of its own."""

    def __init__(self, collector: Collector, *, merges_override: bool) -> None:
        self._merges_override = merges_override
        self.root: Node | None = None
        self._collector = collector
        self._open: list[_Open] = []
        self._anchors: dict[str, Node | None] = {}
        self._documents = 0

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "ScalarEvent":
            self._place(self._scalar(event), event.anchor)
        elif kind == "MappingStartEvent":
            self._start(_Open(self._container(MapNode, event), event.anchor))
        elif kind == "SequenceStartEvent":
            self._start(_Open(self._container(ListNode, event), event.anchor))
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._end()
        elif kind == "AliasEvent":
            self._alias(event)
        elif kind == "DocumentStartEvent":
            self._document(event)

    def _stop(self, code: str, at: Position, message: str, fix: str = "") -> StopReading:
        self._collector.add(code, at, message, fix=fix)
        return StopReading()

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise self._stop("SK010", _place(event), "a second document starts here", "keep one flow a file")

    def _container(self, kind: type[MapNode] | type[ListNode], event: Any) -> MapNode | ListNode:
        place = _place(event)
        tag = event.tag or ""
        if tag and _CORE_TAGS.get(tag) is not kind:
            self._collector.add("SK009", place, f"unknown tag {_short(tag)}", fix="remove the tag", text=_short(tag))
        return kind(place.line, place.column, tag)

    def _scalar(self, event: Any) -> ScalarNode:
        mark = event.start_mark
        line, column, text = mark.line + 1, mark.column + 1, event.value
        plain = event.implicit[0] and event.tag is None
        end = event.end_mark
        extra = end.column - mark.column - len(text) if end.line == mark.line and event.style not in ("|", ">") else -1
        shift = {0: 0, 2: 1}.get(extra, -1) if plain or extra == 2 else -1
        value = self._plain(text, line, column) if plain else self._value(event, Position(line, column))
        return ScalarNode(text, value, line, column, plain=plain, shift=shift, tag=event.tag or "")

    def _value(self, event: Any, place: Position) -> Json:
        text, tag = event.value, event.tag
        try:
            if tag is None:
                return text
            if tag in TAGS or tag == "!":
                return read_tagged(text, tag)
        except BadScalar as error:
            return self._not_json(text, place, error)
        fix = "remove the tag; a definition holds plain values only"
        self._collector.add("SK009", place, f"unknown tag {_short(tag)}", fix=fix, text=f"{_short(tag)} {text}"[:80])
        return text

    def _not_json(self, text: str, place: Position, error: BadScalar) -> str:
        self._collector.add("SK014", place, str(error), fix="quote it if it is meant as text", text=text[:80])
        return text

    def _plain(self, text: str, line: int, column: int) -> Json:
        try:
            value = read_plain(text)
        except BadScalar as error:
            return self._not_json(text, Position(line, column), error)
        if other := reading_of_yaml_11(text):
            seen = "a text" if isinstance(value, str) else "a number"
            message = f"{text[:60]} is {seen} in YAML 1.2 and {other} in YAML 1.1"
            fix = f'write "{text[:60]}" for the text' + ("" if seen == "a text" else ", or a form both read alike")
            self._collector.add("SK012", Position(line, column), message, fix=fix, text=text[:80])
        return value

    def _alias(self, event: Any) -> None:
        place = _place(event)
        if event.anchor not in self._anchors:
            raise self._stop(
                "SK008", place, f"the alias *{event.anchor} names no anchor", f"define &{event.anchor} before it"
            )
        target = self._anchors[event.anchor]
        if target is None:
            raise self._stop("SK008", place, f"the alias *{event.anchor} contains itself", "write the value out")
        self._attach(target, place)

    def _start(self, opened: _Open) -> None:
        if opened.anchor:
            self._anchors[opened.anchor] = None
        self._open.append(opened)
        if len(self._open) > MAX_HEIGHT:
            raise self._stop(
                "SK007", opened.node.position, f"nested deeper than {MAX_HEIGHT} levels", "call a sub-flow"
            )

    def _end(self) -> None:
        opened = self._open.pop()
        if opened.merges and isinstance(opened.node, MapNode):
            self._merge(opened.node, opened.merges)
        self._place(opened.node, opened.anchor)

    def _place(self, node: Node, anchor: str | None) -> None:
        if anchor:
            self._anchors[anchor] = node
        self._attach(node, node.position)

    def _attach(self, node: Node, place: Position) -> None:
        if not self._open:
            self.root = node
            return
        top = self._open[-1]
        if isinstance(top.node, ListNode):
            top.node.items.append(node)
        elif top.key is None:
            self._key(top, node, place)
            return
        else:
            self._entry(top, top.key, node)
            top.key = None
        self._grow(top.node, node, place)

    def _grow(self, parent: MapNode | ListNode, node: Node, place: Position) -> None:
        parent.size += node.size
        if node.height >= parent.height:
            parent.height = node.height + 1
        if parent.size > MAX_SIZE:
            raise self._stop("SK008", place, f"aliases expand to more than {MAX_SIZE} values", "write the values out")
        if parent.height > MAX_HEIGHT:
            raise self._stop("SK007", place, f"nested deeper than {MAX_HEIGHT} levels", "call a sub-flow")

    def _key(self, top: _Open, node: Node, place: Position) -> None:
        if not isinstance(node, ScalarNode):
            raise self._stop(
                "SK017", place, "a list or a map cannot be a key", "quote a text that starts with a bracket"
            )
        if node.tag and node.tag != "!":
            self._collector.add("SK017", place, f"a key with the tag {_short(node.tag)}", fix="remove the tag")
        top.key = node

    def _entry(self, top: _Open, key: ScalarNode, node: Node) -> None:
        assert isinstance(top.node, MapNode)
        if key.plain and key.text == "<<":
            self._collector.add("SK013", key, "the merge key << is no part of YAML 1.2", fix="write the entries out")
            top.merges.append((key, node))
        elif key.text in top.node.entries:
            report_duplicate(top.node.entries[key.text][0], key, self._collector)
        else:
            top.node.entries[key.text] = (key, node)

    def _merge(self, target: MapNode, merges: list[tuple[ScalarNode, Node]]) -> None:
        for key, node in merges:
            for source in node.items if isinstance(node, ListNode) else [node]:
                if not isinstance(source, MapNode):
                    self._collector.add("SK013", key, "<< merges maps only", fix="write the entries out")
                    continue
                for name, entry in source.entries.items():
                    if name in target.entries and self._merges_override:
                        continue
                    if name in target.entries:
                        report_duplicate(entry[0], target.entries[name][0], self._collector)
                    else:
                        target.entries[name] = entry


def report_duplicate(first: ScalarNode, second: ScalarNode, collector: Collector) -> None:
    """Report a key given twice, with both places (A27)."""
    place = first.position
    message = f"the key {second.text[:60]!r} is given twice; first in line {place.line}, column {place.column}"
    collector.add("SK006", second, message, fix="remove one of the two", related=place)


class _Open:
    """A container that is not closed yet."""

    __slots__ = ("anchor", "key", "merges", "node")

    def __init__(self, node: MapNode | ListNode, anchor: str | None) -> None:
        self.node = node
        self.anchor = anchor
        self.key: ScalarNode | None = None
        self.merges: list[tuple[ScalarNode, Node]] = []


def _place(event: Any) -> Position:
    return Position(event.start_mark.line + 1, event.start_mark.column + 1)


def _short(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")
