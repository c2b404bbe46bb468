"""Reviews in the ledger: one row a round, changed by compare-and-set; one row a view."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from functions.errors import TemporaryUpstreamError
from functions.review.errors import ReviewUnknown
from functions.review.model import Review, ReviewId
from ledger import Entries, Entry

__all__ = ["Noted", "Record", "Reviews"]

TOPIC = "review"
_RACES = 50
_DAY_MS = 86_400_000


@dataclass(frozen=True)
class Noted:
    """One line of a review's trail: what happened (`opened`, `viewed`, `voted`, ...), who did it, in what words, when
    (ms since 1970, the store's time)."""

    kind: str
    by: str = ""
    text: str = ""
    at_ms: int = 0

    def as_json(self) -> dict[str, str]:
        """As it lies in the row; the time is the store's own."""
        return {"kind": self.kind, "by": self.by, "text": self.text}


@dataclass(frozen=True)
class Record:
    """A review as read: its row, its sealed tokens (a line each, newest first, "" when there are none any more), and
    its trail, oldest first."""

    review: Review
    sealed: str
    entry: Entry

    @property
    def trail(self) -> tuple[Noted, ...]:
        """What happened to the review, without its views."""
        return tuple(_noted(mark.note, mark.at_ms) for mark in self.entry.trail)


Change = Callable[[Record], "tuple[Review, str] | None"]
"""From what is there to the review and the sealed token that shall be there; None leaves all as it is."""


class Reviews:
    """Reads and writes reviews."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries

    def find(self, where: ReviewId) -> Record:
        """The review. Raises `ReviewUnknown`."""
        entry = self._entries.read(where.task_id, where.entry)
        if entry is None:
            raise ReviewUnknown(f"there is no review {where.step} of task {where.task_id}")
        return _record(entry)

    def create(self, review: Review, sealed: str, noted: Noted) -> bool:
        """Make the row, findable first. False when it was there."""
        where = review.id
        self._entries.announce(TOPIC, where.task_id, where.entry, review.opened_ms)
        return self._entries.create(where.task_id, where.entry, _columns(review, sealed), _json(noted)) is not None

    def change(self, where: ReviewId, change: Change, noted: Callable[[Review], Noted]) -> Record:
        """Write what `change` makes of the row, and look again when somebody else was faster. Returns what is there
        afterwards. Raises what `change` raises."""
        for _ in range(_RACES):
            record = self.find(where)
            wanted = change(record)
            if wanted is None:
                return record
            review, sealed = wanted
            entry = self._entries.change(record.entry, _columns(review, sealed), _json(noted(review)))
            if entry is not None:
                return Record(review, sealed, entry)
        raise TemporaryUpstreamError("the review kept changing", upstream="ledger", effect_applied=False)

    def of_task(self, task_id: str, folder: str = "review/") -> list[Record]:
        """All rounds of a task, the oldest first."""
        found = [_record(entry) for entry in self._entries.under(task_id, folder)]
        return sorted(found, key=lambda record: (record.review.opened_ms, record.review.round))

    def since(self, from_ms: int, to_ms: int) -> Iterator[Record]:
        """Yield the reviews opened from the day of `from_ms` on."""
        for task_id, name in self._entries.announced(TOPIC, from_ms, to_ms + _DAY_MS):
            entry = self._entries.read(task_id, name)
            if entry is not None:
                yield _record(entry)

    def viewed(self, where: ReviewId, noted: Noted, at_ms: int) -> None:
        """Note a view, in a row of its own: looking never gets into the way of deciding."""
        name = f"{where.views}{at_ms:015d}-{secrets.token_hex(4)}"
        self._entries.create(where.task_id, name, {"at_ms": at_ms}, _json(noted))

    def views(self, where: ReviewId) -> list[Noted]:
        """The views of a review, oldest first."""
        entries = self._entries.under(where.task_id, where.views)
        return [_noted(mark.note, mark.at_ms) for entry in entries for mark in entry.trail]


def _columns(review: Review, sealed: str) -> dict[str, str]:
    return {"state": review.state.value, "review": review.model_dump_json(), "token": sealed}


def _record(entry: Entry) -> Record:
    columns = entry.columns
    return Record(Review.model_validate_json(str(columns["review"])), str(columns.get("token", "")), entry)


def _json(noted: Noted) -> Any:
    return noted.as_json()


def _noted(note: Any, at_ms: int) -> Noted:
    fields = note if isinstance(note, dict) else {}
    return Noted(str(fields.get("kind", "")), str(fields.get("by", "")), str(fields.get("text", "")), at_ms)
