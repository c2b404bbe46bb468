"""Tables and rows in one SQLite file, and the only module that knows SQL.

Rows are kept as the PlainBuffer row that a plain read answers, under a key that sorts like the primary key. Writes go
through one thread that commits them in groups (`group_commit`); reads use a connection of their own and see what is
committed.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, TypeVar

from local_sim.services.file_lock import FileLock
from local_sim.services.sqlite import open_database
from local_sim.services.tablestore.errors import ObjectNotExist
from local_sim.services.tablestore.group_commit import GroupCommit
from local_sim.services.tablestore.schema import TableSchema

_T = TypeVar("_T")
_FIRST_SCHEMA = """
CREATE TABLE tables (
    id INTEGER PRIMARY KEY AUTOINCREMENT, instance TEXT NOT NULL, name TEXT NOT NULL, definition TEXT NOT NULL,
    UNIQUE (instance, name));
CREATE TABLE rows (table_id INTEGER NOT NULL, key BLOB NOT NULL, row BLOB NOT NULL, PRIMARY KEY (table_id, key))
WITHOUT ROWID; CREATE TABLE sequences (
    table_id INTEGER NOT NULL, partition_key BLOB NOT NULL, last INTEGER NOT NULL,
    PRIMARY KEY (table_id, partition_key)) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Table:
    """A table of one instance; `id` is never used again, so a table made anew under an old name is another one."""

    id: int
    schema: TableSchema


Catalog = Mapping[tuple[str, str], Table]


class RowAccess(Protocol):
    """What reading and writing rows needs: the store's own session, or a local transaction's view."""

    def get(self, table: Table, key: bytes) -> bytes | None:
        """Return the stored row, or None."""
        ...

    def put(self, table: Table, key: bytes, row: bytes) -> None:
        """Write the row, replacing an older one."""
        ...

    def delete(self, table: Table, key: bytes) -> None:
        """Remove the row if it is there."""
        ...

    def scan(self, table: Table, low: bytes, high: bytes, *, backward: bool) -> Iterator[tuple[bytes, bytes]]:
        """Yield key and row of low <= key < high, or, backward, of low < key <= high from the end."""
        ...

    def next_in_sequence(self, table: Table, partition_key: bytes) -> int:
        """Return the next auto-increment value of the partition, counted from 1 and never given twice."""
        ...


class Session:
    """Rows through one SQLite connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get(self, table: Table, key: bytes) -> bytes | None:
        """Return the stored row, or None."""
        found = self._connection.execute("SELECT row FROM rows WHERE table_id=? AND key=?", (table.id, key)).fetchone()
        return None if found is None else bytes(found[0])

    def put(self, table: Table, key: bytes, row: bytes) -> None:
        """Write the row, replacing an older one."""
        self._connection.execute("INSERT OR REPLACE INTO rows VALUES (?,?,?)", (table.id, key, row))

    def delete(self, table: Table, key: bytes) -> None:
        """Remove the row if it is there."""
        self._connection.execute("DELETE FROM rows WHERE table_id=? AND key=?", (table.id, key))

    def scan(self, table: Table, low: bytes, high: bytes, *, backward: bool) -> Iterator[tuple[bytes, bytes]]:
        """Yield key and row of low <= key < high, or, backward, of low < key <= high from the end."""
        if backward:
            query = "SELECT key,row FROM rows WHERE table_id=? AND key>? AND key<=? ORDER BY key DESC"
        else:
            query = "SELECT key,row FROM rows WHERE table_id=? AND key>=? AND key<? ORDER BY key"
        yield from self._connection.execute(query, (table.id, low, high))

    def next_in_sequence(self, table: Table, partition_key: bytes) -> int:
        """Return the next auto-increment value of the partition, counted from 1 and never given twice."""
        found = self._connection.execute(
            "INSERT INTO sequences VALUES (?,?,1) ON CONFLICT DO UPDATE SET last=last+1 RETURNING last",
            (table.id, partition_key),
        ).fetchone()
        return int(found[0])


class WriteSession(Session):
    """The writer's session: rows and tables, inside the group's transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.reload()

    def current(self, table: Table) -> Table:
        """Return the table as it is now; raises `ObjectNotExist` when it was deleted since it was looked up."""
        try:
            return self._by_id[table.id]
        except KeyError:
            raise ObjectNotExist from None

    def create_table(self, instance: str, schema: TableSchema) -> None:
        """Add a table whose name must be free."""
        self._connection.execute(
            "INSERT INTO tables (instance,name,definition) VALUES (?,?,?)", (instance, schema.name, schema.to_json())
        )
        self.reload()

    def update_table(self, table: Table, schema: TableSchema) -> None:
        """Give the table another definition."""
        self._connection.execute("UPDATE tables SET definition=? WHERE id=?", (schema.to_json(), table.id))
        self.reload()

    def delete_table(self, table: Table) -> None:
        """Remove the table with its rows and sequences."""
        for query in ("rows WHERE table_id", "sequences WHERE table_id", "tables WHERE id"):
            self._connection.execute(f"DELETE FROM {query}=?", (table.id,))  # noqa: S608 - the names are above
        self.reload()

    def reload(self) -> None:
        """Read the catalog again, after a change or a rollback."""
        self.catalog = _load_catalog(self._connection)
        self._by_id = {table.id: table for table in self.catalog.values()}


class TablestoreStore:
    """The Tablestore data in the SQLite file `path`; also a context manager.

    Every acknowledged write is on the disk before its answer. Raises `StoreInUse` when another process uses the file
    and `SchemaTooNew` when a later version wrote it.
    """

    def __init__(self, path: Path | str) -> None:
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(path.with_name(f"{path.name}.lock"), path)
        try:
            self._writer = open_database(path, [_FIRST_SCHEMA])
            self._reader = open_database(path, [_FIRST_SCHEMA])
        except BaseException:
            self._lock.release()
            raise
        self._reading = threading.Lock()
        self._read_session = Session(self._reader)
        self._write_session = WriteSession(self._writer)
        self._catalog: Catalog = self._write_session.catalog
        self._commits = GroupCommit(self._writer, self._publish, self._write_session.reload)

    @property
    def catalog(self) -> Catalog:
        """The committed tables by instance and name; a new mapping after every change."""
        return self._catalog

    def table(self, instance: str, name: str) -> Table:
        """Return a table; raises `ObjectNotExist`."""
        try:
            return self._catalog[instance, name]
        except KeyError:
            raise ObjectNotExist from None

    def read(self, query: Callable[[RowAccess], _T]) -> _T:
        """Return what `query` makes of the committed rows; it must not keep the session."""
        with self._reading:
            return query(self._read_session)

    async def write(self, operation: Callable[[WriteSession], _T]) -> _T:
        """Run `operation` on the writer's thread; return its result once it is committed.

        An operation that raises a `TablestoreError` must not have changed a row; a number of a sequence may be lost.
        """
        return await self._commits.submit(lambda: operation(self._write_session))

    def close(self) -> None:
        """Finish the writes that were accepted and close the file. Safe to call twice."""
        self._commits.close()
        with self._reading:
            self._reader.close()
            self._writer.close()
        self._lock.release()

    def _publish(self) -> None:
        self._catalog = self._write_session.catalog

    def __enter__(self) -> TablestoreStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _load_catalog(connection: sqlite3.Connection) -> Catalog:
    found = connection.execute("SELECT id, instance, name, definition FROM tables ORDER BY name")
    return {(row[1], row[2]): Table(row[0], TableSchema.from_json(row[3])) for row in found}
