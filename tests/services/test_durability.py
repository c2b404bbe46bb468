"""Changes that are not flushed on the event loop are on the disk before anybody hears of them; one process a store."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from local_sim.services import SchemaTooNew, StoreInUse, StoreUnusable
from local_sim.services.durability import Flusher
from local_sim.services.oss import index
from local_sim.services.oss.model import Bucket
from local_sim.services.oss.store import OssStore
from local_sim.services.sqlite import open_database
from local_sim.services.tablestore import TablestoreStore


class Disk:
    """Stands for os.fsync: counts the calls and holds them back until it is let go."""

    def __init__(self) -> None:
        self.calls = 0
        self.free = threading.Event()
        self.free.set()

    def __call__(self, descriptor: int) -> None:
        self.calls += 1
        assert self.free.wait(10)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    made = Disk()
    monkeypatch.setattr(os, "fsync", made)
    return made


@pytest.fixture
def database(tmp_path: Path) -> Any:
    connection = open_database(tmp_path / "x.sqlite", ["CREATE TABLE t (n INTEGER)"], flushed=False)
    yield connection
    connection.close()


def add(database: sqlite3.Connection) -> None:
    database.execute("INSERT INTO t VALUES (1)")


def test_a_flush_returns_after_the_disk_and_the_loop_runs_on(
    tmp_path: Path, database: sqlite3.Connection, disk: Disk
) -> None:
    async def story() -> None:
        flusher = Flusher(database, tmp_path / "x.sqlite")
        await flusher.flush()
        disk.free.clear()
        add(database)
        waiting = asyncio.ensure_future(flusher.flush())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not waiting.done()
        assert database.execute("SELECT count(*) FROM t").fetchone()[0] == 1  # readers do not wait
        disk.free.set()
        await waiting
        flusher.close()

    asyncio.run(story())


def test_one_flush_serves_all_who_wait(tmp_path: Path, database: sqlite3.Connection, disk: Disk) -> None:
    async def story() -> None:
        flusher = Flusher(database, tmp_path / "x.sqlite")
        await flusher.flush()
        before = disk.calls
        disk.free.clear()
        waiting = []
        for _ in range(50):
            add(database)
            waiting.append(asyncio.ensure_future(flusher.flush()))
            await asyncio.sleep(0)
        disk.free.set()
        await asyncio.gather(*waiting)
        assert disk.calls - before == 2  # the first one's, and one for the 49 that came while it ran
        await flusher.flush()
        assert disk.calls - before == 2  # nothing changed since
        flusher.close()
        flusher.close()

    asyncio.run(story())


def test_a_failed_flush_reaches_the_caller_and_is_tried_again(
    tmp_path: Path, database: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        flusher = Flusher(database, tmp_path / "x.sqlite")
        add(database)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("the disk is gone")))
            with pytest.raises(OSError, match="the disk is gone"):
                await flusher.flush()
        await flusher.flush()
        flusher.close()

    asyncio.run(story())


@pytest.mark.parametrize("kind", [TablestoreStore, OssStore])
def test_a_store_is_opened_once_at_a_time(tmp_path: Path, kind: Any) -> None:
    with kind(tmp_path / "data"):
        with pytest.raises(StoreInUse, match="in use by another process") as refused:
            kind(tmp_path / "data")
        assert refused.value.path == tmp_path / "data"
    kind(tmp_path / "data").close()


def test_a_refused_file_is_not_kept_locked(tmp_path: Path) -> None:
    TablestoreStore(tmp_path / "data").close()
    with sqlite3.connect(tmp_path / "data") as connection:
        connection.execute("PRAGMA user_version = 99")
    for _ in range(2):  # a lock left behind would make the second one StoreInUse
        with pytest.raises(SchemaTooNew):
            TablestoreStore(tmp_path / "data")


def test_an_older_oss_folder_is_brought_forward_with_its_objects(tmp_path: Path) -> None:
    """Schema 1 had no lifecycle rules."""
    (tmp_path / "oss").mkdir()
    old = open_database(tmp_path / "oss" / "index.sqlite3", index.MIGRATIONS[:1])
    index.insert_bucket(old, Bucket("kept", 1, "private", "Standard", "LRS"))
    old.execute(
        "INSERT INTO objects VALUES (1, 'kept', 'a/b', 'Normal', 3, 'E', '7', 5, '[]', '[]', '', 'Standard', '')"
    )
    old.execute("INSERT INTO segments VALUES (1, 0, '', 3, x'616263')")
    old.close()
    with OssStore(tmp_path / "oss") as store:
        with store.open("kept", "a/b") as reader:
            assert b"".join(reader.chunks()) == b"abc"
        store.set_lifecycle("kept", b"<rules/>")
        assert store.lifecycle("kept") == b"<rules/>"
        assert store.connection().execute("PRAGMA user_version").fetchone()[0] == len(index.MIGRATIONS)


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    steps = ["CREATE TABLE t (n INTEGER)", "ALTER TABLE t ADD COLUMN m INTEGER; ALTER TABLE missing ADD COLUMN x"]
    open_database(tmp_path / "x.sqlite", steps[:1]).close()
    with pytest.raises(StoreUnusable, match="no such table: missing"):
        open_database(tmp_path / "x.sqlite", steps)
    again = open_database(tmp_path / "x.sqlite", steps[:1])
    assert [row[1] for row in again.execute("PRAGMA table_info(t)")] == ["n"]
    again.close()


@pytest.mark.parametrize("content", [b"not a database, certainly not one" * 100, None])
def test_a_file_that_is_no_database_is_refused_by_name(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.sqlite"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(StoreUnusable, match=r"x\.sqlite cannot be used") as refused:
        open_database(path, [])
    assert refused.value.path == path
