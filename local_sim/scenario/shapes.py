"""Which parts of `$Output` a state reads: what a mocked answer must have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from local_sim.definition.model import State
from local_sim.expression import MISSING, Path, Position, unparse, walk


@dataclass(frozen=True, slots=True)
class Read:
    """A path below `$Output` that a constructor reads, and where it stands."""

    steps: tuple[str | int, ...]
    text: str
    position: Position


def reads_of(state: State) -> Iterator[Read]:
    """Yield what the state's constructors read of `$Output`; a path that matches nothing fails the state (A08)."""
    for template in (state.output_constructor, state.global_constructor):
        for _, expression in template.expressions if template else ():
            for node in walk(expression.tree):
                if isinstance(node, Path) and node.root == "$Output":
                    yield Read(node.steps, unparse(node), expression.position or state.position)


def missing(read: Read, output: Any) -> str:
    """Return what the answer lacks, as a phrase; empty when the path matches."""
    value = output
    for number, step in enumerate(read.steps):
        found = _at(value, step)
        if found is MISSING:
            above = ".".join(["$Output", *map(str, read.steps[:number])])
            return f"{above} is {_kind(value)}"
        value = found
    return ""


def _at(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and 0 <= step < len(value) else MISSING
    return value.get(step, MISSING) if isinstance(value, dict) else MISSING


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        keys = ", ".join(map(str, list(value)[:10]))
        return f"an object with {keys}" if keys else "an empty object"
    return f"a list of {len(value)}" if isinstance(value, list) else f"{value!r}"
