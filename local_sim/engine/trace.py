"""Which parts of a definition executions have gone through: what coverage of a flow is made of.

A trace is no part of the execution: it decides nothing and no replay needs it.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TypeAlias

from local_sim.definition.model import State
from local_sim.expression import Position


class Part(str, Enum):
    """What of a state was gone through."""

    ENTERED = "entered"
    LEFT = "left"
    """The state went on to its `Next`."""
    HELD = "held"
    """A Choice's condition was true; the index is the branch's."""
    FAILED = "failed"
    """A Choice's condition was false; the index is the branch's."""
    DEFAULT = "default"
    RETRIED = "retried"
    """A Retry rule was taken; the index is the rule's."""
    EXHAUSTED = "exhausted"
    """A Retry rule matched and had no attempts left; the index is the rule's."""
    CAUGHT = "caught"
    """A Catch rule was taken; the index is the rule's."""


Point: TypeAlias = tuple[Position, Part, int]
"""The state's place in the text, what of it, and the index of a branch or rule (0 otherwise)."""


class Trace:
    """Counts how often each point of one definition was gone through. Executions of the same definition share one."""

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts: Counter[Point] = Counter()

    def add(self, state: State, part: Part, index: int = 0) -> None:
        """Count one point."""
        self.counts[state.position, part, index] += 1

    def chose(self, state: State, taken: int, conditions: int) -> None:
        """Count what a choice tried: conditions before the one `taken` were false; `conditions` means the default."""
        for index in range(taken):
            self.add(state, Part.FAILED, index)
        if taken < conditions:
            self.add(state, Part.HELD, taken)
        else:
            self.add(state, Part.DEFAULT)
