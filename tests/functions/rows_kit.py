"""Entries in memory, for what needs their compare-and-set but no store."""

from __future__ import annotations

import threading
from typing import Any

from ledger import Entry, Mark


class Rows:
    """The three methods of `ledger.Entries` that change by compare-and-set.

    Marks carry a clock that ticks a second a change. `away` makes every access fail; `reads` counts those that did not.
    """

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], Entry] = {}
        self.reads = 0
        self.away = False
        self._tick = 0
        self._lock = threading.Lock()

    def read(self, task_id: str, entry: str) -> Entry | None:
        self._check()
        self.reads += 1
        return self.rows.get((task_id, entry))

    def create(self, task_id: str, entry: str, columns: Any, note: Any = None) -> Entry | None:
        self._check()
        with self._lock:
            return None if (task_id, entry) in self.rows else self._put(task_id, entry, dict(columns), note, ())

    def change(self, before: Entry, columns: Any, note: Any = None) -> Entry | None:
        self._check()
        with self._lock:
            now = self.rows[before.task_id, before.entry]
            if now.revision != before.revision:
                return None
            return self._put(before.task_id, before.entry, {**now.columns, **columns}, note, now.trail)

    def _put(self, task_id: str, entry: str, columns: Any, note: Any, trail: tuple[Mark, ...]) -> Entry:
        self._tick += 1_000
        revision = len(trail) + 1
        made = Entry(task_id, entry, revision, columns, (*trail, Mark(revision, self._tick, note)))
        self.rows[task_id, entry] = made
        return made

    def _check(self) -> None:
        if self.away:
            raise OSError("the store is away")
