"""What a server keeps of an execution beyond `ExecutionRecord`, many writes in one commit, and the API's queries.

It is the same file: every other reader of the journal sees a server's executions too.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from local_sim.engine.codec import encode_event
from local_sim.engine.events import Event, Json, Status

from .store import ExecutionRecord, Journal

_OPEN = (Status.STARTING.value, Status.RUNNING.value)
_SELECT = (
    "SELECT e.id, e.flow, e.name, e.source, e.definition, e.secret, e.virtual, e.parent, e.parent_task, e.status, "
    "e.created_ms, e.output, e.error, e.cause, s.flow_id, s.express, s.input, s.qualifier, s.environment, s.role_arn, "
    "s.callback_token, s.child_of, s.child_path, s.stopped_ms FROM executions e JOIN served s ON s.execution = e.id "
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRecord:
    """An execution of a server.

    `input` is its JSON text, `environment` JSON text of the flow's variables. `callback_token` is a task that is told
    the end; it is emptied once it was told. A child of a distributed Map has the map run's name in `child_of` and the
    Map's place in `child_path`.
    """

    execution: ExecutionRecord
    flow_id: str
    input: str
    express: bool = False
    qualifier: str = ""
    environment: str = "[]"
    role_arn: str = ""
    callback_token: str = ""
    child_of: str = ""
    child_path: tuple[str, ...] = ()
    stopped_ms: int | None = None


@dataclass(frozen=True, slots=True)
class StartWrite:
    """A new execution with its first event."""

    record: ServedRecord
    event: Event


@dataclass(frozen=True, slots=True)
class EventWrite:
    """The execution's event `number`, from 0."""

    execution: int
    number: int
    event: Event


@dataclass(frozen=True, slots=True)
class EndWrite:
    """An execution has ended. `history` is JSON text of its history, for readers that cannot replay it."""

    execution: int
    status: Status
    output: Json
    error: str
    cause: str
    stopped_ms: int
    history: str


@dataclass(frozen=True, slots=True)
class ToldWrite:
    """The task named by `callback_token` has been told the end."""

    execution: int


@dataclass(frozen=True, slots=True)
class DropWrite:
    """A flow was deleted: its executions can no longer be found, and their names are free."""

    flow_id: str


Write: TypeAlias = StartWrite | EventWrite | EndWrite | ToldWrite | DropWrite


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedQuery:
    """A page of executions, newest first: ids under `below`, times in milliseconds since the epoch, both included."""

    flow_id: str
    below: int
    limit: int
    status: str | None = None
    started_begin_ms: int | None = None
    started_end_ms: int | None = None
    name_prefix: str | None = None
    qualifier: str | None = None
    child_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewQuery:
    """A page of all flows' executions, newest first. `text` is part of the name or of the input.

    `below` is the place (start time and id) to go on under.
    """

    limit: int
    below: tuple[int, int] | None = None
    flow: str = ""
    status: str = ""
    text: str = ""
    from_ms: int | None = None
    to_ms: int | None = None


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """An execution in short."""

    id: int
    flow: str
    name: str
    status: str
    created_ms: int
    stopped_ms: int | None


