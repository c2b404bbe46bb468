"""Rows of a task beside its steps: whatever else has to be decided once, such as a review, with the same guarantees.

An entry changes by compare-and-set on its revision: one conditional write of one row, whose own mark (a column per
revision, never written again) settles whether it landed, whatever the store answered. A mark also carries what changed,
so the marks are the entry's trail.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ledger.canonical_json import JsonValue, canonical, check_cell
from ledger.claims import Claims
from ledger.errors import InvalidKey
from ledger.keys import STEP_PREFIX, TASK_ENTRY, UNWIND_PREFIX, RowKey, check_column, check_part, check_task_id
from ledger.records import Cell, StoredRow
from ledger.store import Column, TableStore
from ledger.tasks import day_of
from ledger.writes import Write

_SHARDS = 8
_MARK, _REVISION = "w_", "revision"
_TAKEN = (STEP_PREFIX, UNWIND_PREFIX, TASK_ENTRY)


@dataclass(frozen=True)
class Mark:
    """One change of an entry: the revision it made, the store's own time (ms), and what the caller noted with it."""

    revision: int
    at_ms: int
    note: JsonValue


@dataclass(frozen=True)
class Entry:
    """An entry as read. `columns` are the caller's own; `revision` counts its changes from 1; `trail` is oldest
    first."""

    task_id: str
    entry: str
    revision: int
    columns: Mapping[str, Cell]
    trail: tuple[Mark, ...] = ()


class Entries:
    """Creates, changes, reads and finds entries; `Ledger.entries` gives one.

    Names look like `review/...`; those of steps are refused with `InvalidKey`, and so are columns that are not ASCII or
    the ledger's own (`revision`, `w_...`); values that no column holds are `NotJson`. Every method may raise
    `LedgerUnavailable`.
    """

    def __init__(self, store: TableStore, claims: Claims, tasks_table: str) -> None:
        self._store, self._claims, self._table = store, claims, tasks_table

    def create(self, task_id: str, entry: str, columns: Mapping[str, Cell], note: JsonValue = None) -> Entry | None:
        """Make the entry. None when it was there already."""
        key = _key(task_id, entry)
        return self._write(key, 0, columns, note, {})

    def change(self, before: Entry, columns: Mapping[str, Cell], note: JsonValue = None) -> Entry | None:
        """Write `columns` if the entry still is as `before`. None when somebody else changed it first."""
        return self._write(_key(before.task_id, before.entry), before.revision, columns, note, before.columns)

    def read(self, task_id: str, entry: str) -> Entry | None:
        """The entry, or None."""
        row = self._store.read(_key(task_id, entry))
        return None if row is None else _decode(row)

    def under(self, task_id: str, prefix: str) -> Iterator[Entry]:
        """Yield the entries of a task whose name begins with `prefix`, in order of name."""
        _key(task_id, prefix)
        for row in self._store.scan(task_id, Column(prefix, prefix + "\U0010ffff")):
            yield _decode(row)

    def announce(self, topic: str, task_id: str, entry: str, at_ms: int) -> None:
        """Make an entry findable by time under `topic` (letters). Done before the entry is made, so that none is lost;
        whoever finds one has to look whether it is there."""
        name = hashlib.sha256(f"{task_id}\0{entry}".encode()).hexdigest()[:32]
        bucket = f"{topic}-{day_of(at_ms)}/{int(name[:2], 16) % _SHARDS}"
        key = [("bucket", bucket), ("begun", f"{at_ms:015d}/{name}")]
        self._store.put(self._table, key, {"task_id": task_id, "entry": entry})

    def announced(self, topic: str, from_ms: int, to_ms: int) -> Iterator[tuple[str, str]]:
        """Yield (task id, entry) of what was announced from the day of `from_ms` to the day of `to_ms`, each once."""
        from tablestore import INF_MAX, INF_MIN

        low, high = f"{topic}-{day_of(from_ms)}/", f"{topic}-{day_of(to_ms)}/~"
        seen: set[tuple[str, str]] = set()
        for _, columns in self._store.scan_table(
            self._table, [("bucket", Column(low, high)), ("begun", Column(INF_MIN, INF_MAX))]
        ):
            named = {name: value for name, value, _ in columns}
            found = (str(named.get("task_id", "")), str(named.get("entry", "")))
            if all(found) and found not in seen:
                seen.add(found)
                yield found

    def _write(
        self, key: RowKey, revision: int, columns: Mapping[str, Cell], note: JsonValue, before: Mapping[str, Cell]
    ) -> Entry | None:
        _check_columns(columns)
        moment = self._claims.moment()
        proof = f"{_MARK}{revision + 1:08d}"
        mark = canonical({"w": moment.write_id, "note": note})
        expect: dict[str, Cell] | None = {_REVISION: revision} if revision else None
        write = Write(key, {**columns, _REVISION: revision + 1, proof: mark}, expect, proof)
        if not self._store.settle(write).won:
            return None
        return Entry(key.task_id, key.entry, revision + 1, {**before, **columns})


def _key(task_id: str, entry: str) -> RowKey:
    check_task_id(task_id)
    check_part("entry", entry)
    if entry.startswith(_TAKEN):
        raise InvalidKey("entry", entry, "names that begin with step/, unwind/ or task are the ledger's own")
    return RowKey(task_id, entry)


def _check_columns(columns: Mapping[str, Cell]) -> None:
    for name, value in columns.items():
        check_column(name)
        if name == _REVISION or name.startswith(_MARK):
            raise InvalidKey("column", name, f"{_REVISION} and {_MARK}... are the ledger's own")
        check_cell(value, f"$.{name}")


def _decode(row: StoredRow) -> Entry:
    own = {name: value for name, value in row.columns.items() if name != _REVISION and not name.startswith(_MARK)}
    trail = [_mark(name, row) for name in sorted(row.columns) if name.startswith(_MARK)]
    return Entry(row.key.task_id, row.key.entry, int(row.columns[_REVISION]), own, tuple(trail))


def _mark(name: str, row: StoredRow) -> Mark:
    fields: dict[str, Any] = json.loads(str(row.columns[name]))
    return Mark(int(name.removeprefix(_MARK)), row.written_ms.get(name, 0), fields["note"])
