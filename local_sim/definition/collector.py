"""Gathers findings while a flow is read and checked."""

from __future__ import annotations

from typing import Protocol

from local_sim.expression import Position

from .findings import Finding, Report, Severity
from .nodes import ScalarNode
from .rules import RULES

MAX_FINDINGS = 1_000
"""After so many findings of one severity the rest are dropped; notes never crowd out an error."""


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
        self._counts = dict.fromkeys(Severity, 0)

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
        severity = Severity(RULES[code].severity)
        if self._counts[severity] >= MAX_FINDINGS:
            return
        position = at if isinstance(at, Position) else at.position
        if not text and isinstance(at, ScalarNode):
            text = at.text[:200]
        finding = Finding(code, severity, message, self.source, position, text, fix, related)
        self._keep(finding)

    def _keep(self, finding: Finding) -> None:
        if finding not in self._found:
            self._found[finding] = None
            self._counts[finding.severity] += 1

    @property
    def full(self) -> bool:
        """Whether further errors are dropped; a check that makes many may stop then."""
        return self._counts[Severity.ERROR] >= MAX_FINDINGS

    def extend(self, other: Collector, *, without: str = "") -> None:
        """Take over what another collector found, except the findings of one rule."""
        for finding in other._found:
            if finding.code != without:
                self._keep(finding)

    @property
    def failed(self) -> bool:
        """Whether an error is among the findings."""
        return self._counts[Severity.ERROR] > 0

    def report(self) -> Report:
        """Return the findings in the order of the text."""
        return Report(self.source, tuple(sorted(self._found, key=lambda one: (one.position, one.code, one.message))))
