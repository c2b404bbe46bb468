"""What the older dialect's tests share: flows from a list of steps, and rows of a conformance table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from engine_kit import Run, body, indent, simulate

from local_sim.definition import load_flow
from local_sim.definition.model import Flow

__all__ = ["Row", "body", "legacy", "rows", "text_of"]


def text_of(steps: str, head: str = "") -> str:
    """Return a flow's text from its list of steps."""
    return f"version: v1beta1\ntype: flow\nname: old\n{head}\nsteps:\n{indent(steps)}\n"


def legacy(steps: str, head: str = "") -> Flow:
    """Return the flow of a list of steps."""
    return load_flow(text_of(steps, head))


@dataclass(frozen=True)
class Row:
    """One line of a table. `source` is a section of the legacy page, an assumption's id or a public flow.

    Expected is `output`, or `error` with a part of its cause; `visited` and `seconds` are checked when given.
    """

    source: str
    name: str
    steps: str
    output: Any = None
    error: str = ""
    cause: str = ""
    input: Mapping[str, Any] = field(default_factory=dict)
    tasks: Mapping[str, Any] = field(default_factory=dict)
    visited: str | None = None
    seconds: float | None = None
    head: str = ""

    def __str__(self) -> str:
        return f"{self.source}: {self.name}"

    def check(self) -> Run:
        """Run the row and assert what it expects."""
        run = simulate(legacy(self.steps, self.head), input=dict(self.input), tasks=self.tasks)
        if self.error:
            assert (run.status, run.error) == ("Failed", self.error), run.cause
            assert self.cause in run.cause
        else:
            assert (run.status, run.output) == ("Succeeded", self.output), (run.error, run.cause)
        if self.visited is not None:
            assert " ".join(run.visited()) == self.visited
        if self.seconds is not None:
            assert run.at_ms / 1000 == self.seconds
        return run


def rows(*table: Row) -> pytest.MarkDecorator:
    """Parametrize a test over a table."""
    return pytest.mark.parametrize("row", table, ids=str)
