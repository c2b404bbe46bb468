"""Findings: what the checker has to say about a place in a flow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from local_sim.expression import Position

from .rules import RULES


class Severity(str, Enum):
    """How bad a finding is."""

    ERROR = "error"
    """The definition is refused."""
    WARNING = "warning"
    """It runs, and most likely not as meant."""
    NOTE = "note"
    """It leans on a point CloudFlow's documentation leaves open (docs/assumptions.md); `--strict` makes it an error."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `text` is the offending piece of the flow, `fix` what to do, `related` a second place (or None)."""

    code: str
    severity: Severity
    message: str
    source: str
    position: Position
    text: str = ""
    fix: str = ""
    related: Position | None = None

    @property
    def slug(self) -> str:
        """The rule's name, for example `unknown-field`."""
        return RULES[self.code].slug

    @property
    def assumption(self) -> str:
        """The id of the assumption the finding is about, or an empty text."""
        return RULES[self.code].assumption

    @property
    def place(self) -> str:
        """The place as file:line:column."""
        return f"{self.source}:{self.position.line}:{self.position.column}"

    def __str__(self) -> str:
        fix = f"; {self.fix}" if self.fix else ""
        return f"{self.place}: {self.severity.value} {self.code} {self.slug}: {self.message}{fix}"


@dataclass(frozen=True, slots=True)
class Report:
    """All findings of one flow, in the order of the text."""

    source: str
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make the definition unusable."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong: no error and no warning. Notes do not count."""
        return all(finding.severity is Severity.NOTE for finding in self.findings)

    def codes(self) -> list[str]:
        """Return the codes in the order of the findings."""
        return [finding.code for finding in self.findings]

    def strict(self) -> Report:
        """Return the report with every warning and note made an error."""
        hard = tuple(replace(finding, severity=Severity.ERROR) for finding in self.findings)
        return Report(self.source, hard)
