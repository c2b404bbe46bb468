"""A Parallel or an inline Map under way: the lines of control it has started, and what they brought back."""

from __future__ import annotations

from collections.abc import Sequence

from local_sim.definition.model import Scope

from . import log
from .cursor import Cursor
from .events import Json


class Fan:
    """One attempt of a Parallel or Map. Children start in index order, at most `width` at a time.

    `scopes` has one scope a child (a Map repeats its processor); `inputs` one input a child. `children` holds those in
    flight.
    """

    __slots__ = (
        "cause",
        "children",
        "inputs",
        "is_map",
        "live",
        "outputs",
        "owner",
        "queued",
        "scopes",
        "started",
        "width",
    )

    def __init__(
        self, owner: Cursor, scopes: Sequence[Scope], inputs: Sequence[Json], width: int, *, is_map: bool
    ) -> None:
        self.owner = owner
        self.scopes = scopes
        self.inputs = inputs
        self.width = width
        self.is_map = is_map
        self.cause = owner.last
        self.children: dict[int, Cursor] = {}
        self.outputs: list[Json] = [None] * len(inputs)
        self.started = 0
        self.live = True
        self.queued = False

    @property
    def entered(self) -> str:
        """The history event of a child that starts."""
        return log.ITERATION_ENTERED if self.is_map else log.BRANCH_ENTERED

    @property
    def exited(self) -> str:
        """The history event of a child that ends."""
        return log.ITERATION_EXITED if self.is_map else log.BRANCH_EXITED

    def label(self, index: int) -> str:
        """Return a child's name in a path: `Branch0` or `Iteration0`."""
        return f"{'Iteration' if self.is_map else 'Branch'}{index}"

    def result(self) -> dict[str, Json]:
        """Return the default output: `{Branch0: ..., ...}` (PAR) or `{Items: [...]}` in input order (MAPI, A20)."""
        if self.is_map:
            return {"Items": self.outputs}
        return {self.label(index): output for index, output in enumerate(self.outputs)}
