"""Gathers findings while a flow is read and checked."""

from __future__ import annotations

from typing import Protocol

from local_sim.expression import Position

from .findings import Finding, Report, Severity
from .nodes import ScalarNode
from .rules import RULES

MAX_FINDINGS = 1_000
"""After so many findings the rest are dropped; a text with more is not read by anybody."""


class Placed(Protocol):
    """Anything with a place: a node, a state, an expression."""

    @property
    def position(self) -> Position:
        """Where it starts."""
        ...


class Collector:
    """A growing list of findings for one source.

    Equal findings are kept once (an alias is seen from several places).
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._found: dict[Finding, None] = {}

    def add(
        self,
        code: str,
        at: Placed | Position,
        message: str,
        *,
        fix: str = "",
        text: str = "",
        related: Position | None = None,
    ) -> None:
        """Record a finding of a rule at a node or position."""
        if len(self._found) >= MAX_FINDINGS:
            return
        position = at if isinstance(at, Position) else at.position
        if not text and isinstance(at, ScalarNode):
            text = at.text[:200]
        severity = Severity(RULES[code].severity)
        self._found[Finding(code, severity, message, self.source, position, text, fix, related)] = None

    def extend(self, other: Collector) -> None:
        """Take over what another collector found."""
        self._found.update(other._found)

    @property
    def failed(self) -> bool:
        """Whether an error is among the findings."""
        return any(finding.severity is Severity.ERROR for finding in self._found)

    def report(self) -> Report:
        """Return the findings in the order of the text."""
        return Report(self.source, tuple(sorted(self._found, key=lambda one: (one.position, one.code, one.message))))
