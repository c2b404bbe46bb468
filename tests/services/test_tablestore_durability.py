"""Acknowledged writes outlive kill -9, races have one winner, and a group that fails is acknowledged to nobody."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tablestore_rig import IGNORE, NOT_EXIST, Rig, condition, create_table, make_client, pk, read, row, running, sdk
from urllib3.exceptions import HTTPError

from local_sim.services.tablestore.errors import ConditionCheckFail, InternalServerError
from local_sim.services.tablestore.group_commit import GroupCommit

SERVER = """
import sys
from local_sim.services import ServiceHost
from local_sim.services.tablestore import TablestoreStore, create_app
host = ServiceHost(create_app(TablestoreStore(sys.argv[1]))).start()
print(host.endpoint, flush=True)
sys.stdin.read()
"""


class Server:
    """A service in a child process, to be killed."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.endpoint = self.process.stdout.readline().strip()

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()


def write_until_dead(endpoint: str, worker: int, round_: int, acknowledged: list[tuple[str, int]]) -> None:
    client = make_client(endpoint)
    for number in range(100_000):
        task = f"{round_}-{worker}-{number}"
        try:
            client.put_row("t", row(task, 1, [("n", number)]), condition(NOT_EXIST))
            client.update_row("t", row(task, 1, {"INCREMENT": [("n", 1)]}), None)
        except (HTTPError, sdk.OTSClientError):
            return  # the server is dead
        acknowledged.append((task, number + 1))


def test_nothing_acknowledged_is_lost_by_kill_9(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    acknowledged: list[tuple[str, int]] = []
    for round_ in range(4):
        server = Server(tmp_path / "ots.db")
        if round_ == 0:
            create_table(make_client(server.endpoint))
        workers = [
            threading.Thread(target=write_until_dead, args=(server.endpoint, worker, round_, acknowledged))
            for worker in range(4)
        ]
        for worker in workers:
            worker.start()
        wanted = len(acknowledged) + chance.randrange(20, 120)
        while len(acknowledged) < wanted and server.process.poll() is None:
            threading.Event().wait(0.001)
        server.kill()
        for worker in workers:
            worker.join()
    with running(tmp_path) as rig:
        client = rig.client()
        found: dict[str, Any] = {}
        start: Any = pk(sdk.INF_MIN, sdk.INF_MIN)
        while start:
            _, start, page, _ = client.get_range("t", "FORWARD", start, pk(sdk.INF_MAX, sdk.INF_MAX), max_version=1)
            found.update({item.primary_key[0][1]: item.attribute_columns[0][1] for item in page})
    assert len(acknowledged) >= 80
    assert [(task, found.get(task)) for task, _ in acknowledged] == acknowledged


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with running(tmp_path) as made:
        create_table(made.client())
        yield made


def test_eight_threads_race_for_200_keys_and_each_has_one_winner(rig: Rig) -> None:
    client = rig.client()

    def claim(worker: int, key: int) -> str:
        try:
            client.put_row("t", row(f"k{key}", 1, [("owner", worker)]), condition(NOT_EXIST))
        except sdk.OTSServiceError as error:
            return str(error.code)
        return f"won {key}"

    with ThreadPoolExecutor(8) as pool:
        races = pool.map(lambda worker: [claim(worker, key) for key in range(200)], range(8))
        total = Counter(outcome for outcomes in races for outcome in outcomes)
    assert total == {**{f"won {key}": 1 for key in range(200)}, "OTSConditionCheckFail": 1400}


def test_increments_of_many_threads_all_count(rig: Rig) -> None:
    client = rig.client()

    def add(_: int) -> None:
        for _ in range(25):
            client.update_row("t", row(columns={"INCREMENT": [("n", 1)]}), condition(IGNORE))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(8)))
    assert read(client) == {"n": 200}


def test_a_write_is_read_at_once_by_others(rig: Rig) -> None:
    writer, reader = rig.client(), rig.client()
    for number in range(50):
        writer.put_row("t", row(columns=[("n", number)]))
        assert read(reader) == {"n": number}


class Group:
    """A group commit over a database of one table."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.connection.execute("CREATE TABLE kept (n INTEGER PRIMARY KEY)")
        self.commits = 0
        self.rollbacks = 0
        self.group = GroupCommit(self.connection, self._committed, self._rolled_back)

    def _committed(self) -> None:
        self.commits += 1

    def _rolled_back(self) -> None:
        self.rollbacks += 1

    def insert(self, number: int) -> int:
        self.connection.execute("INSERT INTO kept VALUES (?)", (number,))
        return number

    def kept(self) -> list[int]:
        return [found[0] for found in self.connection.execute("SELECT n FROM kept ORDER BY n")]


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    made = Group(tmp_path / "group.db")
    yield made
    made.group.close()
    made.connection.close()


def test_waiting_operations_are_committed_together(group: Group) -> None:
    gate = threading.Event()

    async def run() -> list[int]:
        first = asyncio.ensure_future(group.group.submit(lambda: gate.wait(5)))
        rest = [asyncio.ensure_future(group.group.submit(lambda n=n: group.insert(n))) for n in range(50)]  # type: ignore[misc]
        await asyncio.sleep(0)
        gate.set()
        await first
        return list(await asyncio.gather(*rest))

    assert asyncio.run(run()) == list(range(50))
    assert group.kept() == list(range(50))
    assert group.commits <= 3


def test_a_refusal_stays_with_its_own_operation(group: Group) -> None:
    def refuse() -> None:
        raise ConditionCheckFail

    async def run() -> list[Any]:
        operations = [lambda: group.insert(1), refuse, lambda: group.insert(2)]
        return list(await asyncio.gather(*map(group.group.submit, operations), return_exceptions=True))

    first, refused, last = asyncio.run(run())
    assert (first, type(refused), last) == (1, ConditionCheckFail, 2)
    assert group.kept() == [1, 2]


def test_a_group_with_a_broken_operation_is_undone_and_acknowledged_to_nobody(group: Group) -> None:
    gate = threading.Event()

    async def run() -> list[Any]:
        first = asyncio.ensure_future(group.group.submit(lambda: gate.wait(5)))
        pair = [
            asyncio.ensure_future(group.group.submit(lambda: group.insert(1))),
            asyncio.ensure_future(group.group.submit(lambda: 1 // 0)),
        ]
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, return_exceptions=True)
        return list(await asyncio.gather(*pair, return_exceptions=True))

    assert [type(result) for result in asyncio.run(run())] == [InternalServerError, InternalServerError]
    assert (group.kept(), group.rollbacks) == ([], 1)
    assert asyncio.run(group.group.submit(lambda: group.insert(3))) == 3


def test_after_close_nothing_is_taken(group: Group) -> None:
    group.group.close()
    with pytest.raises(InternalServerError):
        asyncio.run(group.group.submit(lambda: group.insert(1)))
    assert group.kept() == []
