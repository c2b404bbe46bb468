"""What can go wrong while loading a flow.

DefinitionError                  catch it for anything below; `findings` says what and where
├── UnreadableFlowError          the file cannot be read: missing, a folder, not UTF-8
└── InvalidFlowError             the text is no valid definition
"""

from __future__ import annotations

from local_sim.errors import LocalSimError

from .findings import Finding


class DefinitionError(LocalSimError):
    """Root of this package's errors. `findings` are the errors, in the order of the text; `source` names the file."""

    def __init__(self, source: str, findings: tuple[Finding, ...]) -> None:
        self.source = source
        self.findings = findings
        super().__init__("\n".join(map(str, findings)))


class UnreadableFlowError(DefinitionError):
    """The flow's file cannot be read as text at all."""


class InvalidFlowError(DefinitionError):
    """The text was read and is no valid definition; the checker's errors are in `findings`."""
