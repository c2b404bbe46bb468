"""One writer thread that commits waiting operations together.

The disk is asked once for all of them, and only then are they answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from local_sim.services.tablestore.errors import InternalServerError, TablestoreError

_T = TypeVar("_T")
_logger = logging.getLogger(__name__)
_MOST = 256  # operations in one commit: bounds how long the first of them waits


@dataclass
class _Pending:
    operation: Callable[[], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    result: Any = None
    error: TablestoreError | None = None


class GroupCommit:
    """Runs operations on one thread inside SQLite transactions of several.

    `committed` is called after each commit, `rolled_back` after a rollback, both on the writer's thread.
    """

    def __init__(
        self, connection: sqlite3.Connection, committed: Callable[[], None], rolled_back: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._committed = committed
        self._rolled_back = rolled_back
        self._queue: queue.SimpleQueue[_Pending | None] = queue.SimpleQueue()
        self._closed = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="tablestore-writer", daemon=True)
        self._thread.start()

    async def submit(self, operation: Callable[[], _T]) -> _T:
        """Return the operation's result once it is on disk; raises its `TablestoreError`, or `InternalServerError`."""
        loop = asyncio.get_running_loop()
        pending = _Pending(operation, loop.create_future(), loop)
        with self._lock:
            if self._closed:
                raise InternalServerError
            self._queue.put(pending)
        return cast(_T, await pending.future)

    def close(self) -> None:
        """Commit what was submitted, then end the thread. Safe to call twice."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            group = [first]
            more = self._drain(group)
            self._commit(group)
            self._answer(group)
            if not more:
                return

    def _drain(self, group: list[_Pending]) -> bool:
        """Add what waits already; False when the end was asked for."""
        while len(group) < _MOST:
            try:
                pending = self._queue.get_nowait()
            except queue.Empty:
                return True
            if pending is None:
                return False
            group.append(pending)
        return True

    def _commit(self, group: list[_Pending]) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for pending in group:
                _perform(pending)
            self._connection.execute("COMMIT")
            self._committed()
        except Exception:
            # Nothing of the group is acknowledged: a half-done operation must not be committed with the others.
            _logger.exception("a group of %d writes failed", len(group))
            self._roll_back()
            for pending in group:
                pending.error = InternalServerError()

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._rolled_back()
        except sqlite3.Error:
            _logger.exception("the rollback failed too")  # the thread must live on, to answer those who wait

    @staticmethod
    def _answer(group: list[_Pending]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[_Pending]] = {}
        for pending in group:
            by_loop.setdefault(pending.loop, []).append(pending)
        for loop, members in by_loop.items():
            with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(_settle, members)


def _perform(pending: _Pending) -> None:
    try:
        pending.result = pending.operation()
    except TablestoreError as error:
        pending.error = error


def _settle(group: list[_Pending]) -> None:
    for pending in group:
        if pending.future.done():
            continue  # the client left and its request was cancelled
        if pending.error is not None:
            pending.future.set_exception(pending.error)
        else:
            pending.future.set_result(pending.result)
