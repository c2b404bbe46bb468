"""Starts the Tablestore service for a test and makes unmodified SDK clients for it."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tablestore as sdk
from tablestore.retry import NoRetryPolicy

from local_sim.clock import Clock
from local_sim.services import ASGIApp, ServiceHost
from local_sim.services.tablestore import LOCAL_KEY_ID, LOCAL_SECRET, Credentials, TablestoreStore, create_app

logging.getLogger(sdk.OTSClient.DEFAULT_LOGGER_NAME).setLevel(logging.CRITICAL)

KEY = [("task", "STRING"), ("entry", "INTEGER")]
IGNORE = sdk.RowExistenceExpectation.IGNORE
EXIST = sdk.RowExistenceExpectation.EXPECT_EXIST
NOT_EXIST = sdk.RowExistenceExpectation.EXPECT_NOT_EXIST


@dataclass
class Rig:
    """A running service; `client()` makes clients of it."""

    host: ServiceHost
    store: TablestoreStore

    def client(self, kind: type[Any] = sdk.OTSClient, **options: Any) -> Any:
        return make_client(self.host.endpoint, kind, **options)


def make_client(endpoint: str, kind: type[Any] = sdk.OTSClient, **options: Any) -> Any:
    options = {
        "access_key_id": LOCAL_KEY_ID,
        "access_key_secret": LOCAL_SECRET,
        "instance_name": "inst",
        "retry_policy": NoRetryPolicy(),
        "socket_timeout": 10,
        **options,
    }
    return kind(endpoint, **options)


@contextlib.contextmanager
def running(
    folder: Path,
    *,
    clock: Clock | None = None,
    credentials: Credentials | None = None,
    wrap: Any = None,
    local_transactions: bool = True,
) -> Iterator[Rig]:
    """Serve a store in `folder`; `wrap` may put something around the app."""
    with TablestoreStore(folder / "ots.db") as store:
        app: ASGIApp = create_app(store, clock=clock, credentials=credentials, local_transactions=local_transactions)
        with ServiceHost(wrap(app) if wrap else app) as host:
            yield Rig(host, store)


def create_table(client: Any, name: str = "t", key: list[Any] | None = None, **options: Any) -> None:
    client.create_table(
        sdk.TableMeta(name, key or KEY), sdk.TableOptions(**options), sdk.ReservedThroughput(sdk.CapacityUnit(0, 0))
    )


def pk(task: Any = "a", entry: Any = 1) -> list[tuple[str, Any]]:
    return [("task", task), ("entry", entry)]


def row(task: Any = "a", entry: Any = 1, columns: Any = ()) -> Any:
    """A row; `columns` is a list for PutRow and a dict for UpdateRow."""
    return sdk.Row(pk(task, entry), columns if isinstance(columns, dict) else list(columns))


def condition(existence: str, columns: Any = None) -> Any:
    return sdk.Condition(existence, columns)


def equal(column: str, value: Any, *, pass_if_missing: bool = False, latest: bool = True) -> Any:
    return sdk.SingleColumnCondition(column, value, sdk.ComparatorType.EQUAL, pass_if_missing, latest)


def values(found: Any) -> dict[str, Any] | None:
    """The newest value of each column of a row as the client returned it; None for no row."""
    if found is None:
        return None
    newest: dict[str, Any] = {}
    for name, value, _ in found.attribute_columns:
        newest.setdefault(name, value)
    return newest


def read(client: Any, task: Any = "a", entry: Any = 1, **options: Any) -> dict[str, Any] | None:
    _, found, _ = client.get_row("t", pk(task, entry), max_version=1, **options)
    return values(found)


def outcomes(result: Any, table: str) -> list[Any]:
    """The items of a batch write for one table: puts, then updates, then deletes, each in the order of the request."""
    kinds = (result.table_of_put, result.table_of_update, result.table_of_delete)
    return [item for kind in kinds for item in kind.get(table, [])]


def refusal(error: Any) -> tuple[int, str, str]:
    """Status, code and message of what `pytest.raises` caught."""
    return error.value.http_status, error.value.code, error.value.message
