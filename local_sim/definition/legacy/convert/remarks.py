"""What a conversion has to tell: what became something else, and what has no equivalent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Weight(str, Enum):
    """How much a remark weighs."""

    CHANGED = "changed"
    """Written in another way; it behaves alike."""
    LOST = "lost"
    """The newer language has no equivalent; the place needs a hand."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One remark about a step (empty: the flow) and its line in the old text."""

    weight: Weight
    line: int
    step: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.step or 'the flow'}: {self.weight.value}: {self.message}"


class Remarks:
    """A growing list of remarks; equal ones are kept once."""

    def __init__(self) -> None:
        self._found: dict[Remark, None] = {}

    def add(self, weight: Weight, line: int, step: str, message: str) -> None:
        """Record one."""
        self._found[Remark(weight, line, step, message)] = None

    def all(self) -> tuple[Remark, ...]:
        """Return them in the order of the old text."""
        return tuple(sorted(self._found, key=lambda one: (one.line, one.weight.value, one.message)))
