"""Creating the ledger's tables, and checking that they are the ones this code needs."""

from __future__ import annotations

import random
from typing import Any

from ledger.client import tablestore_client
from ledger.clock import Clock, RealClock
from ledger.errors import TableMissing, WrongSchemaVersion
from ledger.failures import Verdict, classify, definite_error
from ledger.keys import RESERVED_PREFIX, RowKey
from ledger.settings import CredentialsSource, LedgerSettings, environment_credentials
from ledger.store import Patience, TableStore

SCHEMA_VERSION = 1
_SCHEMA_ROW = RowKey(f"{RESERVED_PREFIX}schema", "schema")
_EXISTS = "OTSObjectAlreadyExist"
# A new table takes about a minute until it can be used (the SDK's own documentation of create_table).
_READY_SECONDS = 120.0


def provision(
    settings: LedgerSettings | None = None,
    *,
    credentials: CredentialsSource = environment_credentials,
    clock: Clock | None = None,
) -> list[str]:
    """Create the tables that are missing and write the schema version. Safe to repeat; returns the tables' names.

    Raises `WrongSchemaVersion` when another version is there, `NoPermission`, `LedgerUnavailable`.
    """
    settings = settings or LedgerSettings()
    return create_tables(tablestore_client(settings, credentials), settings, clock or RealClock())


def create_tables(client: Any, settings: LedgerSettings, clock: Clock) -> list[str]:
    """Do what `provision` does, over a given SDK client."""
    store = TableStore(client, settings.table, clock, _READY_SECONDS)
    _create(client, settings.table, [("task_id", "STRING"), ("entry", "STRING")], clock)
    _create(client, settings.tasks_table, [("bucket", "STRING"), ("begun", "STRING")], clock)
    _write_schema(store, clock)
    return [settings.table, settings.tasks_table]


def check_schema(store: TableStore) -> None:
    """Raise `TableMissing`, `NoPermission` or `WrongSchemaVersion` unless the table fits. One read."""
    row = store.read(_SCHEMA_ROW)
    found = None if row is None else int(row.columns.get("version", 0))
    if found != SCHEMA_VERSION:
        raise WrongSchemaVersion(store.table, found, SCHEMA_VERSION)


def _create(client: Any, table: str, keys: list[tuple[str, str]], clock: Clock) -> None:
    from tablestore import CapacityUnit, ReservedThroughput, TableMeta, TableOptions

    patience = Patience(clock, _READY_SECONDS, f"create {table}", random.Random())  # noqa: S311
    while True:
        try:
            client.create_table(
                TableMeta(table, keys),
                # TTL -1: it counts per cell, so a rarely written column could vanish from a living row.
                TableOptions(time_to_live=-1, max_version=1),
                ReservedThroughput(CapacityUnit(0, 0)),
            )
        except Exception as error:  # noqa: PERF203 (a retry loop)
            if getattr(error, "code", "") == _EXISTS:
                return
            if classify(error) is Verdict.DEFINITE:
                raise definite_error(error, table) from error
            patience.rest(error)
        else:
            return


def _write_schema(store: TableStore, clock: Clock) -> None:
    patience = Patience(clock, _READY_SECONDS, "write the schema version", random.Random())  # noqa: S311
    while True:
        try:
            row = store.read(_SCHEMA_ROW)
            if row is None:
                key = [("task_id", _SCHEMA_ROW.task_id), ("entry", _SCHEMA_ROW.entry)]
                store.put(store.table, key, {"version": SCHEMA_VERSION})
            return check_schema(store)
        except TableMissing as error:  # noqa: PERF203 (a retry loop)
            # Just created, not loaded yet.
            patience.rest(error)
