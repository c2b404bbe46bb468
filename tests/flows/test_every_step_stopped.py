"""Every shipped step and compensation, stopped before and after every single request it sends, and gone on with.

However often and wherever it was stopped, the world outside (shop, objects, notices) and the record are the same as
after a run that nothing stopped: each effect took place exactly once.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stopped_kit import AWAY, BUCKET, Gate, Point, Scene, Stage, Wires
from stopped_scenes import SCENES, SKU, Wanted

from functions.payloads import Payloads
from ledger import LedgerSettings, RealClock
from ledger.client import _new_client as new_sdk_client
from ledger.tables import create_tables
from local_sim.clock import RealClock as ServiceClock
from local_sim.services.oss import OssStore
from local_sim.services.oss import create_app as oss_app
from local_sim.services.tablestore import LOCAL_KEY_ID, LOCAL_SECRET, Credentials, TablestoreStore
from local_sim.services.tablestore import create_app as tablestore_app
from scripts.shop import Store
from scripts.shop import create_app as shop_app

STEPS = {scene.name: scene for scene in SCENES}


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


def points(stage: Stage, scene: Scene, wanted: Wanted, pairs: int) -> Iterator[tuple[Point, ...]]:
    """Yield every single point of a scene and so many of two in a row (chosen by the scene's name), each checked."""
    task_id, _, requests = scene.play(stage)
    whole = stage.seen(task_id)
    assert (tuple(whole["shop"]), tuple(whole["notices"])) == (wanted.shop, wanted.notices)
    assert len(whole["objects"]) == wanted.objects
    left: dict[Point, int] = {}
    for point in itertools.product(range(requests), ("before", "after")):
        left[point] = check(stage, scene, (point,), whole)
        yield (point,)
    both = [(one, two) for one in left for two in itertools.product(range(left[one]), ("before", "after"))]
    for stops in random.Random(scene.name).sample(both, min(pairs, len(both))):
        check(stage, scene, stops, whole)
        yield stops


def check(stage: Stage, scene: Scene, stops: tuple[Point, ...], whole: Any) -> int:
    """Play a scene with its stops to the end; returns how many requests the last process sent."""
    task_id, processes, requests = scene.play(stage, stops)
    assert processes == len(stops) + 1, f"{scene.name} was never stopped at {stops}"
    assert stage.seen(task_id) == whole, f"{scene.name} stopped at {stops}"
    return requests


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", STEPS)
def test_stopped_at_any_request_its_effect_takes_place_exactly_once(stage: Stage, name: str) -> None:
    scene = STEPS[name]
    wanted = SCENES[scene]
    found = set(points(stage, scene, wanted, wanted.pairs))
    print(f"{name}: {len(found)} distinct crash points")
    # Each request has two points, and the least of handlers (a reading one) sends one request.
    assert len(found) >= wanted.pairs + 2


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", STEPS)
def test_soak_stopped_twice_at_every_pair_of_requests(stage: Stage, name: str) -> None:
    found = sum(1 for _ in points(stage, STEPS[name], SCENES[STEPS[name]], 10**9))
    print(f"{name}: {found} distinct crash points")
    assert found > 0
