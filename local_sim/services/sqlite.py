"""Opens a service's SQLite file: WAL, commits on the disk before their answer, a schema that only moves forward."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path


class SchemaTooNew(Exception):
    """The file was written by a newer version of this program; `found` and `known` are schema versions."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} has schema {found}, this version knows {known}: use a newer version or another --data"
        )
        self.path = path
        self.found = found
        self.known = known


def open_database(path: Path, migrations: Sequence[str], *, flushed: bool = True) -> sqlite3.Connection:
    """Return a connection in autocommit mode to the file at `path`, made and migrated where needed.

    `migrations[n]` is a script from schema n to n + 1. Without `flushed` a commit does not wait for the disk, and the
    caller flushes by a `Flusher` before it acknowledges anything. Raises SchemaTooNew.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    connection.row_factory = sqlite3.Row
    # FULL: an acknowledged write survives a power cut, not only kill -9.
    synchronous = "FULL" if flushed else "NORMAL"
    connection.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous}; PRAGMA foreign_keys=ON;")
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > len(migrations):
        connection.close()
        raise SchemaTooNew(path, found, len(migrations))
    for number in range(found, len(migrations)):
        connection.executescript(f"BEGIN; {migrations[number]}; PRAGMA user_version={number + 1}; COMMIT;")
    return connection
