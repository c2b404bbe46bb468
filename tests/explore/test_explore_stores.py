"""The stores in memory do what the stores on disk do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_sim.explore.stores import MemoryObjects, MemoryTables
from local_sim.services.oss import ApiError, OssStore
from local_sim.services.oss.model import Attributes, Bucket
from local_sim.services.tablestore import TablestoreError, TablestoreStore
from local_sim.services.tablestore.schema import KeyColumn, KeyType, TableSchema

SCHEMA = TableSchema("t", (KeyColumn("k", KeyType.STRING, False),))
KEYS = st.sampled_from([b"a", b"b", b"c", b"cc", b"d"])
CHANGES = st.lists(
    st.one_of(st.tuples(st.just("put"), KEYS, st.binary(max_size=4)), st.tuples(st.just("delete"), KEYS, st.just(b"")))
)


def written(store: TablestoreStore, work: Callable[[Any], Any]) -> Any:
    return asyncio.run(store.write(work))


def rows(store: TablestoreStore, low: bytes, high: bytes, *, backward: bool) -> list[tuple[bytes, bytes]]:
    table = store.table("i", "t")
    return store.read(lambda access: [(k, row) for k, row in access.scan(table, low, high, backward=backward)])


@settings(deadline=None, max_examples=25)
@given(changes=CHANGES, low=KEYS, high=KEYS, backward=st.booleans())
def test_rows_are_found_as_on_disk(
    tmp_path_factory: pytest.TempPathFactory,
    changes: list[tuple[str, bytes, bytes]],
    low: bytes,
    high: bytes,
    backward: bool,
) -> None:
    memory: TablestoreStore = MemoryTables()
    with TablestoreStore(tmp_path_factory.mktemp("t") / "t.sqlite") as disk:
        for store in (memory, disk):
            written(store, lambda session: session.create_table("i", SCHEMA))
            table = store.table("i", "t")
            for kind, key, row in changes:
                if kind == "put":
                    written(store, lambda session, at=(table, key, row): session.put(*at))
                else:
                    written(store, lambda session, at=(table, key): session.delete(*at))
        assert rows(memory, low, high, backward=backward) == rows(disk, low, high, backward=backward)
        assert rows(memory, b"", b"z", backward=False) == rows(disk, b"", b"z", backward=False)


def test_tables_come_change_and_go() -> None:
    store = MemoryTables()
    with pytest.raises(TablestoreError):
        store.table("i", "t")
    written(store, lambda session: session.create_table("i", SCHEMA))
    first = store.table("i", "t")
    written(store, lambda session: session.put(first, b"a", b"1"))
    assert written(store, lambda session: [session.next_in_sequence(first, b"p") for _ in range(2)]) == [1, 2]
    written(store, lambda session: session.delete_table(first))
    written(store, lambda session: session.create_table("i", SCHEMA))
    assert store.table("i", "t").id != first.id
    assert store.rows_of(store.table("i", "t")) == []
    with pytest.raises(TablestoreError):
        written(store, lambda session: session.current(first))


def put(store: OssStore, key: str, data: bytes, *, forbid: bool = False) -> None:
    writer = store.write()
    writer.write(data)
    store.put("b", key, writer.seal(), Attributes(), now_ms=5, forbid=forbid)


def content(store: OssStore, key: str) -> bytes:
    reader = store.open("b", key)
    try:
        return b"".join(reader.chunks(0, reader.info.size))
    finally:
        reader.close()


@pytest.fixture(params=["memory", "disk"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    store: OssStore = MemoryObjects() if request.param == "memory" else OssStore(tmp_path / "oss")
    store.create_bucket(Bucket("b", "private", "Standard", 1))
    yield store
    store.close()


@pytest.mark.parametrize("size", [0, 10, 100_000])
def test_objects_of_any_size_are_read_back(objects: OssStore, size: int) -> None:
    put(objects, "k", b"x" * size)
    assert content(objects, "k") == b"x" * size
    assert objects.find("b", "k").size == size


def test_an_object_is_not_overwritten_where_that_is_forbidden(objects: OssStore) -> None:
    put(objects, "k", b"one")
    with pytest.raises(ApiError):
        put(objects, "k", b"two", forbid=True)
    assert content(objects, "k") == b"one"
    put(objects, "k", b"two")
    assert content(objects, "k") == b"two"


def test_objects_are_removed_and_listed(objects: OssStore) -> None:
    for key in ("a/1", "a/2", "b/1"):
        put(objects, key, b"x")
    objects.delete("b", ["a/1", "nothing"])
    found = objects.list_objects("b", prefix="a/", delimiter="", after="", limit=10)
    assert [one.key for one in found.rows] == ["a/2"]
    assert not objects.exists("b", "a/1")
