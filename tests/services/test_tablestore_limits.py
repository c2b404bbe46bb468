"""Limits, with the codes and texts that the vendor's tests assert or the assumptions name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tablestore_rig import EXIST, IGNORE, Rig, condition, create_table, equal, pk, read, refusal, row, running, sdk

from local_sim.clock import VirtualClock

DAY_S = 86_400
INVALID_PK, INVALID = "OTSInvalidPK", "OTSParameterInvalid"


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with running(tmp_path_factory.mktemp("ots"), clock=VirtualClock()) as made:
        create_table(made.client(), max_version=2)
        yield made


@pytest.fixture(scope="module")
def client(rig: Rig) -> Any:
    return rig.client()


def put_key(*key: Any) -> Any:
    return lambda client: client.put_row("t", sdk.Row(list(key), [("a", 1)]))


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        (put_key(("task", "a")), INVALID_PK, "Validate PK size fail. Input: 1, Meta: 2."),
        (put_key(("task", "a"), ("x", 1)), INVALID_PK, "Validate PK name fail. Input: x, Meta: entry."),
        (
            put_key(("task", 1), ("entry", 1)),
            INVALID_PK,
            "Validate PK type fail. Input: VT_INTEGER, Meta: VT_STRING.",
        ),
        (
            put_key(("task", bytearray(b"a")), ("entry", 1)),
            INVALID_PK,
            "Validate PK type fail. Input: VT_BLOB, Meta: VT_STRING.",
        ),
        (
            put_key(("task", "a"), ("entry", sdk.INF_MIN)),
            INVALID_PK,
            "Validate PK type fail. Input: INF_MIN, Meta: VT_INTEGER.",
        ),
        (
            put_key(("task", "a"), ("entry", sdk.PK_AUTO_INCR)),
            INVALID_PK,
            "Validate PK type fail. Input: AUTO_INCREMENT, Meta: VT_INTEGER.",
        ),
        (
            put_key(("task", "é" * 513), ("entry", 1)),
            INVALID,
            "The length of primary key column: 'task' exceeds the MaxLength: 1024 with CurrentLength: 1026.",
        ),
        (
            lambda client: client.get_row("t", [("task", "a"), ("entry", sdk.INF_MAX)], max_version=1),
            INVALID_PK,
            "The value of primary key column: 'entry' must not be INF_MAX.",
        ),
    ],
)
def test_keys(client: Any, call: Any, code: str, message: str) -> None:
    with pytest.raises(sdk.OTSServiceError) as caught:
        call(client)
    assert refusal(caught) == (400, code, message)


def put(columns: Any) -> Any:
    return lambda client: client.put_row("t", row(columns=columns))


def update(changes: Any) -> Any:
    return lambda client: client.update_row("t", row(columns=changes), None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            put([("big", "x" * 2_097_153)]),
            "The length of attribute column: 'big' exceeds the MaxLength: 2097152 with CurrentLength: 2097153.",
        ),
        (
            put([("b1", "x" * 2_000_000), ("b2", "x" * 2_000_000), ("b3", "x" * 200_000)]),
            "The data size of one row exceeds the limit, limit: 4194304.",
        ),
        (
            put([(f"c{number}", 1) for number in range(1025)]),
            "The number of attribute columns exceeds the limit, limit: 1024.",
        ),
        (put([("1a", 1)]), "Invalid column name: '1a'."),
        (put([("x" * 256, 1)]), f"Invalid column name: '{'x' * 256}'."),
        (put([("task", 1)]), "Duplicated attribute column name with primary key column: 'task'."),
        (update({"PUT": []}), "No attribute column is specified to update row."),
        (
            update({"INCREMENT": [("n", 1)], "PUT": [("n", 2)]}),
            "An incremented column cannot be changed by another operation of the same request.",
        ),
        (update({"INCREMENT": [("n", "x")]}), "The type of column: 'n' is not INTEGER, it cannot be incremented."),
        (update({"DELETE": ["n"]}), "The version to delete of column: 'n' is missing."),
    ],
)
def test_columns(client: Any, call: Any, message: str) -> None:
    with pytest.raises(sdk.OTSServiceError) as caught:
        call(client)
    assert refusal(caught) == (400, INVALID, message)


def test_what_just_fits_is_taken(client: Any) -> None:
    columns = [("big", "x" * 2_097_152), ("n" * 255, 1)]
    client.put_row("t", row("k" * 1024, columns=columns))
    assert read(client, "k" * 1024) == dict(columns)
    many = {f"c{number}": number for number in range(1024)}
    client.put_row("t", row("many", columns=many.items()))
    assert read(client, "many") == many


@pytest.mark.parametrize(
    ("offset_s", "taken"), [(DAY_S, True), (-DAY_S, True), (DAY_S + 1, False), (-DAY_S - 1, False)]
)
def test_versions_must_be_near_the_servers_time(client: Any, offset_s: int, taken: bool) -> None:
    stamp = VirtualClock().now_ms() + offset_s * 1000
    if taken:
        client.put_row("t", row(columns=[("a", 1, stamp)]))
        return
    with pytest.raises(sdk.OTSServiceError, match="out of range") as caught:
        client.put_row("t", row(columns=[("a", 1, stamp)]))
    assert refusal(caught)[:2] == (400, INVALID)


def get(**options: Any) -> Any:
    return lambda client: client.get_row("t", pk(), **options)


def scan(direction: str, start: Any, end: Any, **options: Any) -> Any:
    return lambda client: client.get_range("t", direction, start, end, **{"max_version": 1, **options})


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        (get(max_version=None), INVALID, "No version condition is specified while querying row."),
        (get(max_version=0), INVALID, "The max versions must be greater than 0."),
        (get(max_version=1, time_range=(5, 5)), INVALID, "The start of the time range must be less than its end."),
        (get(max_version=1, token=b"x"), INVALID, "The token is invalid."),
        (
            get(max_version=1, columns_to_get=[f"c{number}" for number in range(129)]),
            INVALID,
            "The number of columns to get exceeds the limit, limit: 128.",
        ),
        (get(max_version=1, columns_to_get=["a-b"]), INVALID, "Invalid column name: 'a-b'."),
        (scan("FORWARD", pk("a", 1), pk("a", 1)), INVALID, "Begin key must less than end key in FORWARD"),
        (scan("FORWARD", pk("b", 1), pk("a", 1)), INVALID, "Begin key must less than end key in FORWARD"),
        (scan("BACKWARD", pk("a", 1), pk("b", 1)), INVALID, "Begin key must more than end key in BACKWARD"),
        (scan("FORWARD", pk("a", 1), pk("b", 1), limit=0), INVALID, "The limit must be greater than 0."),
        (
            scan("FORWARD", [("task", "a")], pk("b", 1)),
            INVALID_PK,
            "Validate PK size fail. Input: 1, Meta: 2.",
        ),
        (
            scan("FORWARD", pk(1, 1), pk("b", 1)),
            INVALID_PK,
            "Validate PK type fail. Input: VT_INTEGER, Meta: VT_STRING.",
        ),
    ],
)
def test_reads(client: Any, call: Any, code: str, message: str) -> None:
    with pytest.raises(sdk.OTSServiceError) as caught:
        call(client)
    assert refusal(caught) == (400, code, message)


def write_batch(items: list[Any]) -> Any:
    request = sdk.BatchWriteRowRequest()
    request.add(sdk.TableInBatchWriteRowItem("t", items))
    return request


def test_a_batch_write_has_at_most_200_rows(client: Any) -> None:
    items = [sdk.PutRowItem(row("batch", number, [("n", 1)]), condition(IGNORE)) for number in range(201)]
    assert client.batch_write_row(write_batch(items[:200])).is_all_succeed()
    with pytest.raises(sdk.OTSServiceError) as caught:
        client.batch_write_row(write_batch(items))
    assert refusal(caught) == (400, INVALID, "Rows count exceeds the upper limit: 200.")


def test_a_batch_write_has_at_most_4_mb(client: Any) -> None:
    items = [sdk.PutRowItem(row("batch", n, [("n", "x" * 1_500_000)]), condition(IGNORE)) for n in range(3)]
    with pytest.raises(sdk.OTSServiceError, match="BatchWriteRow exceeds the limit"):
        client.batch_write_row(write_batch(items))


def test_a_bad_row_fails_the_whole_batch(client: Any) -> None:
    good = sdk.PutRowItem(row("whole", 1, [("n", 1)]), condition(IGNORE))
    bad = sdk.PutRowItem(row("whole", 2, [("1n", 1)]), condition(IGNORE))
    with pytest.raises(sdk.OTSServiceError, match="Invalid column name"):
        client.batch_write_row(write_batch([good, bad]))
    assert read(client, "whole", 1) is None


def test_an_empty_batch_is_refused(client: Any) -> None:
    with pytest.raises(sdk.OTSServiceError) as caught:
        client.batch_write_row(write_batch([]))
    assert refusal(caught)[:2] == (400, INVALID)
    request = write_batch([sdk.PutRowItem(row(), condition(IGNORE))])
    request.add(sdk.TableInBatchWriteRowItem("u", []))
    with pytest.raises(sdk.OTSServiceError) as caught:
        client.batch_write_row(request)
    assert refusal(caught) == (400, INVALID, "No operation is specified for table: 'u'.")


def test_a_batch_read_has_at_most_100_rows(client: Any) -> None:
    request = sdk.BatchGetRowRequest()
    request.add(sdk.TableInBatchGetRowItem("t", [pk("a", number) for number in range(101)], max_version=1))
    with pytest.raises(sdk.OTSServiceError) as caught:
        client.batch_get_row(request)
    assert refusal(caught) == (400, INVALID, "Rows count exceeds the upper limit: 100.")


def test_a_body_over_5_mb_is_too_large(client: Any) -> None:
    with pytest.raises(sdk.OTSServiceError) as caught:
        client.put_row("t", row(columns=[("big", "x" * 5_500_000)]))
    assert refusal(caught) == (413, "OTSRequestBodyTooLarge", "The size of POST data is too large.")


def test_a_range_stops_at_4_mb(client: Any) -> None:
    for entry in range(5):
        client.put_row("t", row("wide", entry, [("big", "x" * 1_000_000)]))
    whole = (pk("wide", sdk.INF_MIN), pk("wide", sdk.INF_MAX))
    _, following, found, _ = client.get_range("t", "FORWARD", *whole, max_version=1)
    assert ([item.primary_key[1][1] for item in found], following) == ([0, 1, 2, 3], pk("wide", 4))
    _, following, found, _ = client.get_range("t", "FORWARD", *whole, max_version=1, column_filter=equal("big", "y"))
    assert (found, following) == ([], pk("wide", 4))


def test_a_range_stops_at_5000_rows(client: Any) -> None:
    for start in range(0, 5001, 200):
        items = [
            sdk.PutRowItem(row("long", entry, [("n", 1)]), condition(IGNORE))
            for entry in range(start, min(start + 200, 5001))
        ]
        client.batch_write_row(write_batch(items))
    whole = (pk("long", sdk.INF_MIN), pk("long", sdk.INF_MAX))
    _, following, found, _ = client.get_range("t", "FORWARD", *whole, max_version=1)
    assert (len(found), following) == (5000, pk("long", 5000))
    _, following, found, _ = client.get_range("t", "FORWARD", following, whole[1], max_version=1)
    assert (len(found), following) == (1, None)


def test_a_refused_write_changes_nothing(client: Any) -> None:
    client.put_row("t", row("kept", columns=[("n", "text"), ("a", 1)]))
    with pytest.raises(sdk.OTSServiceError):
        client.update_row("t", row("kept", columns={"PUT": [("a", 2)], "INCREMENT": [("n", 1)]}), condition(EXIST))
    assert read(client, "kept") == {"n": "text", "a": 1}
