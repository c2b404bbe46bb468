"""The local Tablestore and OSS for the functions' own tests: real SDKs on the wire, one pair of services a worker."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from handler_kit import Desk
from loopback import Loopback, loopback

from functions.payloads import Payloads
from local_sim.clock import RealClock
from local_sim.services import Services
from local_sim.services.oss import OssStore
from local_sim.services.oss import create_app as oss_app
from local_sim.services.tablestore import LOCAL_KEY_ID, LOCAL_SECRET, TablestoreStore
from local_sim.services.tablestore import create_app as tablestore_app
from scripts.provision import provision

BUCKET = "stepkeeper-tests"


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("cloud")
    tables, objects = TablestoreStore(folder / "tables.sqlite3"), OssStore(folder / "oss")
    running = Services()
    running.add("tablestore", tablestore_app(tables))
    running.add("oss", oss_app(objects, credentials={LOCAL_KEY_ID: LOCAL_SECRET}, clock=RealClock()))
    with running:
        yield running
    tables.close()
    objects.close()


@pytest.fixture(scope="session")
def _provisioned() -> set[str]:
    return set()


@pytest.fixture
def cloud(
    services: Services, _provisioned: set[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> pytest.MonkeyPatch:
    """The environment of a function: endpoints, credentials, an outbox. Returns the monkeypatch for more settings."""
    environment = {
        "TABLESTORE_ENDPOINT": services["tablestore"].endpoint,
        "TABLESTORE_INSTANCE": "local",
        "OSS_ENDPOINT": services["oss"].endpoint,
        "OSS_BUCKET": BUCKET,
        "ALIBABA_CLOUD_ACCESS_KEY_ID": LOCAL_KEY_ID,
        "ALIBABA_CLOUD_ACCESS_KEY_SECRET": LOCAL_SECRET,
        "ALIBABA_CLOUD_REGION": "cn-hangzhou",
        "STEPKEEPER_OUTBOX": str(tmp_path / "outbox"),
        "STEPKEEPER_REVIEW_KEYS": "only-for-these-tests-" + "0" * 20,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    if "done" not in _provisioned:
        provision()
        _provisioned.add("done")
    return monkeypatch


@pytest.fixture
def payloads(cloud: pytest.MonkeyPatch) -> Payloads:
    return Payloads.open()


@pytest.fixture
def desk(cloud: pytest.MonkeyPatch, tmp_path: Path) -> Desk:
    """A new task at the functions' door."""
    return Desk("t-" + uuid.uuid4().hex[:10], tmp_path / "outbox")


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as running:
        yield running
