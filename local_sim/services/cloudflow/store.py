"""Flows, versions, aliases and schedules in one SQLite file.

Every method is one statement or transaction; `flush` waits for the disk.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from local_sim.services.durability import Flusher
from local_sim.services.sqlite import open_database

from .parameters import Environment, Route, Routing, Variable
from .records import AliasRecord, FlowRecord, ScheduleRecord, VersionRecord

_MIGRATIONS = (
    """
    CREATE TABLE flows (
        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, definition TEXT NOT NULL, description TEXT NOT NULL,
        type TEXT NOT NULL, role_arn TEXT NOT NULL, execution_mode TEXT NOT NULL, environment TEXT NOT NULL,
        external_storage_location TEXT NOT NULL, resource_group_id TEXT NOT NULL,
        created_ms INTEGER NOT NULL, modified_ms INTEGER NOT NULL, last_version INTEGER NOT NULL DEFAULT 0,
        from_project INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE versions (
        flow_id TEXT NOT NULL REFERENCES flows(id) ON DELETE CASCADE, version INTEGER NOT NULL,
        definition TEXT NOT NULL, description TEXT NOT NULL, environment TEXT NOT NULL, created_ms INTEGER NOT NULL,
        PRIMARY KEY (flow_id, version)) WITHOUT ROWID;
    CREATE TABLE aliases (
        flow_id TEXT NOT NULL REFERENCES flows(id) ON DELETE CASCADE, name TEXT NOT NULL,
        description TEXT NOT NULL, routing TEXT NOT NULL, created_ms INTEGER NOT NULL,
        PRIMARY KEY (flow_id, name)) WITHOUT ROWID;
    CREATE TABLE schedules (
        flow_id TEXT NOT NULL REFERENCES flows(id) ON DELETE CASCADE, name TEXT NOT NULL, id TEXT NOT NULL,
        cron TEXT NOT NULL, description TEXT NOT NULL, enable INTEGER NOT NULL, payload TEXT NOT NULL,
        created_ms INTEGER NOT NULL, modified_ms INTEGER NOT NULL, anchor_ms INTEGER NOT NULL,
        PRIMARY KEY (flow_id, name)) WITHOUT ROWID
    """,
)
_FLOW = (
    "id, name, definition, description, type, role_arn, execution_mode, environment, "
    "external_storage_location, resource_group_id, created_ms, modified_ms, from_project"
)
_VERSION = "flow_id, version, definition, description, environment, created_ms"
_ALIAS = "flow_id, name, description, routing, created_ms"
_SCHEDULE = "flow_id, name, id, cron, description, enable, payload, created_ms, modified_ms, anchor_ms"


class FlowStore:
    """The records of `records` on the disk. Adding what is there raises `sqlite3.IntegrityError`."""

    def __init__(self, path: Path) -> None:
        self._db = open_database(path, _MIGRATIONS, flushed=False)
        self._flusher = Flusher(self._db, path)

    def close(self) -> None:
        """Close the file."""
        self._flusher.close()
        self._db.close()

    async def flush(self) -> None:
        """Return once every change so far is on the disk; nothing may be acknowledged before."""
        await self._flusher.flush()

    def add_flow(self, flow: FlowRecord) -> None:
        """Keep a new flow."""
        self._insert("flows", _FLOW, _flow_values(flow))

    def put_flow(self, flow: FlowRecord) -> None:
        """Keep the changed fields of a flow that exists."""
        columns = _FLOW.split(", ")[2:]
        changes = ", ".join(f"{column} = ?" for column in columns)
        self._db.execute(f"UPDATE flows SET {changes} WHERE id = ?", (*_flow_values(flow)[2:], flow.id))  # noqa: S608

    def delete_flow(self, flow_id: str) -> None:
        """Drop a flow with all that hangs on it."""
        self._db.execute("DELETE FROM flows WHERE id = ?", (flow_id,))

    def flow(self, name: str) -> FlowRecord | None:
        """Return the flow of this name."""
        row = self._db.execute(f"SELECT {_FLOW} FROM flows WHERE name = ?", (name,)).fetchone()  # noqa: S608
        return _flow(row) if row else None

    def flow_by_id(self, flow_id: str) -> FlowRecord | None:
        """Return the flow of this id."""
        row = self._db.execute(f"SELECT {_FLOW} FROM flows WHERE id = ?", (flow_id,)).fetchone()  # noqa: S608
        return _flow(row) if row else None

    def flows(self, after: str, limit: int, resource_group: str | None) -> list[FlowRecord]:
        """Return up to `limit` flows whose names come after `after`, by name."""
        where = "name > ? AND (? IS NULL OR resource_group_id = ?)"
        query = f"SELECT {_FLOW} FROM flows WHERE {where} ORDER BY name LIMIT ?"  # noqa: S608
        return [_flow(row) for row in self._db.execute(query, (after, resource_group, resource_group, limit))]

    def count_flows(self) -> int:
        """Return how many flows there are."""
        return int(self._db.execute("SELECT count(*) FROM flows").fetchone()[0])

    def publish(self, flow: FlowRecord, description: str, now_ms: int) -> VersionRecord:
        """Freeze the flow's present definition under the next number; numbers are never used again."""
        with _transaction(self._db):
            query = "UPDATE flows SET last_version = last_version + 1 WHERE id = ? RETURNING last_version"
            number: int = self._db.execute(query, (flow.id,)).fetchone()[0]
            version = VersionRecord(flow.id, number, flow.definition, description, flow.environment, now_ms)
            environment = _environment_text(flow.environment)
            values = (flow.id, number, flow.definition, description, environment, now_ms)
            self._insert("versions", _VERSION, values)
        return version

    def version(self, flow_id: str, version: int) -> VersionRecord | None:
        """Return a published version."""
        query = f"SELECT {_VERSION} FROM versions WHERE flow_id = ? AND version = ?"  # noqa: S608
        row = self._db.execute(query, (flow_id, version)).fetchone()
        return _version(row) if row else None

    def versions(self, flow_id: str, below: int, limit: int) -> list[VersionRecord]:
        """Return up to `limit` versions numbered below `below`, newest first."""
        where = "flow_id = ? AND version < ? ORDER BY version DESC LIMIT ?"
        query = f"SELECT {_VERSION} FROM versions WHERE {where}"  # noqa: S608
        return [_version(row) for row in self._db.execute(query, (flow_id, below, limit))]

    def delete_version(self, flow_id: str, version: int) -> None:
        """Drop a version."""
        self._db.execute("DELETE FROM versions WHERE flow_id = ? AND version = ?", (flow_id, version))

    def add_alias(self, alias: AliasRecord) -> None:
        """Keep a new alias."""
        self._insert("aliases", _ALIAS, _alias_values(alias))

    def put_alias(self, alias: AliasRecord) -> None:
        """Keep the changed fields of an alias that exists."""
        query = "UPDATE aliases SET description = ?, routing = ? WHERE flow_id = ? AND name = ?"
        self._db.execute(query, (alias.description, _routing_text(alias.routing), alias.flow_id, alias.name))

    def alias(self, flow_id: str, name: str) -> AliasRecord | None:
        """Return an alias."""
        query = f"SELECT {_ALIAS} FROM aliases WHERE flow_id = ? AND name = ?"  # noqa: S608
        row = self._db.execute(query, (flow_id, name)).fetchone()
        return _alias(row) if row else None

    def aliases(self, flow_id: str, after: str, limit: int) -> list[AliasRecord]:
        """Return up to `limit` aliases whose names come after `after`, by name; a negative limit means all."""
        query = f"SELECT {_ALIAS} FROM aliases WHERE flow_id = ? AND name > ? ORDER BY name LIMIT ?"  # noqa: S608
        return [_alias(row) for row in self._db.execute(query, (flow_id, after, limit))]

    def delete_alias(self, flow_id: str, name: str) -> None:
        """Drop an alias."""
        self._db.execute("DELETE FROM aliases WHERE flow_id = ? AND name = ?", (flow_id, name))

    def add_schedule(self, schedule: ScheduleRecord) -> None:
        """Keep a new schedule."""
        self._insert("schedules", _SCHEDULE, _schedule_values(schedule))

    def put_schedule(self, schedule: ScheduleRecord) -> None:
        """Keep a changed schedule."""
        query = f"REPLACE INTO schedules ({_SCHEDULE}) VALUES (?,?,?,?,?,?,?,?,?,?)"  # noqa: S608
        self._db.execute(query, _schedule_values(schedule))

    def schedule(self, flow_id: str, name: str) -> ScheduleRecord | None:
        """Return a schedule."""
        query = f"SELECT {_SCHEDULE} FROM schedules WHERE flow_id = ? AND name = ?"  # noqa: S608
        row = self._db.execute(query, (flow_id, name)).fetchone()
        return _schedule(row) if row else None

    def schedules(self, flow_id: str, after: str, limit: int) -> list[ScheduleRecord]:
        """Return up to `limit` schedules whose names come after `after`, by name."""
        query = f"SELECT {_SCHEDULE} FROM schedules WHERE flow_id = ? AND name > ? ORDER BY name LIMIT ?"  # noqa: S608
        return [_schedule(row) for row in self._db.execute(query, (flow_id, after, limit))]

    def enabled_schedules(self) -> list[ScheduleRecord]:
        """Return every schedule that is switched on, of all flows."""
        query = f"SELECT {_SCHEDULE} FROM schedules WHERE enable"  # noqa: S608
        return [_schedule(row) for row in self._db.execute(query)]

    def delete_schedule(self, flow_id: str, name: str) -> None:
        """Drop a schedule."""
        self._db.execute("DELETE FROM schedules WHERE flow_id = ? AND name = ?", (flow_id, name))

    def _insert(self, table: str, columns: str, values: Sequence[str | int]) -> None:
        marks = ",".join("?" * len(values))
        self._db.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", values)  # noqa: S608


class _transaction:  # noqa: N801  (reads as a statement)
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._connection.execute("COMMIT" if kind is None else "ROLLBACK")


def _environment_text(environment: Environment) -> str:
    return json.dumps([[item.name, item.value, item.description] for item in environment.variables])


def _environment(text: str) -> Environment:
    return Environment(tuple(Variable(*item) for item in json.loads(text)))


def _routing_text(routing: Routing) -> str:
    return json.dumps([[route.version, route.weight] for route in routing.routes])


def _flow_values(flow: FlowRecord) -> tuple[str | int, ...]:
    return (
        flow.id,
        flow.name,
        flow.definition,
        flow.description,
        flow.type,
        flow.role_arn,
        flow.execution_mode,
        _environment_text(flow.environment),
        flow.external_storage_location,
        flow.resource_group_id,
        flow.created_ms,
        flow.modified_ms,
        int(flow.from_project),
    )


def _flow(row: sqlite3.Row) -> FlowRecord:
    environment, from_project = _environment(row["environment"]), bool(row["from_project"])
    return FlowRecord(**{**dict(row), "environment": environment, "from_project": from_project})


def _version(row: sqlite3.Row) -> VersionRecord:
    return VersionRecord(**{**dict(row), "environment": _environment(row["environment"])})


def _alias_values(alias: AliasRecord) -> tuple[str | int, ...]:
    return (alias.flow_id, alias.name, alias.description, _routing_text(alias.routing), alias.created_ms)


def _alias(row: sqlite3.Row) -> AliasRecord:
    routes = tuple(Route(version, weight) for version, weight in json.loads(row["routing"]))
    return AliasRecord(**{**dict(row), "routing": Routing(routes)})


def _schedule_values(item: ScheduleRecord) -> tuple[str | int, ...]:
    return (
        item.flow_id,
        item.name,
        item.id,
        item.cron,
        item.description,
        int(item.enable),
        item.payload,
        item.created_ms,
        item.modified_ms,
        item.anchor_ms,
    )


def _schedule(row: sqlite3.Row) -> ScheduleRecord:
    return ScheduleRecord(**{**dict(row), "enable": bool(row["enable"])})
