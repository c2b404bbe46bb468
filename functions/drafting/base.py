"""What a draft provider is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["Draft", "DraftProvider", "DraftRequest"]


@dataclass(frozen=True)
class DraftRequest:
    """One draft to be written.

    `title` names the document, `material` is its text, `note` the reviewer's wish ("" on the first lap), `key` the
    step's idempotency key, `limit` the longest draft in characters.
    """

    title: str
    material: str
    note: str
    key: str
    limit: int


@dataclass(frozen=True)
class Draft:
    """A draft as Markdown, and who wrote it (`extractive`, or the model's name)."""

    text: str
    author: str


class DraftProvider(Protocol):
    """Writes drafts. Raises the typed errors of `functions.errors`.

    A provider may be called again when a worker died between its answer and the ledger: asking for a draft changes
    nothing on the other side, so a second call costs time or tokens but does nothing twice (assumption K06).
    """

    name: str

    def write(self, request: DraftRequest) -> Draft:
        """The draft. Raises `TemporaryUpstreamError`, `InvalidInput` or `SystemFault`."""
        ...
