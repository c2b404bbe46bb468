"""Conditions of the older dialect: the newer language's grammar and rules (A08-A10) on `$.x`."""

from __future__ import annotations

from local_sim.expression import (
    PLAIN_ROOTS,
    Call,
    Condition,
    Expression,
    ExpressionSyntaxError,
    NotAllowedHereError,
    Path,
    Position,
    UnknownNameError,
    walk,
)
from local_sim.expression.evaluators import compile_node
from local_sim.expression.lexer import Lexer, Token
from local_sim.expression.parser import parse_condition

from .paths import STAR, LegacyPath, parse_path, scan_path

_ROOTS = ("$", "$input")


class LegacyLexer(Lexer):
    """Reads `$.x` as the step's input; everything else as the newer language does."""

    def _path(self) -> Token:
        start = self._at
        path, self._at = scan_path(self._text, start)
        if path.root not in _ROOTS:
            fix = "a condition reads the step's input: $.key"
            raise UnknownNameError(f"unknown root {path.root}", self._text, start + 1, fix)
        if STAR in path.steps:
            raise NotAllowedHereError("'[*]' stands in mappings only", self._text, start + 1)
        return Token("path", ("$Input", path.steps), start + 1)


def compile_condition(text: str, position: Position) -> Condition:
    """Compile a choice's condition. Raises ExpressionSyntaxError with the column."""
    tree = parse_condition(text, LegacyLexer)
    for node in walk(tree):
        if isinstance(node, Call):
            raise ExpressionSyntaxError("the older dialect has no functions", text, node.column, "compute it in a task")
    return Condition(text, tree, compile_node(tree, text, PLAIN_ROOTS), "condition", position)


def compile_input_path(text: str, name: str, position: Position) -> Expression:
    """Compile `$.x` of a wait, a collection or a timeout. Raises ExpressionSyntaxError with the column."""
    path = parse_path(text, _ROOTS)
    if STAR in path.steps:
        raise NotAllowedHereError("'[*]' stands in mappings only", text, 1)
    tree = input_node(path)
    return Expression(text, tree, compile_node(tree, text, PLAIN_ROOTS), name, position)


def input_node(path: LegacyPath) -> Path:
    """Return the newer language's path for one that starts at the step's input."""
    return Path("$Input", path.steps)
