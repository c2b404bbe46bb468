"""Tablestore and OSS in memory: the local services' own code over stores that cost nothing and are copied by a fork."""

from __future__ import annotations

import sqlite3
import tempfile
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from local_sim.services.oss import OssStore, index
from local_sim.services.oss.blobs import BlobFolder, BlobWriter
from local_sim.services.oss.model import Written
from local_sim.services.oss.uploads import UploadStore
from local_sim.services.sqlite import open_database
from local_sim.services.tablestore import TablestoreStore
from local_sim.services.tablestore.errors import ObjectNotExist
from local_sim.services.tablestore.schema import TableSchema
from local_sim.services.tablestore.store import Catalog, RowAccess, Table, WriteSession

_T = TypeVar("_T")


class _Rows(WriteSession):
    """Rows and tables in dictionaries, with the sessions' interface."""

    def __init__(self) -> None:
        self.catalog: Catalog = {}
        self._by_id: dict[int, Table] = {}
        self._rows: dict[int, dict[bytes, bytes]] = {}
        self._keys: dict[int, list[bytes]] = {}
        self._last: dict[tuple[int, bytes], int] = {}
        self._made = 0

    def get(self, table: Table, key: bytes) -> bytes | None:
        return self._rows[table.id].get(key)

    def put(self, table: Table, key: bytes, row: bytes) -> None:
        rows = self._rows[table.id]
        if key not in rows:
            insort(self._keys[table.id], key)
        rows[key] = row

    def delete(self, table: Table, key: bytes) -> None:
        if self._rows[table.id].pop(key, None) is not None:
            keys = self._keys[table.id]
            del keys[bisect_left(keys, key)]

    def scan(self, table: Table, low: bytes, high: bytes, *, backward: bool) -> Iterator[tuple[bytes, bytes]]:
        keys, rows = self._keys[table.id], self._rows[table.id]
        if backward:
            found = [key for key in keys if low < key <= high][::-1]
        else:
            found = keys[bisect_left(keys, low) : bisect_left(keys, high)]
        return iter([(key, rows[key]) for key in found])

    def next_in_sequence(self, table: Table, partition_key: bytes) -> int:
        place = (table.id, partition_key)
        self._last[place] = self._last.get(place, 0) + 1
        return self._last[place]

    def current(self, table: Table) -> Table:
        try:
            return self._by_id[table.id]
        except KeyError:
            raise ObjectNotExist from None

    def create_table(self, instance: str, schema: TableSchema) -> None:
        self._made += 1
        self._rows[self._made], self._keys[self._made] = {}, []
        self._set({**self.catalog, (instance, schema.name): Table(self._made, schema)})

    def update_table(self, table: Table, schema: TableSchema) -> None:
        self._set({at: Table(one.id, schema) if one.id == table.id else one for at, one in self.catalog.items()})

    def delete_table(self, table: Table) -> None:
        self._set({at: one for at, one in self.catalog.items() if one.id != table.id})

    def all_rows(self, table: Table) -> list[bytes]:
        """Return the rows of a table in key order."""
        rows = self._rows[table.id]
        return [rows[key] for key in self._keys[table.id]]

    def _set(self, catalog: Catalog) -> None:
        self.catalog = dict(sorted(catalog.items(), key=lambda entry: entry[0][1]))
        self._by_id = {table.id: table for table in catalog.values()}


class MemoryTables(TablestoreStore):
    """A Tablestore store in memory. Every write is committed at once."""

    def __init__(self) -> None:
        self._memory = _Rows()

    @property
    def catalog(self) -> Catalog:
        """The tables by instance and name."""
        return self._memory.catalog

    def table(self, instance: str, name: str) -> Table:
        """Return a table; raises `ObjectNotExist`."""
        try:
            return self._memory.catalog[instance, name]
        except KeyError:
            raise ObjectNotExist from None

    def read(self, query: Callable[[RowAccess], _T]) -> _T:
        """Return what `query` makes of the rows."""
        return query(self._memory)

    async def write(self, operation: Callable[[WriteSession], _T]) -> _T:
        """Run `operation`."""
        return operation(self._memory)

    def rows_of(self, table: Table) -> list[bytes]:
        """Return the rows of a table in key order, as PlainBuffer rows."""
        return self._memory.all_rows(table)

    def close(self) -> None:
        """Do nothing: it lives as long as its process."""


class _MemoryWriter(BlobWriter):
    """Keeps the bytes in the row, however many they are."""

    def write(self, data: bytes) -> None:
        self._digests.update(data)
        self._small += data

    def seal(self) -> Written:
        return Written("", self.size, self.md5(), self._digests.crc64, bytes(self._small))


class _NoFolder(BlobFolder):
    def write(self) -> BlobWriter:
        return _MemoryWriter(Path(), Path())


class MemoryObjects(OssStore):
    """An OSS store in memory: one SQLite database that lies in no file."""

    def __init__(self) -> None:
        self._memory = open_database(Path(":memory:"), index.MIGRATIONS)
        with tempfile.TemporaryDirectory(prefix="local-sim-explore-") as folder:
            self.blobs = _NoFolder(Path(folder))
        self.uploads = UploadStore(self)

    def connection(self) -> sqlite3.Connection:
        """Return the one connection."""
        return self._memory

    def change(
        self, work: Callable[[sqlite3.Connection], tuple[_T, Sequence[str]]], *, fresh: Sequence[str] = ()
    ) -> _T:
        """Run `work`; all of it or nothing."""
        result: _T = self._transact(work)[0]
        return result

    def _change_rows(self, work: Callable[[sqlite3.Connection], None]) -> None:
        self._transact(work)

    def _transact(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        self._memory.execute("BEGIN")
        try:
            result = work(self._memory)
        except BaseException:
            self._memory.execute("ROLLBACK")
            raise
        self._memory.execute("COMMIT")
        return result

    def close(self) -> None:
        """Do nothing: it lives as long as its process."""
