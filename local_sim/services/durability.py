"""Makes commits durable off the event loop: SQLite appends to its log, and one flush serves all who wait for it.

A database opened with `synchronous=NORMAL` commits into the write-ahead log without asking the disk. That survives kill
-9; only a power cut could take it back. So an answer waits for `Flusher.flush`, which asks the disk in a thread.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from pathlib import Path


class Flusher:
    """Flushes the log of one connection; to be used on one event loop. Close it before the connection."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._lock = asyncio.Lock()
        self._file: int | None = None
        self._flushed = -1

    async def flush(self) -> None:
        """Return once everything committed so far is on the disk; at once when nothing was changed."""
        wanted = self._connection.total_changes
        if self._flushed >= wanted:
            return
        async with self._lock:
            if self._flushed >= wanted:
                return  # the flush of one who waited in front was late enough for this one too
            reached = self._connection.total_changes
            await asyncio.to_thread(self._sync)
            self._flushed = reached

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _sync(self) -> None:
        if self._file is None:
            # SQLite keeps one log file as long as a connection is open: it is emptied and used again, never replaced.
            self._file = os.open(self._path.with_name(f"{self._path.name}-wal"), os.O_RDWR)
            flush_directory(self._path.parent)
        os.fsync(self._file)


def flush_directory(folder: Path) -> None:
    """Make the names in `folder` durable, where the system can."""
    if sys.platform == "win32":  # no such thing as flushing a directory there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
