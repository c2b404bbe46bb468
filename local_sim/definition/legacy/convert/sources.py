"""Paths and constants of the older dialect as expressions of the newer language."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

from local_sim.definition.legacy.conditions import LegacyLexer
from local_sim.definition.legacy.paths import STAR, LegacyPath, scan_path
from local_sim.expression import Path, unparse
from local_sim.expression.nodes import Call, Compare, Literal, Logic, Node, Unary
from local_sim.expression.parser import parse_condition

Json: TypeAlias = Any
TOKEN = "$Context.Current.TaskToken"  # noqa: S105 - an expression
FRAME = {"input.$": "$Input.input", "local.$": "$Input.local"}
"""The constructor that hands the frame on unchanged."""


class NoEquivalent(Exception):
    """A source the newer language cannot express; `stand_in` is the closest there is."""

    def __init__(self, message: str, stand_in: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.stand_in = stand_in


Local: TypeAlias = "str | Callable[[tuple[str | int, ...]], str] | None"
"""How `$local` is written: a path, a function of the steps behind it, or None when there is none."""


def step_text(base: str, steps: Sequence[str | int]) -> str:
    """Return a path: `base` and the steps behind it."""
    return base + unparse(Path("", tuple(steps)))


def expression_of(text: str, *, input_at: str, local: Local, flow: str, tokens: Sequence[str] = ()) -> str:
    """Return the expression of a path. `tokens` are keys of the input that hold the callback token.

    Raises NoEquivalent.
    """
    path, _ = scan_path(text)
    if path.root == "$context":
        return _context(path, flow)
    if path.root == "$local":
        return _local(path, local)
    if path.steps and path.steps[0] in tokens:
        return TOKEN
    if STAR in path.steps:
        whole = step_text(input_at, path.steps[: path.steps.index(STAR)])
        raise NoEquivalent(f"{text}: there are no projections; read the items one by one, or in a function", whole)
    return step_text(input_at, path.steps)


def _local(path: LegacyPath, local: Local) -> str:
    if local is None:
        raise NoEquivalent(f"{path.text}: there is no local here")
    if callable(local):
        return local(path.steps)
    if STAR in path.steps:
        whole = step_text(local, path.steps[: path.steps.index(STAR)])
        raise NoEquivalent(f"{path.text}: there are no projections; read the items in a function", whole)
    return step_text(local, path.steps)


def _context(path: LegacyPath, flow: str) -> str:
    if path.steps == ("execution", "name"):
        return "$Context.Execution.Name"
    if path.steps == ("task", "token"):
        return TOKEN
    if path.steps == ("flow", "name") and flow:
        return json.dumps(flow, ensure_ascii=False)
    raise NoEquivalent(f"{path.text}: no documented path gives it")


def branch_locals(count: int) -> Callable[[tuple[str | int, ...]], str]:
    """Return how a Parallel's array local is read: by branch, or all branches put into an array."""

    def read(steps: tuple[str | int, ...]) -> str:
        if steps and isinstance(steps[0], int) and steps[0] != STAR and STAR not in steps[1:]:
            if steps[0] >= count:
                raise NoEquivalent(f"$local[{steps[0]}]: there are {count} branches")
            return step_text(f"$Output.Branch{steps[0]}.local", steps[1:])
        rest = steps[1:]
        if STAR in rest or (steps and steps[0] != STAR):
            raise NoEquivalent("a projection inside a projection has no equivalent", "$Output")
        parts = (step_text(f"$Output.Branch{number}.local", rest) for number in range(count))
        return f"toArray({', '.join(parts)})"

    return read


def item_locals(steps: tuple[str | int, ...]) -> str:
    """Return how a Map's array local is read: one item at a time only."""
    if steps and isinstance(steps[0], int) and steps[0] != STAR and STAR not in steps[1:]:
        return step_text(f"$Output.Items[{steps[0]}].local", steps[1:])
    raise NoEquivalent("the local of a foreach is an array of objects {local: ...} here", "$Output.Items")


def condition_of(text: str) -> str:
    """Return a choice's condition on `$Input.step`."""
    return unparse(_on_step(parse_condition(text, LegacyLexer)))


def _on_step(node: Node) -> Node:
    if isinstance(node, Path):
        return Path("$Input", ("step", *node.steps))
    if isinstance(node, Unary):
        return Unary(node.operator, _on_step(node.operand))
    if isinstance(node, Compare):
        return Compare(node.operator, _on_step(node.left), _on_step(node.right))
    if isinstance(node, Logic):
        return Logic(node.operator, tuple(map(_on_step, node.operands)))
    assert isinstance(node, Literal | Call)
    return node


def is_path(value: Json) -> TypeGuard[str]:
    """Say whether a value of a mapping is a path."""
    return isinstance(value, str) and value.startswith("$")


def constructor(
    entries: Mapping[str, Json], translate: Callable[[str], str], lose: Callable[[NoEquivalent], None], *, deep: bool
) -> dict[str, Json]:
    """Return a map of values as a constructor. `deep`: paths inside maps and lists count too."""
    made: dict[str, Json] = {}
    for key, value in entries.items():
        if deep and isinstance(value, list) and any(map(is_path, value)):
            value = f"toArray({', '.join(translate(item) if is_path(item) else _literal(item) for item in value)})"
            made[f"{key}.$"] = value
        elif deep and isinstance(value, dict):
            made[key] = constructor(value, translate, lose, deep=True)
        elif not is_path(value):
            made[key] = value
        else:
            try:
                made[f"{key}.$"] = translate(value)
            except NoEquivalent as error:
                lose(error)
                made[f"{key}.$" if error.stand_in else key] = error.stand_in or None
    return made


def _literal(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
