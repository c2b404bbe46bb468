"""The parsed form of an expression. Texts that mean the same give equal trees; columns do not count for equality."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from .values import Json


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: text, number, true, false, null, or a JSON array or object as a function's argument."""

    value: Json
    column: int = field(default=1, compare=False)
    quote: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Path:
    """`$Root.key[0]`: keys are str, indices are int. `spelling` is "bracket" or "hyphen" when it leans on A43."""

    root: str
    steps: tuple[str | int, ...]
    column: int = field(default=1, compare=False)
    spelling: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A built-in function under its first name, with its arguments."""

    name: str
    arguments: tuple[Node, ...]
    column: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`!x` or `-x`."""

    operator: str
    operand: Node
    column: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """Two operands and one of `== != < <= > >= in`."""

    operator: str
    left: Node
    right: Node
    column: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Logic:
    """Two or more operands joined by `&&` or by `||`, evaluated left to right until one decides (A37)."""

    operator: str
    operands: tuple[Node, ...]
    column: int = field(default=1, compare=False)
    grouped: bool = field(default=False, compare=False)


Node: TypeAlias = Literal | Path | Call | Unary | Compare | Logic


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of a node, left to right."""
    if isinstance(node, Call):
        return node.arguments
    if isinstance(node, Unary):
        return (node.operand,)
    if isinstance(node, Compare):
        return (node.left, node.right)
    return node.operands if isinstance(node, Logic) else ()


def walk(node: Node) -> list[Node]:
    """Return the node and everything below it, parents before their parts, left to right."""
    found: list[Node] = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting.extend(reversed(children(one)))
    return found
