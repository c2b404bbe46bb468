"""One local cloud for all flow tests of a worker, and the stage on which single handlers are called without sockets."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flow_kit import ROOT, Flows
from loopback import Loopback, loopback
from stopped_kit import AWAY, BUCKET, Gate, Stage, Wires
from stopped_scenes import SKU

from functions.payloads import Payloads
from ledger import LedgerSettings, RealClock
from ledger.client import _new_client as new_sdk_client
from ledger.tables import create_tables
from local_sim.clock import RealClock as ServiceClock
from local_sim.cloud import LocalCloud
from local_sim.project import load_project
from local_sim.services.oss import OssStore
from local_sim.services.oss import create_app as oss_app
from local_sim.services.tablestore import LOCAL_KEY_ID, LOCAL_SECRET, Credentials, TablestoreStore
from local_sim.services.tablestore import create_app as tablestore_app
from scripts.shop import Store
from scripts.shop import create_app as shop_app


@pytest.fixture(scope="session")
def shared_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    project = load_project(ROOT, environment={})
    with LocalCloud(project, Path(tmp_path_factory.mktemp("flows"))) as cloud:
        yield cloud


@pytest.fixture
def flows(shared_cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> Flows:
    """The flows, and this process's environment pointed at the same cloud, to look at what they left."""
    for name, value in shared_cloud.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "local")
    return Flows(shared_cloud)


@pytest.fixture
def task_id() -> str:
    return "t-" + uuid.uuid4().hex[:10]


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as running:
        yield running


@pytest.fixture(scope="session")
def wires(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Wires, Path]]:
    memory = Path("/dev/shm")
    base = memory if os.access(memory, os.W_OK) else tmp_path_factory.mktemp("stopped")
    folder = Path(tempfile.mkdtemp(prefix="stopped-", dir=base))
    tables, objects = TablestoreStore(folder / "tables.sqlite3"), OssStore(folder / "oss")
    shop = shop_app(folder)
    apps = (
        tablestore_app(tables, credentials=Credentials()),
        oss_app(objects, credentials={LOCAL_KEY_ID: LOCAL_SECRET}, clock=ServiceClock()),
    )
    yield Wires(Gate(), *apps, shop), folder
    shop.close()
    tables.close()
    objects.close()
    shutil.rmtree(folder)


@pytest.fixture
def stage(wires: tuple[Wires, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Stage]:
    environment = {
        "OSS_ENDPOINT": AWAY,
        "OSS_BUCKET": BUCKET,
        "SHOP_ENDPOINT": "http://shop",
        "ALIBABA_CLOUD_ACCESS_KEY_ID": LOCAL_KEY_ID,
        "ALIBABA_CLOUD_ACCESS_KEY_SECRET": LOCAL_SECRET,
        "ALIBABA_CLOUD_REGION": "cn-hangzhou",
        "STEPKEEPER_OUTBOX": str(tmp_path),
        "STEPKEEPER_REVIEW_KEYS": "only-for-these-tests-" + "0" * 20,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    store = Store(wires[1] / "shop.sqlite3")
    store.set_stock(SKU, 1_000_000)
    made = Stage(wires[0], store, tmp_path)
    made.install(monkeypatch)
    made.process()
    settings = LedgerSettings(tablestore_endpoint=AWAY, tablestore_instance="local")
    create_tables(_client(settings, made), settings, RealClock())
    Payloads.open().bucket.provision()
    yield made
    store.close()


def _client(settings: LedgerSettings, stage: Stage) -> Any:
    from ledger import Credentials as Keys

    client = new_sdk_client(settings, lambda: Keys(LOCAL_KEY_ID, LOCAL_SECRET))
    client.connection = stage.wires
    return client
