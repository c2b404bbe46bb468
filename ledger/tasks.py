"""Tasks: the versions they are pinned to, and the time-bucketed table in which they are found again.

The bucket row is written before the task's row, so every task that has begun can be found; one that lies in a bucket
without having begun is a crash between the two writes, and does not count.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from ledger.canonical_json import canonical
from ledger.claims import Claims
from ledger.errors import VersionsDiffer
from ledger.keys import TASK_ENTRY, RowKey, check_part, check_task_id
from ledger.model import Versions
from ledger.records import StoredRow
from ledger.settings import LedgerSettings
from ledger.store import Column, TableStore
from ledger.writes import Moment, Write

_SHARDS = 8
_PIN_COLUMNS = ("workflow", "function", "prompt", "input")


@dataclass(frozen=True)
class TaskEntry:
    """A task as the time-bucketed table has it; `begun_ms` by the clock of the worker that began it."""

    task_id: str
    begun_ms: int


@dataclass(frozen=True)
class Migration:
    """One explicit change of a task's pins."""

    revision: int
    before: Versions
    after: Versions
    reason: str
    by: str
    at_ms: int


@dataclass(frozen=True)
class TaskRecord:
    """A task's own row: its pins, when it began, and every migration since."""

    task_id: str
    versions: Versions
    begun_ms: int
    revision: int
    migrations: tuple[Migration, ...]


class Tasks:
    """Begins, pins, migrates and lists tasks."""

    def __init__(self, store: TableStore, claims: Claims, settings: LedgerSettings) -> None:
        self._store, self._claims, self._table = store, claims, settings.tasks_table
        self._pins: dict[str, Versions] = {}

    def begin(self, task_id: str, versions: Versions) -> Versions:
        """Pin a task; see `Ledger.begin`."""
        check_task_id(task_id)
        _check_versions(versions)
        moment = self._claims.moment()
        self._store.put(self._table, _bucket_key(task_id, moment.now_ms), {"begun_ms": moment.now_ms})
        settled = self._store.settle(_begin_write(task_id, versions, moment))
        if settled.won or settled.row is None:
            return self._remember(task_id, versions)
        record = decode_task(settled.row)
        if record.versions != versions:
            raise VersionsDiffer(record.versions, versions)
        return self._remember(task_id, record.versions)

    def repin(self, task_id: str, versions: Versions, reason: str, by: str) -> Versions:
        """Migrate a task to other versions; see `Ledger.repin`."""
        check_task_id(task_id)
        _check_versions(versions)
        check_part("reason", reason)
        while True:
            record = self.task(task_id)
            if record is None:
                raise VersionsDiffer(None, versions)
            if record.versions == versions:
                return self._remember(task_id, versions)
            write = _repin_write(record, versions, reason, by, self._claims.moment())
            if self._store.settle(write).won:
                return self._remember(task_id, versions)

    def check(self, task_id: str, versions: Versions) -> None:
        """Raise `VersionsDiffer` unless the task's pins agree.

        Pins are remembered per process, so this costs one read per task and process; a difference is looked up again,
        because the task may have been migrated meanwhile.
        """
        remembered = self._pins.get(task_id)
        if remembered is not None and remembered.agrees_with(versions):
            return
        record = self.task(task_id)
        if record is None or not record.versions.agrees_with(versions):
            raise VersionsDiffer(record.versions if record else None, versions)
        self._remember(task_id, record.versions)

    def task(self, task_id: str) -> TaskRecord | None:
        """Read a task's own row; None when it never began."""
        row = self._store.read(RowKey(task_id, TASK_ENTRY))
        return None if row is None else decode_task(row)

    def between(self, from_ms: int, to_ms: int) -> Iterator[TaskEntry]:
        """Yield the tasks begun in [from_ms, to_ms), each once, by day and then by shard."""
        from tablestore import INF_MAX, INF_MIN

        if from_ms >= to_ms:
            return
        bounds = [("bucket", Column(f"{day_of(from_ms)}/", f"{day_of(to_ms)}/~")), ("begun", Column(INF_MIN, INF_MAX))]
        seen: set[str] = set()
        for key, _ in self._store.scan_table(self._table, bounds):
            begun_text, _, task_id = str(key["begun"]).partition("/")
            if from_ms <= int(begun_text) < to_ms and task_id not in seen:
                seen.add(task_id)
                yield TaskEntry(task_id, int(begun_text))

    def _remember(self, task_id: str, versions: Versions) -> Versions:
        if len(self._pins) >= 10_000:
            self._pins.clear()
        self._pins[task_id] = versions
        return versions


def decode_task(row: StoredRow) -> TaskRecord:
    """Decode a task's own row."""
    columns = row.columns
    names = sorted(name for name in columns if name.startswith("m_"))
    return TaskRecord(
        task_id=row.key.task_id,
        versions=Versions(**{name: str(columns[f"v_{name}"]) for name in _PIN_COLUMNS}),
        begun_ms=int(columns["begun_ms"]),
        revision=int(columns["revision"]),
        migrations=tuple(_decode_migration(name, str(columns[name])) for name in names),
    )


def _decode_migration(name: str, text: str) -> Migration:
    fields: dict[str, Any] = json.loads(text)
    return Migration(
        revision=int(name.removeprefix("m_")),
        before=Versions(**fields["from"]),
        after=Versions(**fields["to"]),
        reason=fields["reason"],
        by=fields["by"],
        at_ms=fields["at_ms"],
    )


def _begin_write(task_id: str, versions: Versions, moment: Moment) -> Write:
    columns = {
        **_pin_columns(versions),
        "begun_ms": moment.now_ms,
        "revision": 1,
        "write_id": moment.write_id,
    }
    return Write(RowKey(task_id, TASK_ENTRY), columns, None, "write_id")


def _repin_write(record: TaskRecord, versions: Versions, reason: str, by: str, moment: Moment) -> Write:
    revision = record.revision + 1
    migration = {
        "from": asdict(record.versions),
        "to": asdict(versions),
        "reason": reason,
        "by": by,
        "at_ms": moment.now_ms,
        "w": moment.write_id,
    }
    name = f"m_{revision:08d}"
    columns = {**_pin_columns(versions), "revision": revision, name: canonical(migration)}
    return Write(RowKey(record.task_id, TASK_ENTRY), columns, {"revision": record.revision}, name)


def _pin_columns(versions: Versions) -> dict[str, str | int | float | bool]:
    return {f"v_{name}": getattr(versions, name) for name in _PIN_COLUMNS}


def _check_versions(versions: Versions) -> None:
    for name in _PIN_COLUMNS:
        if getattr(versions, name) != "":
            check_part(f"versions.{name}", getattr(versions, name))


def _bucket_key(task_id: str, begun_ms: int) -> list[tuple[str, str]]:
    shard = hashlib.sha256(task_id.encode()).digest()[0] % _SHARDS
    return [("bucket", f"{day_of(begun_ms)}/{shard}"), ("begun", f"{begun_ms:015d}/{task_id}")]


def day_of(at_ms: int) -> str:
    """The day of a moment (ms since the epoch), in UTC, as it stands in a bucket's name."""
    return (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=at_ms)).strftime("%Y%m%d")
