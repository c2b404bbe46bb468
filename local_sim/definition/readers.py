"""Reads typed values out of nodes; whatever does not fit becomes a finding and None."""

from __future__ import annotations

import re
from collections.abc import Iterable

from local_sim.expression import (
    PLAIN_ROOTS,
    ArityError,
    Condition,
    Expression,
    ExpressionSyntaxError,
    NotAllowedHereError,
    Position,
    TooDeepError,
    UnknownNameError,
    compile_condition,
    compile_expression,
)

from .collector import Collector
from .fields import proposal
from .nodes import ListNode, MapNode, Node, ScalarNode, describe
from .yaml_reader import find_glued

_SLASHES = re.compile(r"\s//")
_EXPRESSION_CODES: tuple[tuple[type[ExpressionSyntaxError], str], ...] = (
    (ArityError, "SK304"),
    (NotAllowedHereError, "SK305"),
    (TooDeepError, "SK306"),
)


class Reader:
    """Typed access to the fields of one map. `what` names the map in messages, for example "the Task 'pay'"."""

    def __init__(self, node: MapNode, what: str, collector: Collector) -> None:
        self.node = node
        self.what = what
        self.collector = collector

    def check_fields(self, known: Iterable[str], elsewhere: frozenset[str] = frozenset()) -> None:
        """Report fields that are not known; `elsewhere` are fields of other kinds of state."""
        known = frozenset(known)
        for name, (key, _) in self.node.entries.items():
            if name in known or self.collector.full:
                continue
            if name in elsewhere:
                fix = f"remove it; {self.what} may have {', '.join(sorted(known))}"
                self.collector.add("SK107", key, f"{self.what} cannot have {name}", fix=fix)
            else:
                self.collector.add("SK101", key, f"{self.what} has no field {name[:60]!r}", fix=proposal(name, known))

    def required(self, field: str, fix: str = "") -> Node | None:
        """Return a field's value; a missing one is a finding at the map itself."""
        node = self.node.get(field)
        if node is None:
            self.collector.add("SK102", self.node, f"{self.what} needs {field}", fix=fix or f"add '{field}:'")
        return node

    def wrong(self, field: str, node: Node, wanted: str, fix: str = "") -> None:
        """Report a value of the wrong type."""
        if isinstance(node, ScalarNode) and node.plain and (glued := find_glued(node.text)):
            fix = f"put a blank after '{glued}:'"
        self.collector.add("SK103", node, f"{field} of {self.what} must be {wanted}, not {describe(node)}", fix=fix)

    def text(self, field: str, *, required: bool = False, fix: str = "") -> str | None:
        """Return a text field. Numbers, booleans and null are refused with the advice to quote (C22)."""
        node = self.required(field, fix) if required else self.node.get(field)
        return None if node is None else self.text_of(field, node)

    def text_of(self, field: str, node: Node) -> str | None:
        """Return the text of a node of a field."""
        if not isinstance(node, ScalarNode) or type(node.value) is not str:
            quotable = isinstance(node, ScalarNode) and node.text
            self.wrong(
                field, node, "a text", f'write "{node.text}"' if isinstance(node, ScalarNode) and quotable else ""
            )
            return None
        if node.plain and field not in ("Description", "Detail") and _SLASHES.search(node.text):
            kept = _SLASHES.split(node.text)[0]
            message = f"'//' starts no comment; the whole text {node.text[:60]!r} is the value"
            self.collector.add("SK016", node, message, fix=f"write '{field}: {kept}' and start comments with '#'")
        return node.value

    def choice(self, field: str, allowed: tuple[str, ...], *, required: bool = False) -> str | None:
        """Return a text field that has a fixed set of values."""
        value = self.text(field, required=required)
        if value is None or value in allowed:
            return value
        self.collector.add(
            "SK108",
            self.node.entries[field][1],
            f"{field} of {self.what} is {value[:60]!r}",
            fix=_one_of(value, allowed),
        )
        return None

    def flag(self, field: str) -> bool | None:
        """Return a boolean field."""
        node = self.node.get(field)
        if node is None:
            return None
        if isinstance(node, ScalarNode) and type(node.value) is bool:
            return node.value
        self.wrong(field, node, "true or false", "write true or false without quotes")
        return None

    def integer(self, field: str, low: int, high: int, *, required: bool = False, as_text: bool = False) -> int | None:
        """Return a whole number between two bounds (A22). `as_text`: digits in quotes are taken too."""
        node = self.required(field) if required else self.node.get(field)
        if node is None:
            return None
        value = node.value if isinstance(node, ScalarNode) else None
        if as_text and isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            value = int(value)
        if type(value) is not int:
            self.wrong(field, node, "a whole number", "write digits without quotes")
            return None
        return value if self._within(field, node, value, low, high) else None

    def number(self, field: str, low: float, high: float) -> float | None:
        """Return a number between two bounds."""
        node = self.node.get(field)
        if node is None:
            return None
        value = node.value if isinstance(node, ScalarNode) else None
        if not isinstance(value, int | float) or isinstance(value, bool):
            self.wrong(field, node, "a number", "write it without quotes")
            return None
        return value if self._within(field, node, value, low, high) else None

    def _within(self, field: str, node: Node, value: float, low: float, high: float) -> bool:
        if low <= value <= high:
            return True
        message = f"{field} of {self.what} is {str(value)[:40]}, allowed are {low} to {high}"
        self.collector.add("SK105", node, message, fix=f"use a value from {low} to {high}")
        return False

    def mapping(self, field: str, *, required: bool = False) -> MapNode | None:
        """Return a field that is a map."""
        node = self.required(field) if required else self.node.get(field)
        if node is None or isinstance(node, MapNode):
            return node
        self.wrong(field, node, "a map")
        return None

    def sequence(self, field: str, *, required: bool = False, filled: bool = True) -> ListNode | None:
        """Return a field that is a list; `filled`: an empty one is refused."""
        node = self.required(field) if required else self.node.get(field)
        if node is None:
            return None
        if not isinstance(node, ListNode):
            self.wrong(field, node, "a list", "start each entry with '- '")
            return None
        if filled and not node.items:
            self.collector.add(
                "SK105", node, f"{field} of {self.what} is empty", fix="add at least one entry or leave the field out"
            )
            return None
        return node

    def maps(self, field: str, *, required: bool = False, filled: bool = True) -> list[MapNode]:
        """Return the entries of a list of maps; entries of another kind are reported and left out."""
        found = self.sequence(field, required=required, filled=filled)
        maps: list[MapNode] = []
        for item in found.items if found else ():
            if isinstance(item, MapNode):
                maps.append(item)
            else:
                self.wrong(f"an entry of {field}", item, "a map")
        return maps

    def expression(self, field: str, *, required: bool = False) -> Expression | None:
        """Return a field that is an expression."""
        text = self.text(field, required=required)
        if text is None:
            return None
        node = scalar(self.node.entries[field][1])
        try:
            return compile_expression(text, name=field, position=expression_place(node), roots=PLAIN_ROOTS)
        except ExpressionSyntaxError as error:
            report_expression(error, node, f"{field} of {self.what}", self.collector)
            return None

    def condition(self, field: str) -> Condition | None:
        """Return a field that is a condition."""
        text = self.text(field, required=True, fix="add 'Condition:' with a comparison")
        if text is None:
            return None
        node = scalar(self.node.entries[field][1])
        try:
            return compile_condition(text, name=field, position=expression_place(node))
        except ExpressionSyntaxError as error:
            report_expression(error, node, f"{field} of {self.what}", self.collector)
            return None


def scalar(node: Node) -> ScalarNode:
    """Return the node, known to be a scalar."""
    if not isinstance(node, ScalarNode):
        raise TypeError("not a scalar")
    return node


def expression_place(node: ScalarNode, column: int = 1) -> Position:
    """Return the place of a column of an expression; the scalar's own place where quotes or folding hide it."""
    if node.shift < 0:
        return node.position
    return Position(node.line, node.column + node.shift + column - 1)


def report_expression(error: ExpressionSyntaxError, node: Node, where: str, collector: Collector) -> None:
    """Turn a refused expression into a finding."""
    code = next((code for kind, code in _EXPRESSION_CODES if isinstance(error, kind)), "SK301")
    if isinstance(error, UnknownNameError):
        code = "SK303" if error.message.startswith("unknown function") else "SK302"
    place = expression_place(node, error.column) if isinstance(node, ScalarNode) else node.position
    message = f"{where}: {error.message} (column {error.column})"
    collector.add(code, place, message, fix=error.fix, text=error.text[:200])


def _one_of(value: str, allowed: tuple[str, ...]) -> str:
    from local_sim.expression.spelling import nearest

    near = nearest(value, allowed)
    return f"did you mean {near}?" if near else f"allowed are {', '.join(allowed)}"
