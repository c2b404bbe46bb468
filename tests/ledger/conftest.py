"""A Tablestore for the ledger's tests: without a socket by default, on loopback where processes take part."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ledger_kit import DirectWire, StoreClock, TurnableClock, ledger_over, local_credentials, sdk_client, settings

from ledger import Ledger, LedgerSettings, RealClock
from ledger.tables import create_tables
from local_sim.services.host import ServiceHost
from local_sim.services.tablestore import Credentials, TablestoreStore, create_app

_numbers = itertools.count()


@pytest.fixture(scope="session")
def store_app() -> Iterator[Any]:
    """The local Tablestore with the ledger's tables in it; in memory where the system has such a folder."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        store = TablestoreStore(Path(folder) / "store.db")
        app = create_app(store, credentials=Credentials(), clock=StoreClock())
        create_tables(sdk_client(DirectWire(app)), settings(), RealClock())
        yield app
        store.close()


@pytest.fixture
def wire(store_app: Any) -> DirectWire:
    return DirectWire(store_app)


@pytest.fixture
def clock() -> TurnableClock:
    return TurnableClock()


@pytest.fixture
def ledger(wire: DirectWire, clock: TurnableClock) -> Ledger:
    return ledger_over(wire, clock)


@pytest.fixture
def task() -> str:
    """A task id nobody else uses."""
    return f"task-{next(_numbers)}"


@pytest.fixture(scope="session")
def served(store_app: Any) -> Iterator[LedgerSettings]:
    """The same store on a loopback port."""
    with ServiceHost(store_app, name="tablestore") as host:
        yield settings(tablestore_endpoint=host.endpoint, lease_seconds=5)


@pytest.fixture
def open_ledger(served: LedgerSettings) -> Ledger:
    return Ledger.open(served, credentials=local_credentials)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path
