"""Table management, auto-increment keys, versions and expiry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tablestore_rig import EXIST, IGNORE, NOT_EXIST, Rig, condition, create_table, pk, read, refusal, row, running, sdk

from local_sim.clock import VirtualClock
from local_sim.services import SchemaTooNew
from local_sim.services.tablestore import TablestoreStore

DAY_MS = 86_400_000


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def rig(tmp_path: Path, clock: VirtualClock) -> Iterator[Rig]:
    with running(tmp_path, clock=clock) as made:
        yield made


@pytest.fixture
def client(rig: Rig) -> Any:
    return rig.client()


def test_create_list_describe_delete(client: Any) -> None:
    key = [("a", "STRING"), ("b", "INTEGER"), ("c", "BINARY"), ("d", "INTEGER", sdk.PK_AUTO_INCR)]
    meta = sdk.TableMeta("zebra", key, [("x", "STRING"), ("y", "DOUBLE")])
    client.create_table(meta, sdk.TableOptions(86_400, 3, 1000, False), sdk.ReservedThroughput(sdk.CapacityUnit(2, 3)))
    create_table(client, "apple")
    assert client.list_table() == ("apple", "zebra")
    told = client.describe_table("zebra")
    assert told.table_meta.schema_of_primary_key == key
    assert told.table_meta.defined_columns == [("x", "STRING"), ("y", "DOUBLE")]
    options = told.table_options
    assert (options.time_to_live, options.max_version, options.max_time_deviation) == (86_400, 3, 1000)
    assert options.allow_update is False
    capacity = told.reserved_throughput_details.capacity_unit
    assert (capacity.read, capacity.write) == (2, 3)
    client.delete_table("zebra")
    assert client.list_table() == ("apple",)


def test_instances_do_not_share_tables(rig: Rig) -> None:
    one, other = rig.client(instance_name="one"), rig.client(instance_name="other")
    create_table(one)
    assert (one.list_table(), other.list_table()) == (("t",), ())


def test_a_table_is_made_once(client: Any) -> None:
    create_table(client)
    with pytest.raises(sdk.OTSServiceError) as caught:
        create_table(client)
    assert refusal(caught) == (409, "OTSObjectAlreadyExist", "Requested table already exists.")


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.delete_table("absent"),
        lambda client: client.describe_table("absent"),
        lambda client: client.update_table("absent", sdk.TableOptions(max_version=2)),
        lambda client: client.get_row("absent", pk(), max_version=1),
        lambda client: client.put_row("absent", row()),
        lambda client: client.start_local_transaction("absent", [("task", "a")]),
    ],
)
def test_an_absent_table_is_told(client: Any, call: Any) -> None:
    with pytest.raises(sdk.OTSServiceError) as caught:
        call(client)
    assert refusal(caught) == (404, "OTSObjectNotExist", "Requested table does not exist.")


def test_a_table_made_anew_is_empty(client: Any) -> None:
    create_table(client)
    client.put_row("t", row(columns=[("a", 1)]))
    client.delete_table("t")
    create_table(client)
    assert read(client) is None


def test_update_table_changes_only_what_is_sent(client: Any) -> None:
    create_table(client, time_to_live=100_000, max_version=2)
    updated = client.update_table("t", sdk.TableOptions(None, 5, None))
    assert (updated.table_options.time_to_live, updated.table_options.max_version) == (100_000, 5)
    throughput = sdk.ReservedThroughput(sdk.CapacityUnit(7, 8))
    client.update_table("t", reserved_throughput=throughput)
    capacity = client.describe_table("t").reserved_throughput_details.capacity_unit
    assert (capacity.read, capacity.write) == (7, 8)
    assert client.describe_table("t").table_options.max_version == 5


@pytest.mark.parametrize(
    ("key", "options", "message"),
    [
        ([], {}, "The number of primary key columns must be in range: [1, 4]."),
        (
            [(f"k{number}", "INTEGER") for number in range(5)],
            {},
            "The number of primary key columns must be in range: [1, 4].",
        ),
        ([("a", "STRING"), ("a", "STRING")], {}, "Duplicated column name in the table meta."),
        ([("1a", "STRING")], {}, "Invalid column name: '1a'."),
        ([("x" * 256, "STRING")], {}, f"Invalid column name: '{'x' * 256}'."),
        ([("a", "BOOLEAN")], {}, "The type of primary key column: 'a' is not supported."),
        (
            [("a", "INTEGER", sdk.PK_AUTO_INCR)],
            {},
            "An auto-increment column must be of type INTEGER and not the partition key.",
        ),
        ([("a", "STRING")], {"time_to_live": 86_399}, "The time to live must be -1 or at least 86400 seconds."),
        ([("a", "STRING")], {"max_version": 0}, "The max versions must be greater than 0."),
        ([("a", "STRING")], {"max_time_deviation": 0}, "The deviation cell version must be greater than 0 seconds."),
    ],
)
def test_an_impossible_table_is_refused(client: Any, key: Any, options: Any, message: str) -> None:
    with pytest.raises(sdk.OTSServiceError) as caught:
        client.create_table(
            sdk.TableMeta("t", key), sdk.TableOptions(**options), sdk.ReservedThroughput(sdk.CapacityUnit(0, 0))
        )
    assert refusal(caught) == (400, "OTSParameterInvalid", message)
    assert client.list_table() == ()


@pytest.mark.parametrize("name", ["", "1a", "a-b", "a" * 256])
def test_an_impossible_table_name_is_refused(client: Any, name: str) -> None:
    with pytest.raises(sdk.OTSServiceError, match="Invalid table name"):
        create_table(client, name)


def test_an_instance_holds_64_tables(client: Any) -> None:
    for number in range(64):
        create_table(client, f"t{number}")
    with pytest.raises(sdk.OTSServiceError) as caught:
        create_table(client, "one_more")
    assert refusal(caught)[:2] == (403, "OTSQuotaExhausted")


@pytest.mark.parametrize("what", ["index", "encryption"])
def test_what_is_left_out_is_refused_at_creation(client: Any, what: str) -> None:
    index = sdk.SecondaryIndexMeta("i", ["x"], [])
    extras: Any = {
        "index": {"secondary_indexes": [index]},
        "encryption": {"sse_spec": sdk.SSESpecification(True, sdk.SSEKeyType.SSE_KMS_SERVICE)},
    }
    with pytest.raises(sdk.OTSServiceError) as caught:
        client.create_table(
            sdk.TableMeta("t", [("a", "STRING")], [("x", "STRING")]),
            sdk.TableOptions(),
            sdk.ReservedThroughput(sdk.CapacityUnit(0, 0)),
            **extras[what],
        )
    assert refusal(caught)[:2] == (400, "OTSUnsupportOperation")
    assert client.list_table() == ()


@pytest.mark.parametrize(
    ("api", "call"),
    [
        ("SQLQuery", lambda client: client.exe_sql_query("show tables")),
        ("ListSearchIndex", lambda client: client.list_search_index("t")),
        ("DropIndex", lambda client: client.delete_secondary_index("t", "i")),
        (
            "CreateIndex",
            lambda client: client.create_secondary_index("t", sdk.SecondaryIndexMeta("i", ["x"], []), True),
        ),
    ],
)
def test_what_is_left_out_is_refused_by_name(client: Any, api: str, call: Any) -> None:
    with pytest.raises(sdk.OTSServiceError) as caught:
        call(client)
    assert refusal(caught) == (400, "OTSUnsupportOperation", f"Unsupported operation: {api}.")


AUTO = [("task", "STRING"), ("seq", "INTEGER", sdk.PK_AUTO_INCR)]


def append(client: Any, task: str) -> int:
    key = [("task", task), ("seq", sdk.PK_AUTO_INCR)]
    _, returned = client.put_row("t", sdk.Row(key, [("a", 1)]), return_type=sdk.ReturnType.RT_PK)
    return int(returned.primary_key[1][1])


def test_auto_increment_rises_within_a_partition_and_is_never_reused(client: Any) -> None:
    create_table(client, key=AUTO)
    first, second, other = append(client, "a"), append(client, "a"), append(client, "b")
    assert first < second
    assert other > 0
    client.delete_row("t", [("task", "a"), ("seq", second)], condition(IGNORE))
    assert append(client, "a") > second


def test_a_row_with_an_auto_increment_key_is_updated_by_its_number(client: Any) -> None:
    create_table(client, key=AUTO)
    key = [("task", "a"), ("seq", append(client, "a"))]
    client.update_row("t", sdk.Row(key, {"PUT": [("a", 2)]}), condition(EXIST))
    _, found, _ = client.get_row("t", key, max_version=1)
    assert found.attribute_columns[0][:2] == ("a", 2)


def versions(client: Any, **options: Any) -> list[tuple[str, Any, int]]:
    _, found, _ = client.get_row("t", pk(), **options)
    return [] if found is None else list(found.attribute_columns)


def test_versions_newest_first(client: Any, clock: VirtualClock) -> None:
    create_table(client, max_version=2)
    start = clock.now_ms()
    for step in range(3):
        client.update_row("t", row(columns={"PUT": [("a", step)]}), None)
        clock.sleep_until(start + (step + 1) * 10)
    assert versions(client, max_version=5) == [("a", 2, start + 20), ("a", 1, start + 10)]
    assert versions(client, max_version=1) == [("a", 2, start + 20)]
    assert versions(client, max_version=None, time_range=(start, start + 20)) == [("a", 1, start + 10)]
    assert versions(client, max_version=None, time_range=start + 20) == [("a", 2, start + 20)]
    client.update_row("t", row(columns={"DELETE": [("a", None, start + 20)]}), None)
    assert versions(client, max_version=5) == [("a", 1, start + 10)]


def test_fewer_versions_hide_the_rest_at_once(client: Any, clock: VirtualClock) -> None:
    create_table(client, max_version=3)
    now = clock.now_ms()
    client.put_row("t", row(columns=[("a", 1, now), ("a", 2, now + 1), ("a", 3, now + 2)]))
    client.update_table("t", sdk.TableOptions(max_version=1))
    assert versions(client, max_version=3) == [("a", 3, now + 2)]


def test_a_condition_on_older_versions(client: Any, clock: VirtualClock) -> None:
    create_table(client, max_version=2)
    now = clock.now_ms()
    client.put_row("t", row(columns=[("a", "old", now), ("a", "new", now + 1)]))
    newest = sdk.SingleColumnCondition("a", "old", sdk.ComparatorType.EQUAL, False, True)
    any_version = sdk.SingleColumnCondition("a", "old", sdk.ComparatorType.EQUAL, False, False)
    with pytest.raises(sdk.OTSServiceError, match="Condition check failed"):
        client.update_row("t", row(columns={"PUT": [("b", 1)]}), condition(EXIST, newest))
    client.update_row("t", row(columns={"PUT": [("b", 1)]}), condition(EXIST, any_version))


def test_values_expire_one_by_one_on_the_servers_clock(client: Any, clock: VirtualClock) -> None:
    create_table(client, time_to_live=86_400)
    start = clock.now_ms()
    client.put_row("t", row(columns=[("token", "x"), ("state", "claimed")]))
    clock.sleep_until(start + DAY_MS // 2)
    client.update_row("t", row(columns={"PUT": [("state", "done")]}), condition(EXIST))
    clock.sleep_until(start + DAY_MS)
    assert read(client) == {"state": "done"}
    clock.sleep_until(start + DAY_MS // 2 + DAY_MS)
    assert read(client) is None
    _, _, found, _ = client.get_range("t", "FORWARD", pk(sdk.INF_MIN), pk(sdk.INF_MAX), max_version=1)
    assert found == []


def test_an_expired_row_does_not_exist_for_conditions(client: Any, clock: VirtualClock) -> None:
    create_table(client, time_to_live=86_400)
    client.put_row("t", row(columns=[("a", 1)]))
    clock.sleep_until(clock.now_ms() + DAY_MS)
    with pytest.raises(sdk.OTSServiceError, match="Condition check failed"):
        client.update_row("t", row(columns={"PUT": [("a", 2)]}), condition(EXIST))
    client.put_row("t", row(columns=[("a", 3)]), condition(NOT_EXIST))
    assert read(client) == {"a": 3}


def test_update_is_refused_where_the_table_forbids_it(client: Any) -> None:
    create_table(client, allow_update=False)
    client.put_row("t", row(columns=[("a", 1)]))
    with pytest.raises(sdk.OTSServiceError, match="allow_update"):
        client.update_row("t", row(columns={"PUT": [("a", 2)]}), None)


def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    with running(folder) as first:
        create_table(first.client(), key=AUTO, max_version=2)
        number = append(first.client(), "a")
    with running(folder) as second:
        client = second.client()
        assert client.describe_table("t").table_options.max_version == 2
        _, found, _ = client.get_row("t", [("task", "a"), ("seq", number)], max_version=1)
        assert found.attribute_columns[0][:2] == ("a", 1)
        assert append(client, "a") > number


def test_a_file_of_a_later_version_is_refused(tmp_path: Path) -> None:
    import sqlite3

    TablestoreStore(tmp_path / "ots.db").close()
    connection = sqlite3.connect(tmp_path / "ots.db")
    connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(SchemaTooNew) as caught:
        TablestoreStore(tmp_path / "ots.db")
    assert (caught.value.found, caught.value.known) == (99, 1)
