"""Async invocations on the disk: an accepted one survives kill -9 and runs at least once."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from .records import TaskRecord

ENQUEUED = "Enqueued"
RUNNING = "Running"
RETRYING = "Retrying"
SUCCEEDED = "Succeeded"
FAILED = "Failed"
STOPPED = "Stopped"
EXPIRED = "Expired"
INVALID = "Invalid"
OPEN = (ENQUEUED, RUNNING, RETRYING)
"""States of an invocation that is not over; those in them are queued again after a restart."""

_COLUMNS = (
    "function, qualifier, task_id, request_id, payload, status, is_task, created_ms, due_ms, expires_ms, attempts, "
    "started_ms, ended_ms, error, result, destination_status, callback_token, events"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskQuery:
    """A page of ListAsyncTasks: by the time of arrival, newest first unless `ascending`."""

    function: str
    limit: int
    after: tuple[int, str] | None = None
    ascending: bool = False
    status: str | None = None
    prefix: str = ""
    qualifier: str | None = None
    started_begin_ms: int | None = None
    started_end_ms: int | None = None


class TaskStore:
    """Keeps `TaskRecord`s; every method is one statement. A `Flusher` waits for the disk."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database

    def add(self, task: TaskRecord) -> bool:
        """Keep a new invocation; False when the function has one of this id already."""
        marks = ",".join("?" * len(_COLUMNS.split(", ")))
        query = f"INSERT OR IGNORE INTO tasks ({_COLUMNS}) VALUES ({marks})"  # noqa: S608
        return self._db.execute(query, _values(task)).rowcount > 0

    def put(self, task: TaskRecord) -> None:
        """Keep the changed state of an invocation."""
        marks = ",".join("?" * len(_COLUMNS.split(", ")))
        self._db.execute(f"REPLACE INTO tasks ({_COLUMNS}) VALUES ({marks})", _values(task))  # noqa: S608

    def get(self, function: str, task_id: str) -> TaskRecord | None:
        """Return an invocation."""
        query = f"SELECT {_COLUMNS} FROM tasks WHERE function = ? AND task_id = ?"  # noqa: S608
        row = self._db.execute(query, (function, task_id)).fetchone()
        return _task(row) if row else None

    def open_tasks(self) -> list[TaskRecord]:
        """Return every invocation that is not over or not reported yet, oldest first."""
        where = "status IN (?,?,?) OR callback_token != '' ORDER BY created_ms"
        query = f"SELECT {_COLUMNS} FROM tasks WHERE {where}"  # noqa: S608
        return [_task(row) for row in self._db.execute(query, OPEN)]

    def page(self, query: TaskQuery) -> list[TaskRecord]:
        """Return a page of a function's async tasks."""
        order, sign = ("ASC", ">") if query.ascending else ("DESC", "<")
        where = ["function = ?", "is_task", "substr(task_id, 1, length(?)) = ?"]
        values: list[object] = [query.function, query.prefix, query.prefix]
        for condition, value in (
            ("status = ?", query.status),
            ("qualifier = ?", query.qualifier),
            ("coalesce(started_ms, created_ms) >= ?", query.started_begin_ms),
            ("coalesce(started_ms, created_ms) <= ?", query.started_end_ms),
        ):
            if value is not None:
                where.append(condition)
                values.append(value)
        if query.after is not None:
            where.append(f"(created_ms, task_id) {sign} (?, ?)")
            values.extend(query.after)
        text = (
            f"SELECT {_COLUMNS} FROM tasks WHERE {' AND '.join(where)} "  # noqa: S608
            f"ORDER BY created_ms {order}, task_id {order} LIMIT ?"
        )
        return [_task(row) for row in self._db.execute(text, (*values, query.limit))]


def _values(task: TaskRecord) -> tuple[object, ...]:
    given = {column: getattr(task, column) for column in _COLUMNS.split(", ")}
    given["is_task"] = int(task.is_task)
    given["events"] = json.dumps(task.events)
    return tuple(given.values())


def _task(row: sqlite3.Row) -> TaskRecord:
    events = tuple((at, status, detail) for at, status, detail in json.loads(row["events"]))
    return TaskRecord(**{**dict(row), "is_task": bool(row["is_task"]), "events": events})
