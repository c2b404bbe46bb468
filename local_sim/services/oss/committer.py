"""Group commit: one thread owns the writing connection and commits what is waiting in one transaction.

Every change of the store runs here, one after another, inside a transaction: that order is the lock which decides a
race for one key. A caller is answered only after the commit, which SQLite has flushed to disk (WAL,
synchronous=FULL).
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

_MAX_BATCH = 256


@dataclass
class _Job:
    work: Work[Any]
    future: Future[Any] = field(default_factory=Future)
    result: Any = None


class Committer:
    """Runs changes on a connection of its own, in order. Close it to end its thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="oss-committer", daemon=True)
        self._thread.start()

    def run(self, work: Work[T]) -> T:
        """Return what `work(connection)` returned, once it is on disk; raise what it raised, with nothing changed."""
        job = _Job(work)
        self._jobs.put(job)
        result: T = job.future.result()
        return result

    def close(self) -> None:
        """Finish the waiting changes and end the thread."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (batch := self._next_batch()) is not None:
            _commit(self._connection, batch)
        self._connection.close()

    def _next_batch(self) -> list[_Job] | None:
        first = self._jobs.get()
        if first is None:
            return None
        batch = [first]
        while len(batch) < _MAX_BATCH:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._jobs.put(None)
                break
            batch.append(job)
        return batch


def _commit(connection: sqlite3.Connection, batch: list[_Job]) -> None:
    done: list[_Job] = []
    try:
        connection.execute("BEGIN IMMEDIATE")
        done.extend(job for job in batch if _attempt(connection, job))
        connection.execute("COMMIT")
    except Exception as error:  # noqa: BLE001 - a full disk must reach every caller, not end the thread
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        for job in batch:
            if not job.future.done():
                job.future.set_exception(error)
        return
    for job in done:
        job.future.set_result(job.result)


def _attempt(connection: sqlite3.Connection, job: _Job) -> bool:
    """Run one job in a savepoint of its own, so that its failure takes nothing else with it."""
    connection.execute("SAVEPOINT job")
    try:
        job.result = job.work(connection)
    except Exception as error:  # noqa: BLE001 - it is the caller's error and goes to the caller
        connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")
        job.future.set_exception(error)
        return False
    connection.execute("RELEASE job")
    return True