class ServedJournal(Journal):
    """The journal as a server uses it. One thread may use it; the reader is a second one, opened read-only."""

    def write(self, writes: Sequence[Write]) -> None:
        """Store all of `writes` in one commit; they are on disk when this returns, or none of them is."""
        with self._writing():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                for item in writes:
                    self._write_one(item)
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def last_id(self) -> int:
        """Return the highest execution id in use, 0 for none."""
        return int(self._db.execute("SELECT coalesce(max(id), 0) FROM executions").fetchone()[0])

    def find_served(self, flow_id: str, name: str) -> ServedRecord | None:
        """Return a flow's execution by its name."""
        row = self._db.execute(f"{_SELECT} WHERE s.flow_id = ? AND e.name = ?", (flow_id, name)).fetchone()
        return _record(row) if row else None

    def find_by_token(self, flow: str, name: str) -> ServedRecord | None:
        """Return the execution that a callback token names; executions of deleted flows are not found."""
        row = self._db.execute(f"{_SELECT} WHERE e.flow = ? AND e.name = ?", (flow, name)).fetchone()
        return _record(row) if row else None

    def unfinished(self) -> list[ServedRecord]:
        """Return every execution that has not ended, oldest first, so that parents come before their children."""
        return [_record(row) for row in self._db.execute(f"{_SELECT} WHERE e.status IN (?,?) ORDER BY e.id", _OPEN)]

    def untold(self) -> list[ServedRecord]:
        """Return every ended execution whose end a task has still to be told."""
        query = f"{_SELECT} WHERE s.callback_token != '' AND s.stopped_ms IS NOT NULL ORDER BY e.id"
        return [_record(row) for row in self._db.execute(query)]

    def page(self, query: ServedQuery) -> list[ServedRecord]:
        """Return a page of a flow's executions; children of map runs are listed only when asked for by name."""
        where, values = (
            ["s.flow_id = ?", "e.id < ?", "s.child_of = ?"],
            [query.flow_id, query.below, query.child_of or ""],
        )
        for condition, value in (
            ("e.status = ?", query.status),
            ("e.created_ms >= ?", query.started_begin_ms),
            ("e.created_ms <= ?", query.started_end_ms),
            ("s.qualifier = ?", query.qualifier),
        ):
            if value is not None:
                where.append(condition)
                values.append(value)
        if query.name_prefix:
            where.append("substr(e.name, 1, length(?)) = ?")
            values += [query.name_prefix, query.name_prefix]
        text = f"{_SELECT} WHERE {' AND '.join(where)} ORDER BY e.id DESC LIMIT ?"
        return [_record(row) for row in self._db.execute(text, (*values, query.limit))]

    def overview(self, query: OverviewQuery) -> list[OverviewRow]:
        """Return a page of executions; children of map runs are left out."""
        where, values = ["s.child_of = ''"], list[str | int]()
        for condition, value in (
            ("e.flow = ?", query.flow),
            ("e.status = ?", query.status),
            ("e.created_ms >= ?", query.from_ms),
            ("e.created_ms <= ?", query.to_ms),
        ):
            if value is not None and value != "":
                where.append(condition)
                values.append(value)
        if query.below is not None:
            where.append("(e.created_ms, e.id) < (?, ?)")
            values += query.below
        if query.text:
            where.append("(instr(e.name, ?) OR instr(s.input, ?))")
            values += [query.text, query.text]
        text = (
            "SELECT e.id, e.flow, e.name, e.status, e.created_ms, s.stopped_ms "  # noqa: S608
            f"FROM executions e JOIN served s ON s.execution = e.id WHERE {' AND '.join(where)} "
            "ORDER BY e.created_ms DESC, e.id DESC LIMIT ?"
        )
        return [OverviewRow(*row) for row in self._db.execute(text, (*values, query.limit))]

    def counts(self) -> dict[tuple[str, str], int]:
        """Return how many executions there are, by flow and status."""
        rows = self._db.execute(
            "SELECT flow, status, count(*) FROM executions INDEXED BY executions_recent GROUP BY 1, 2"
        )
        return {(str(flow), str(status)): int(count) for flow, status, count in rows}

    def history(self, execution: int) -> str | None:
        """Return the history that the execution's end left behind; None before the end."""
        row = self._db.execute("SELECT history FROM served WHERE execution = ?", (execution,)).fetchone()
        return zlib.decompress(row[0]).decode() if row and row[0] is not None else None

    def _write_one(self, item: Write) -> None:
        if isinstance(item, EventWrite):
            self._put_event(item.execution, item.number, item.event)
        elif isinstance(item, StartWrite):
            self._put_start(item)
        elif isinstance(item, EndWrite):
            self._put_end(item)
        elif isinstance(item, ToldWrite):
            self._db.execute("UPDATE served SET callback_token = '' WHERE execution = ?", (item.execution,))
        else:
            # `#` is in no flow's name, so nothing can find them again and a new flow's executions may use the names.
            mine = "SELECT execution FROM served WHERE flow_id = ?1"
            query = f"UPDATE executions SET flow = flow || '#' || ?1 WHERE id IN ({mine})"  # noqa: S608 - constant text
            self._db.execute(query, (item.flow_id,))

    def _put_event(self, execution: int, number: int, event: Event) -> None:
        text = json.dumps(encode_event(event), separators=(",", ":"))
        self._db.execute("INSERT INTO events VALUES (?,?,?)", (execution, number, text))

    def _put_start(self, item: StartWrite) -> None:
        record, served = item.record.execution, item.record
        self._db.execute(
            "INSERT INTO executions (id, flow, name, source, definition, secret, virtual, parent, parent_task,"
            " status, created_ms) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            (
                record.id,
                record.flow,
                record.name,
                record.source,
                record.definition,
                record.secret,
                record.virtual,
                record.parent,
                record.parent_task,
                Status.RUNNING.value,
                record.created_ms,
            ),
        )
        self._db.execute(
            "INSERT INTO served VALUES (?,?,?,?,?,?,?,?,?,?,NULL,NULL)",
            (
                record.id,
                served.flow_id,
                served.express,
                served.input,
                served.qualifier,
                served.environment,
                served.role_arn,
                served.callback_token,
                served.child_of,
                json.dumps(served.child_path),
            ),
        )
        self._put_event(record.id, 0, item.event)

    def _put_end(self, item: EndWrite) -> None:
        self._db.execute(
            "UPDATE executions SET status = ?, output = ?, error = ?, cause = ? WHERE id = ?",
            (item.status.value, json.dumps(item.output), item.error, item.cause, item.execution),
        )
        packed = zlib.compress(item.history.encode(), 1)
        query = "UPDATE served SET stopped_ms = ?, history = ? WHERE execution = ?"
        self._db.execute(query, (item.stopped_ms, packed, item.execution))


def _record(row: tuple[Json, ...]) -> ServedRecord:
    tail = row[14:]
    execution = ExecutionRecord(
        id=row[0],
        flow=row[1],
        name=row[2],
        source=row[3],
        definition=row[4],
        secret=row[5],
        virtual=bool(row[6]),
        parent=row[7],
        parent_task=row[8],
        status=Status(row[9]),
        created_ms=row[10],
        output=None if row[11] is None else json.loads(row[11]),
        error=row[12],
        cause=row[13],
    )
    return ServedRecord(
        execution=execution,
        flow_id=tail[0],
        express=bool(tail[1]),
        input=tail[2],
        qualifier=tail[3],
        environment=tail[4],
        role_arn=tail[5],
        callback_token=tail[6],
        child_of=tail[7],
        child_path=tuple(json.loads(tail[8])),
        stopped_ms=tail[9],
    )
