"""Functions, versions, aliases, triggers and settings in one SQLite file; async invocations are in `task_store`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from local_sim.services.sqlite import open_database

from .records import LATEST, AliasRecord, CodePackage, Document, FunctionRecord, TriggerRecord

MIGRATIONS = (
    """
    CREATE TABLE functions (
        name TEXT NOT NULL, version TEXT NOT NULL, document TEXT NOT NULL, folder TEXT NOT NULL, checksum TEXT NOT NULL,
        size INTEGER NOT NULL, description TEXT NOT NULL, from_project INTEGER NOT NULL,
        created_ms INTEGER NOT NULL, modified_ms INTEGER NOT NULL, PRIMARY KEY (name, version)) WITHOUT ROWID;
    CREATE TABLE numbers (name TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE aliases (
        function TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL, description TEXT NOT NULL,
        weights TEXT NOT NULL, created_ms INTEGER NOT NULL, modified_ms INTEGER NOT NULL,
        PRIMARY KEY (function, name)) WITHOUT ROWID;
    CREATE TABLE triggers (
        function TEXT NOT NULL, name TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, config TEXT NOT NULL,
        qualifier TEXT NOT NULL, description TEXT NOT NULL, invocation_role TEXT NOT NULL, source_arn TEXT NOT NULL,
        created_ms INTEGER NOT NULL, modified_ms INTEGER NOT NULL, PRIMARY KEY (function, name)) WITHOUT ROWID;
    CREATE TABLE settings (
        kind TEXT NOT NULL, function TEXT NOT NULL, qualifier TEXT NOT NULL, document TEXT NOT NULL,
        PRIMARY KEY (kind, function, qualifier)) WITHOUT ROWID;
    CREATE TABLE tasks (
        function TEXT NOT NULL, qualifier TEXT NOT NULL, task_id TEXT NOT NULL, request_id TEXT NOT NULL,
        payload BLOB NOT NULL, status TEXT NOT NULL, is_task INTEGER NOT NULL, created_ms INTEGER NOT NULL,
        due_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL, attempts INTEGER NOT NULL, started_ms INTEGER,
        ended_ms INTEGER, error TEXT NOT NULL, result BLOB NOT NULL, destination_status TEXT NOT NULL,
        callback_token TEXT NOT NULL, events TEXT NOT NULL, PRIMARY KEY (function, task_id)) WITHOUT ROWID;
    CREATE INDEX tasks_by_status ON tasks (status)
    """,
)
_FUNCTION = "name, version, document, folder, checksum, size, description, from_project, created_ms, modified_ms"
_ALIAS = "function, name, version, description, weights, created_ms, modified_ms"
_TRIGGER = (
    "function, name, id, type, config, qualifier, description, invocation_role, source_arn, created_ms, modified_ms"
)


def open_store(path: Path) -> sqlite3.Connection:
    """Open the service's file; its changes are acknowledged after a flush only."""
    return open_database(path, MIGRATIONS, flushed=False)


class FunctionStore:
    """The records of `records`. Every method is one statement or transaction; a `Flusher` waits for the disk."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database

    def put(self, function: FunctionRecord) -> None:
        """Keep a function or a version, new or changed."""
        code = function.code
        values = (
            function.name,
            function.version,
            json.dumps(function.document),
            str(code.folder),
            code.checksum,
            code.size,
            function.description,
            int(function.from_project),
            function.created_ms,
            function.modified_ms,
        )
        self._replace("functions", _FUNCTION, values)

    def get(self, name: str, version: str = LATEST) -> FunctionRecord | None:
        """Return a function or one of its versions."""
        query = f"SELECT {_FUNCTION} FROM functions WHERE name = ? AND version = ?"  # noqa: S608
        row = self._db.execute(query, (name, version)).fetchone()
        return _function(row) if row else None

    def functions(self, after: str, prefix: str, limit: int) -> list[FunctionRecord]:
        """Return up to `limit` functions by name, those after `after` whose names begin with `prefix`."""
        where = "version = ? AND name > ? AND substr(name, 1, length(?)) = ? ORDER BY name LIMIT ?"
        query = f"SELECT {_FUNCTION} FROM functions WHERE {where}"  # noqa: S608
        return [_function(row) for row in self._db.execute(query, (LATEST, after, prefix, prefix, limit))]

    def versions(self, name: str) -> list[FunctionRecord]:
        """Return all versions of a function, newest first."""
        where = "name = ? AND version != ? ORDER BY CAST(version AS INTEGER) DESC"
        query = f"SELECT {_FUNCTION} FROM functions WHERE {where}"  # noqa: S608
        return [_function(row) for row in self._db.execute(query, (name, LATEST))]

    def next_version(self, name: str) -> str:
        """Return the number of the next version; numbers are never used again."""
        query = "INSERT INTO numbers VALUES (?, 1) ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last"
        return str(self._db.execute(query, (name,)).fetchone()[0])

    def delete(self, name: str) -> None:
        """Drop a function with all that hangs on it; its async invocations become Invalid."""
        self._db.execute("BEGIN IMMEDIATE")
        for query in (
            "DELETE FROM functions WHERE name = ?",
            "DELETE FROM numbers WHERE name = ?",
            "DELETE FROM aliases WHERE function = ?",
            "DELETE FROM triggers WHERE function = ?",
            "DELETE FROM settings WHERE function = ?",
        ):
            self._db.execute(query, (name,))
        self._db.execute("COMMIT")

    def delete_version(self, name: str, version: str) -> None:
        """Drop a version."""
        self._db.execute("DELETE FROM functions WHERE name = ? AND version = ?", (name, version))

    def put_alias(self, alias: AliasRecord) -> None:
        """Keep an alias, new or changed."""
        weights = json.dumps(dict(alias.weights))
        head = (alias.function, alias.name, alias.version, alias.description, weights)
        self._replace("aliases", _ALIAS, (*head, alias.created_ms, alias.modified_ms))

    def alias(self, function: str, name: str) -> AliasRecord | None:
        """Return an alias."""
        query = f"SELECT {_ALIAS} FROM aliases WHERE function = ? AND name = ?"  # noqa: S608
        row = self._db.execute(query, (function, name)).fetchone()
        return _alias(row) if row else None

    def aliases(self, function: str) -> list[AliasRecord]:
        """Return a function's aliases by name."""
        query = f"SELECT {_ALIAS} FROM aliases WHERE function = ? ORDER BY name"  # noqa: S608
        return [_alias(row) for row in self._db.execute(query, (function,))]

    def delete_alias(self, function: str, name: str) -> None:
        """Drop an alias."""
        self._db.execute("DELETE FROM aliases WHERE function = ? AND name = ?", (function, name))

    def put_trigger(self, trigger: TriggerRecord) -> None:
        """Keep a trigger, new or changed."""
        values = [getattr(trigger, column) for column in _TRIGGER.split(", ")]
        self._replace("triggers", _TRIGGER, values)

    def trigger(self, function: str, name: str) -> TriggerRecord | None:
        """Return a trigger."""
        query = f"SELECT {_TRIGGER} FROM triggers WHERE function = ? AND name = ?"  # noqa: S608
        row = self._db.execute(query, (function, name)).fetchone()
        return TriggerRecord(**dict(row)) if row else None

    def triggers(self, function: str | None = None, kind: str | None = None) -> list[TriggerRecord]:
        """Return triggers by function and name; those of one function or one type when asked to."""
        where = "(?1 IS NULL OR function = ?1) AND (?2 IS NULL OR type = ?2) ORDER BY function, name"
        query = f"SELECT {_TRIGGER} FROM triggers WHERE {where}"  # noqa: S608
        return [TriggerRecord(**dict(row)) for row in self._db.execute(query, (function, kind))]

    def delete_trigger(self, function: str, name: str) -> None:
        """Drop a trigger."""
        self._db.execute("DELETE FROM triggers WHERE function = ? AND name = ?", (function, name))

    def put_setting(self, kind: str, function: str, qualifier: str, document: Document) -> None:
        """Keep a settings document, such as the async-invoke-config of a qualifier."""
        self._replace(
            "settings", "kind, function, qualifier, document", (kind, function, qualifier, json.dumps(document))
        )

    def setting(self, kind: str, function: str, qualifier: str) -> Document | None:
        """Return a settings document."""
        query = "SELECT document FROM settings WHERE kind = ? AND function = ? AND qualifier = ?"
        row = self._db.execute(query, (kind, function, qualifier)).fetchone()
        return dict(json.loads(row[0])) if row else None

    def settings(self, kind: str, function: str | None = None) -> list[tuple[str, str, Document]]:
        """Return (function, qualifier, document) of every settings document of a kind, by name."""
        query = (
            "SELECT function, qualifier, document FROM settings "
            "WHERE kind = ?1 AND (?2 IS NULL OR function = ?2) ORDER BY function, qualifier"
        )
        return [(row[0], row[1], json.loads(row[2])) for row in self._db.execute(query, (kind, function))]

    def delete_setting(self, kind: str, function: str, qualifier: str) -> bool:
        """Drop a settings document; False when there was none."""
        query = "DELETE FROM settings WHERE kind = ? AND function = ? AND qualifier = ?"
        return self._db.execute(query, (kind, function, qualifier)).rowcount > 0

    def _replace(self, table: str, columns: str, values: Sequence[Any]) -> None:
        marks = ",".join("?" * len(values))
        self._db.execute(f"REPLACE INTO {table} ({columns}) VALUES ({marks})", tuple(values))  # noqa: S608


def _function(row: sqlite3.Row) -> FunctionRecord:
    return FunctionRecord(
        name=row["name"],
        document=json.loads(row["document"]),
        code=CodePackage(Path(row["folder"]), row["checksum"], row["size"]),
        created_ms=row["created_ms"],
        modified_ms=row["modified_ms"],
        version=row["version"],
        description=row["description"],
        from_project=bool(row["from_project"]),
    )


def _alias(row: sqlite3.Row) -> AliasRecord:
    return AliasRecord(**{**dict(row), "weights": json.loads(row["weights"])})
