"""Keeps what invocations print, beside the executions they belong to. Losing a log in a crash does no harm."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from local_sim.services.sqlite import open_database

FILE_NAME = "logs.sqlite"
_MIGRATIONS = [
    """
    CREATE TABLE logs (execution INTEGER, state TEXT, attempt INTEGER, at_ms INTEGER, text TEXT);
    CREATE INDEX logs_of ON logs (execution);
    """
]
_MOST_CHARACTERS = 65_536
_KEPT_EXECUTIONS = 10_000


@dataclass(frozen=True, slots=True)
class InvocationLog:
    """The log of one invocation: the end of it when it was long."""

    state: str
    attempt: int
    at_ms: int
    text: str


class InvocationLogs:
    """A store of its own, written by a thread of its own, so that no execution waits for a log."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="local-sim-logs")
        self._db: sqlite3.Connection | None = None

    def add(self, execution: int, log: InvocationLog) -> None:
        """Keep a log; returns at once."""
        if log.text:
            self._writer.submit(self._add, execution, log)

    def of(self, execution: int) -> Sequence[InvocationLog]:
        """Return an execution's logs in the order they came, those added before included."""
        return self._writer.submit(self._of, execution).result()

    def close(self) -> None:
        """Write what was added, then close the file."""
        self._writer.submit(self._close).result()
        self._writer.shutdown()

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = open_database(self._path, _MIGRATIONS)
            self._db.execute("PRAGMA synchronous=OFF")
        return self._db

    def _add(self, execution: int, log: InvocationLog) -> None:
        text = log.text[-_MOST_CHARACTERS:]
        self._open().execute(
            "INSERT INTO logs VALUES (?,?,?,?,?)", (execution, log.state, log.attempt, log.at_ms, text)
        )
        self._open().execute("DELETE FROM logs WHERE execution < ?", (execution - _KEPT_EXECUTIONS,))

    def _of(self, execution: int) -> list[InvocationLog]:
        if not self._path.exists():
            return []
        rows = self._open().execute(
            "SELECT state, attempt, at_ms, text FROM logs WHERE execution = ? ORDER BY rowid", (execution,)
        )
        return [InvocationLog(*row) for row in rows]

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
