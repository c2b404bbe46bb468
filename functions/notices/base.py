"""What is told, and who tells it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from ledger import EffectKind

__all__ = ["Notice", "NoticeKind", "Receipt", "Sender"]

NoticeKind = Literal[
    "review_requested",
    "review_reassigned",
    "review_reminder",
    "review_escalated",
    "correction_needed",
    "handed_over",
    "result_saved",
]


@dataclass(frozen=True)
class Notice:
    """One message to people. `lines` are plain text; `key` is the step's idempotency key, the same for every
    attempt.
    """

    kind: NoticeKind
    task_id: str
    title: str
    lines: tuple[str, ...]
    key: str

    def text(self) -> str:
        """The message as plain text: the title, then a line each."""
        return "\n".join([self.title, *self.lines])

    def as_json(self) -> dict[str, Any]:
        """The message as a JSON object, `lines` as a list."""
        return {**asdict(self), "lines": list(self.lines)}


@dataclass(frozen=True)
class Receipt:
    """That a notice left: by which sender, and what the other side called it ("" when it gave no name)."""

    sender: str
    reference: str = ""

    def as_json(self) -> dict[str, Any]:
        """The receipt as a JSON object, to be kept in the ledger."""
        return asdict(self)


class Sender(Protocol):
    """Sends notices. `kind` says what happens when an earlier attempt's outcome is not known.

    `send` raises `TemporaryUpstreamError` with `effect_applied` False when the notice certainly did not leave, and
    None when nobody can tell; `SystemFault` when the set-up is wrong.
    """

    name: str
    kind: EffectKind

    def send(self, notice: Notice) -> Receipt:
        """Send `notice`."""
        ...
