"""The journal's tables and the queries on them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from local_sim.engine.codec import decode_event, encode_event
from local_sim.engine.events import Event, Json, Status

from .errors import ExecutionNotFound, ExecutionStored, JournalUnusable, JournalVersionError
from .lock import FolderLock
from .schema import MIGRATIONS

SCHEMA_VERSION = len(MIGRATIONS)
FILE_NAME = "journal.sqlite"
_COLUMNS = (
    "id, flow, name, source, definition, secret, virtual, parent, parent_task, status, created_ms, output, error, cause"
)


@dataclass(frozen=True, slots=True)
class ExecutionRecord:
    """What is kept of an execution besides its events.

    `definition` is the flow's text as it was at the start and `source` its file; `secret` is what callback tokens are
    derived from, so tokens are the same after every replay. `parent` and `parent_task` belong to a sub-flow.
    """

    id: int
    flow: str
    name: str
    source: str
    definition: str
    secret: bytes
    virtual: bool
    parent: int | None
    parent_task: int | None
    status: Status
    created_ms: int
    output: Json = None
    error: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class BackgroundCall:
    """An asynchronous invocation that was accepted and has not run to its end."""

    request_id: str
    execution: int
    function: str
    event: bytes


class Journal:
    """The journal of one data folder; `None` keeps it in memory. One thread may use it. Also a context manager."""

    def __init__(self, folder: Path | None = None, *, read_only: bool = False) -> None:
        """Open the journal, making it when it is missing.

        A writer locks the folder. Raises JournalInUse, JournalUnusable, JournalVersionError; with `read_only`, a
        folder without a journal is JournalUnusable.
        """
        self.folder = folder
        self._lock = FolderLock(folder) if folder is not None and not read_only else None
        try:
            self._db = _open(folder, read_only)
            self._migrate(folder, read_only)
        except BaseException:
            self._release()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and give the lock back; safe to call twice."""
        self._db.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def _migrate(self, folder: Path | None, read_only: bool) -> None:
        """Bring an older file forward. A reader leaves it as it is: no migration took away what it reads."""
        where = folder or Path(":memory:")
        try:
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version > SCHEMA_VERSION:
                raise JournalVersionError(where, version, SCHEMA_VERSION)
            if version == 0 and read_only:
                raise JournalUnusable(where, "its journal is still empty")
            for number in range(SCHEMA_VERSION if read_only else version, SCHEMA_VERSION):
                self._db.executescript(f"BEGIN; {MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;")
        except sqlite3.Error as error:
            raise JournalUnusable(where, str(error)) from None

    def create(
        self,
        *,
        flow: str,
        name: str,
        source: str,
        definition: str,
        secret: bytes,
        at_ms: int,
        virtual: bool = False,
        parent: int | None = None,
        parent_task: int | None = None,
    ) -> ExecutionRecord:
        """Store a new execution, not yet started. Raises ExecutionStored when the flow has one of that name."""
        row = (flow, name, source, definition, secret, virtual, parent, parent_task, Status.STARTING.value, at_ms)
        try:
            with self._writing():
                cursor = self._db.execute(
                    "INSERT INTO executions (flow, name, source, definition, secret, virtual, parent, parent_task,"
                    " status, created_ms) VALUES (?,?,?,?,?,?,?,?,?,?)",
                    row,
                )
        except sqlite3.IntegrityError:
            raise ExecutionStored(flow, name) from None
        assert cursor.lastrowid is not None
        return self.get(cursor.lastrowid)

    def get(self, execution: int) -> ExecutionRecord:
        """Return a record by its id. Raises ExecutionNotFound."""
        row = self._db.execute(f"SELECT {_COLUMNS} FROM executions WHERE id = ?", (execution,)).fetchone()  # noqa: S608
        if row is None:
            raise ExecutionNotFound(str(execution), self.names())
        return _record(row)

    def find(self, name: str = "", *, unfinished: bool = False) -> ExecutionRecord:
        """Return the newest top-level execution called `name`; with an empty name the newest of all.

        `unfinished` leaves out those that have ended and have no asynchronous invocation left. Raises
        ExecutionNotFound.
        """
        for record in self.executions():
            if record.parent is not None or (name and record.name != name):
                continue
            going = record.status in (Status.STARTING, Status.RUNNING)
            if not unfinished or going or self.background(record.id):
                return record
        raise ExecutionNotFound(name, self.names())

    def executions(self) -> list[ExecutionRecord]:
        """Return all records, newest first."""
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM executions ORDER BY id DESC")  # noqa: S608 - constant columns
        return [_record(row) for row in rows]

    def children(self, parent: int) -> list[ExecutionRecord]:
        """Return the sub-flow executions of an execution, oldest first."""
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM executions WHERE parent = ? ORDER BY id",  # noqa: S608 - constant columns
            (parent,),
        )
        return [_record(row) for row in rows]

    def names(self) -> tuple[str, ...]:
        """Return the names of all top-level executions, oldest first."""
        rows = self._db.execute("SELECT name FROM executions WHERE parent IS NULL ORDER BY id")
        return tuple(name for (name,) in rows)

    def append(self, execution: int, number: int, event: Event) -> None:
        """Store the execution's event `number` (from 0). It is on disk when this returns."""
        text = json.dumps(encode_event(event), separators=(",", ":"))
        with self._writing():
            self._db.execute("INSERT INTO events VALUES (?,?,?)", (execution, number, text))

    def events(self, execution: int) -> list[Event]:
        """Return the execution's events in order."""
        rows = self._db.execute("SELECT event FROM events WHERE execution = ? ORDER BY number", (execution,))
        return [decode_event(json.loads(text)) for (text,) in rows]

    def set_status(self, execution: int, status: Status, output: Json = None, error: str = "", cause: str = "") -> None:
        """Record where an execution stands; what its events say remains the truth."""
        text = json.dumps(output)
        with self._writing():
            self._db.execute(
                "UPDATE executions SET status = ?, output = ?, error = ?, cause = ? WHERE id = ?",
                (status.value, text, error, cause, execution),
            )

    def add_background(self, call: BackgroundCall) -> None:
        """Remember an asynchronous invocation until `end_background`; the same request twice is one."""
        row = (call.request_id, call.execution, call.function, call.event)
        with self._writing():
            self._db.execute("INSERT OR IGNORE INTO background VALUES (?,?,?,?)", row)

    def end_background(self, request_id: str) -> None:
        """Forget an asynchronous invocation."""
        with self._writing():
            self._db.execute("DELETE FROM background WHERE request_id = ?", (request_id,))

    def background(self, execution: int) -> list[BackgroundCall]:
        """Return the execution's asynchronous invocations that have not ended."""
        rows = self._db.execute(
            "SELECT request_id, execution, function, event FROM background WHERE execution = ? ORDER BY request_id",
            (execution,),
        )
        return [BackgroundCall(*row) for row in rows]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise JournalUnusable(self.folder or Path(":memory:"), str(error)) from None


def _open(folder: Path | None, read_only: bool) -> sqlite3.Connection:
    if folder is None:
        return sqlite3.connect(":memory:", isolation_level=None)
    file = folder / FILE_NAME
    if read_only and not file.is_file():
        raise JournalUnusable(folder, "there is no journal in it")
    try:
        if read_only:
            return sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=5)
        db = sqlite3.connect(file, isolation_level=None, timeout=5)
        db.execute("PRAGMA journal_mode = WAL")
        # FULL: an event must be on disk before the engine acts on it, even when the machine goes down.
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
    except sqlite3.Error as error:
        raise JournalUnusable(folder, str(error)) from None
    return db


def _record(row: tuple[Json, ...]) -> ExecutionRecord:
    (number, flow, name, source, definition, secret, virtual, parent, task, status, created, output, error, cause) = row
    value = json.loads(output) if output is not None else None
    return ExecutionRecord(
        number,
        flow,
        name,
        source,
        definition,
        secret,
        bool(virtual),
        parent,
        task,
        Status(status),
        created,
        value,
        error,
        cause,
    )
