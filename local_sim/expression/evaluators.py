"""Compiles trees to closures, so that running a state parses nothing and looks up nothing twice."""

from __future__ import annotations

import operator
from collections.abc import Callable

from .errors import EvaluationError
from .functions import FUNCTIONS
from .nodes import Call, Compare, Literal, Logic, Node, Path, Unary
from .paths import Evaluator, compile_path
from .scope import Scope
from .unparse import unparse
from .values import Json, identity, type_name

_ORDER: dict[str, Callable[[Json, Json], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_NUMBERS = (int, float)


def compile_node(node: Node, text: str, roots: frozenset[str]) -> Evaluator:
    """Return what evaluates a tree. Raises ExpressionSyntaxError for names that cannot be read here."""
    if isinstance(node, Literal):
        value = node.value
        return lambda scope: value
    if isinstance(node, Path):
        return compile_path(node, text, roots)
    if isinstance(node, Call):
        return _call(node, tuple(compile_node(part, text, roots) for part in node.arguments))
    if isinstance(node, Unary):
        operand = compile_node(node.operand, text, roots)
        return _negation(operand, node) if node.operator == "!" else _minus(operand, node)
    if isinstance(node, Compare):
        sides = compile_node(node.left, text, roots), compile_node(node.right, text, roots)
        return _membership(*sides, node) if node.operator == "in" else _comparison(*sides, node)
    parts = tuple(compile_node(part, text, roots) for part in node.operands)
    return _logic(parts, node)


def _call(node: Call, arguments: tuple[Evaluator, ...]) -> Evaluator:
    name = node.name
    return lambda scope: call_function(name, scope, [argument(scope) for argument in arguments])


def call_function(name: str, scope: Scope, values: list[Json]) -> Json:
    """Run a built-in function on values. Raises EvaluationError (A08)."""
    try:
        return FUNCTIONS[name](scope, *values)
    except RecursionError:
        raise EvaluationError(f"{name}: the value is nested too deep") from None
    except UnicodeEncodeError:
        raise EvaluationError(f"{name}: the text holds half of a surrogate pair") from None
    except ValueError as error:  # Python refuses to write whole numbers of more than 4,300 digits (A48)
        raise EvaluationError(f"{name}: {error}") from None


def as_bool(value: Json, node: Node) -> bool:
    """Return the value of a condition or a logical operand. Raises EvaluationError unless it is a boolean (A09)."""
    if value is True or value is False:
        return bool(value)
    raise EvaluationError(f"{unparse(node)} is {type_name(value)}, not true or false")


def _negation(operand: Evaluator, node: Unary) -> Evaluator:
    return lambda scope: not as_bool(operand(scope), node.operand)


def _minus(operand: Evaluator, node: Unary) -> Evaluator:
    def run(scope: Scope) -> Json:
        value = operand(scope)
        if type(value) in _NUMBERS:
            return -value
        raise EvaluationError(f"'-' wants a number; {unparse(node.operand)} is {type_name(value)}")

    return run


def _logic(parts: tuple[Evaluator, ...], node: Logic) -> Evaluator:
    decides = node.operator == "||"
    pairs = tuple(zip(parts, node.operands, strict=True))

    def run(scope: Scope) -> Json:
        for part, tree in pairs:
            value = part(scope)
            if value is not True and value is not False:
                as_bool(value, tree)
            if value is decides:
                return decides
        return not decides

    return run


def _comparison(left: Evaluator, right: Evaluator, node: Compare) -> Evaluator:
    compare = _ORDER[node.operator]
    equality = node.operator in ("==", "!=")

    def run(scope: Scope) -> Json:
        a, b = left(scope), right(scope)
        kind, other = type(a), type(b)
        if (kind in _NUMBERS and other in _NUMBERS) or (kind is str and other is str):
            return compare(a, b)
        if equality and kind is other and (kind is bool or a is None):
            return compare(a, b)
        raise _incomparable(node, a, b)

    return run


def _incomparable(node: Compare, left: Json, right: Json) -> EvaluationError:
    kinds = type_name(left), type_name(right)
    if kinds[0] != kinds[1]:
        return EvaluationError(f"cannot compare different types: {unparse(node)} compares {kinds[0]} with {kinds[1]}")
    return EvaluationError(f"cannot compare: {unparse(node)} compares {kinds[0]} with {kinds[1]} by '{node.operator}'")


def _membership(left: Evaluator, right: Evaluator, node: Compare) -> Evaluator:
    def run(scope: Scope) -> Json:
        value, container = left(scope), right(scope)
        if type(container) is dict:
            if type(value) is str:
                return value in container
            raise EvaluationError(
                f"'in' looks for a key of an object, but {unparse(node.left)} is {type_name(value)}, not text"
            )
        if type(container) is not list:
            raise EvaluationError(f"'in' wants an array or an object; {unparse(node.right)} is {type_name(container)}")
        try:
            wanted = identity(value)
            return any(identity(item) == wanted for item in container)
        except RecursionError:
            raise EvaluationError("'in': the value is nested too deep") from None

    return run
