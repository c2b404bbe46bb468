"""Opens a service's SQLite file: WAL, commits on the disk before their answer, a schema that only moves forward."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from local_sim.services.errors import SchemaTooNew, StoreUnusable


def open_database(path: Path, migrations: Sequence[str], *, flushed: bool = True) -> sqlite3.Connection:
    """Return a connection in autocommit mode to the file at `path`, made and migrated where needed.

    `migrations[n]` is a script from schema n to n + 1. Without `flushed` a commit does not wait for the disk, and the
    caller flushes by a `Flusher` before it acknowledges anything. Raises SchemaTooNew and StoreUnusable.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    except (OSError, sqlite3.Error) as error:
        raise StoreUnusable(path, str(error)) from error
    try:
        _prepare(connection, path, migrations, flushed)
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise StoreUnusable(path, str(error)) from error
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, migrations: Sequence[str], flushed: bool) -> None:
    connection.row_factory = sqlite3.Row
    # FULL: an acknowledged write survives a power cut, not only kill -9.
    synchronous = "FULL" if flushed else "NORMAL"
    connection.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous}; PRAGMA foreign_keys=ON;")
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > len(migrations):
        raise SchemaTooNew(path, found, len(migrations))
    for number in range(found, len(migrations)):
        connection.executescript(f"BEGIN; {migrations[number]}; PRAGMA user_version={number + 1}; COMMIT;")
