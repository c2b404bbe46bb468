"""Races for one key have one winner, and reads beside writes see whole objects."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import oss2
import pytest
from oss_clients import CREDENTIALS, oss2_bucket

from local_sim.clock import RealClock
from local_sim.services import ServiceHost
from local_sim.services.oss import OssStore, create_app
from local_sim.services.oss.model import Attributes, Bucket

RACERS, KEYS = 8, 150


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OssStore]:
    with OssStore(tmp_path_factory.mktemp("race")) as store:
        store.create_bucket(Bucket("race-bucket", 0))
        yield store


@pytest.fixture
def endpoint(store: OssStore) -> Iterator[str]:
    with ServiceHost(create_app(store, credentials=CREDENTIALS, clock=RealClock())) as host:
        yield host.endpoint


def race(run: Callable[[int, threading.Barrier], list[int]]) -> list[list[int]]:
    """Run `run(racer, barrier)` in eight threads; each gives the keys it won."""
    barrier = threading.Barrier(RACERS)
    with ThreadPoolExecutor(RACERS) as pool:
        return list(pool.map(lambda racer: run(racer, barrier), range(RACERS)))


def check_lost(status: int, code: str) -> None:
    assert (status, code) == (409, "FileAlreadyExists")


def check_one_winner_each(won: list[list[int]], content: Callable[[int], bytes]) -> None:
    winners = {key: racer for racer, keys in enumerate(won) for key in keys}
    assert sum(len(keys) for keys in won) == KEYS
    assert sorted(winners) == list(range(KEYS))
    for key, racer in winners.items():
        assert content(key) == b"racer %d" % racer


def test_forbid_overwrite_has_one_winner_over_http(endpoint: str) -> None:
    def run(racer: int, barrier: threading.Barrier) -> list[int]:
        bucket = oss2_bucket(endpoint, "v1", name="race-bucket")
        won = []
        for key in range(KEYS):
            barrier.wait()
            try:
                bucket.put_object(f"key-{key}", b"racer %d" % racer, headers={"x-oss-forbid-overwrite": "true"})
                won.append(key)
            except oss2.exceptions.ServerError as error:
                check_lost(error.status, error.code)
        return won

    bucket = oss2_bucket(endpoint, "v1", name="race-bucket")
    check_one_winner_each(race(run), lambda key: bucket.get_object(f"key-{key}").read())


def test_forbid_overwrite_is_decided_in_the_store_not_by_the_event_loop(store: OssStore) -> None:
    from local_sim.services.oss import ApiError

    def run(racer: int, barrier: threading.Barrier) -> list[int]:
        won = []
        for key in range(KEYS):
            writer = store.write()
            writer.write(b"racer %d" % racer * 3000)
            written = writer.seal()
            barrier.wait()
            try:
                store.put("race-bucket", f"key-{key}", written, Attributes(), now_ms=0, forbid=True)
                won.append(key)
            except ApiError as error:
                check_lost(error.status, error.code)
        return won

    def content(key: int) -> bytes:
        with store.open("race-bucket", f"key-{key}") as reader:
            return b"".join(reader.chunks())[:7]

    check_one_winner_each(race(run), content)
    files = [path for path in (store.folder / "blobs").rglob("*") if path.is_file()]
    assert len(files) == KEYS  # what the losers wrote is gone


def test_appends_at_one_position_have_one_winner(endpoint: str) -> None:
    refused: list[tuple[int, int]] = []

    def run(racer: int, barrier: threading.Barrier) -> list[int]:
        bucket = oss2_bucket(endpoint, "v1", name="race-bucket")
        won = []
        for turn in range(20):
            barrier.wait()
            try:
                bucket.append_object("log", turn, b"%d" % racer)
                won.append(turn)
            except oss2.exceptions.PositionNotEqualToLength as error:
                refused.append((turn, error.next_position))
            barrier.wait()
        return won

    won = race(run)
    assert refused.count((0, 1)) == RACERS - 1
    assert {(turn, turn + 1) for turn in range(20)} == set(refused)
    assert sorted(turn for turns in won for turn in turns) == list(range(20))
    text = oss2_bucket(endpoint, "v1", name="race-bucket").get_object("log").read()
    assert text == b"".join(b"%d" % racer for turn in range(20) for racer in range(RACERS) if turn in won[racer])


def test_readers_see_one_whole_version(endpoint: str) -> None:
    stop = threading.Event()
    size = 600_000  # more than one chunk
    bucket = oss2_bucket(endpoint, "v1", name="race-bucket")
    bucket.put_object("hot", b"0" * size)

    def write() -> None:
        turn = 0
        mine = oss2_bucket(endpoint, "v1", name="race-bucket")
        while not stop.is_set():
            turn += 1
            if turn % 5 == 0:
                mine.delete_object("hot")
            mine.put_object("hot", b"%d" % (turn % 10) * size)

    def read(_: int) -> int:
        mine, seen = oss2_bucket(endpoint, "v1", name="race-bucket"), 0
        for _ in range(40):
            try:
                data = mine.get_object("hot").read()
            except oss2.exceptions.NoSuchKey:
                continue
            assert len(data) == size
            assert len(set(data)) == 1
            seen += 1
        return seen

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with ThreadPoolExecutor(3) as pool:
            assert sum(pool.map(read, range(3))) > 0
    finally:
        stop.set()
        writer.join()
