"""Compiled expressions, conditions and constructors: what a definition holds and the engine evaluates."""

from __future__ import annotations

from .errors import EvaluationError, ExpressionSyntaxError
from .evaluators import as_bool, compile_node
from .nodes import Node
from .parser import parse_condition, parse_expression
from .paths import Evaluator
from .position import Position
from .scope import Scope
from .values import Json

PLAIN_ROOTS = frozenset(("$Input", "$Global"))
"""What can be read anywhere, besides `$Context`."""
OUTPUT_ROOTS = PLAIN_ROOTS | {"$Output"}
"""What OutputConstructor and GlobalConstructor can read (language page 4.1)."""
ITEM_ROOTS = PLAIN_ROOTS | {"$Item"}
"""What ItemConstructor can read."""


class Expression:
    """A path, a call or a literal, compiled: `text` as written, `tree` its parsed form, `name` its field or key."""

    __slots__ = ("_run", "name", "position", "text", "tree")

    def __init__(self, text: str, tree: Node, run: Evaluator, name: str, position: Position | None) -> None:
        self.text = text
        self.tree = tree
        self.name = name
        self.position = position
        self._run = run

    def evaluate(self, scope: Scope) -> Json:
        """Return the value. Raises EvaluationError (A08) naming the field, the text and the position."""
        try:
            return self._run(scope)
        except EvaluationError as error:
            error.place(self.text, self.position)
            if self.name:
                error.prefix(self.name)
            raise

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and type(other) is type(self) and other.text == self.text

    def __hash__(self) -> int:
        return hash((type(self), self.text))


class Condition(Expression):
    """A Choice branch's condition, compiled."""

    __slots__ = ()

    def evaluate(self, scope: Scope) -> bool:
        """Return whether the condition holds. Raises EvaluationError when it is not a boolean (A09)."""
        value = super().evaluate(scope)
        if value is True or value is False:
            return bool(value)
        try:
            return as_bool(value, self.tree)
        except EvaluationError as error:
            error.place(self.text, self.position)
            error.prefix(self.name)
            raise


def compile_expression(
    text: str, *, name: str = "", position: Position | None = None, roots: frozenset[str] = PLAIN_ROOTS
) -> Expression:
    """Compile what stands behind a `.$` key, or an ItemsPath. `position` is of the text's first character in the flow.

    Raises ExpressionSyntaxError with column, key (`name`) and position.
    """
    try:
        tree = parse_expression(text)
        return Expression(text, tree, compile_node(tree, text, roots), name, position)
    except ExpressionSyntaxError as error:
        error.key, error.position = name, position
        raise


def compile_condition(
    text: str, *, name: str = "Condition", position: Position | None = None, roots: frozenset[str] = PLAIN_ROOTS
) -> Condition:
    """Compile a Condition (language page 5.3). Raises ExpressionSyntaxError with column, key (`name`) and position."""
    try:
        tree = parse_condition(text)
        return Condition(text, tree, compile_node(tree, text, roots), name, position)
    except ExpressionSyntaxError as error:
        error.key, error.position = name, position
        raise
