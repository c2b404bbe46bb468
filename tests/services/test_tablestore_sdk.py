"""The unmodified SDK against the service: both clients, both signatures, native parser on and off."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from tablestore_rig import (
    EXIST,
    IGNORE,
    NOT_EXIST,
    Rig,
    condition,
    create_table,
    equal,
    outcomes,
    pk,
    read,
    refusal,
    row,
    running,
    sdk,
    values,
)

FORWARD, BACKWARD = sdk.Direction.FORWARD, sdk.Direction.BACKWARD


class Blocking:
    """The asyncio client with the methods of the blocking one, so that both run the same tests."""

    def __init__(self, make: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = self._loop.run_until_complete(self._made(make))

    @staticmethod
    async def _made(make: Any) -> Any:
        return make()

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._loop.run_until_complete(self._awaited(getattr(self._client, name)(*args, **kwargs)))

        return call

    @staticmethod
    async def _awaited(result: Any) -> Any:
        return await result if inspect.isawaitable(result) else result

    def close(self) -> None:
        self._loop.run_until_complete(self._client.close())
        self._loop.close()


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with running(tmp_path_factory.mktemp("ots")) as made:
        yield made


@pytest.fixture(
    params=[
        ("sync", {}),
        ("sync", {"enable_native": False}),
        ("sync", {"region": "cn-hangzhou"}),
        ("async", {}),
        ("async", {"region": "cn-hangzhou", "enable_native": False}),
    ],
    ids=["v2-native", "v2-python", "v4", "async-v2", "async-v4"],
)
def client(rig: Rig, request: pytest.FixtureRequest) -> Iterator[Any]:
    kind, options = request.param
    asynchronous = kind == "async"
    made = Blocking(lambda: rig.client(sdk.AsyncOTSClient, **options)) if asynchronous else rig.client(**options)
    create_table(made)
    yield made
    made.delete_table("t")
    if asynchronous:
        made.close()


def test_every_type_comes_back_as_it_went(client: Any) -> None:
    columns = {"i": -5, "f": 1.5, "b": True, "s": "云 text", "blob": bytearray(b"\0\xff"), "empty": ""}
    client.put_row("t", row(columns=columns.items()))
    assert read(client) == columns


def test_columns_come_by_name_with_their_version(client: Any) -> None:
    client.put_row("t", row(columns=[("b", 1), ("a", 2)]))
    _, found, _ = client.get_row("t", pk(), max_version=1)
    assert found.primary_key == pk()
    assert [name for name, _, _ in found.attribute_columns] == ["a", "b"]
    assert all(stamp > 1_500_000_000_000 for _, _, stamp in found.attribute_columns)


def test_a_claim_is_won_once(client: Any) -> None:
    client.put_row("t", row(columns=[("owner", "first")]), condition(NOT_EXIST))
    with pytest.raises(sdk.OTSServiceError) as caught:
        client.put_row("t", row(columns=[("owner", "second")]), condition(NOT_EXIST))
    assert refusal(caught) == (403, "OTSConditionCheckFail", "Condition check failed.")
    assert read(client) == {"owner": "first"}


def test_put_replaces_the_whole_row(client: Any) -> None:
    client.put_row("t", row(columns=[("a", 1), ("b", 2)]))
    client.put_row("t", row(columns=[("c", 3)]), condition(EXIST))
    assert read(client) == {"c": 3}


def test_update_changes_what_it_names(client: Any) -> None:
    client.put_row("t", row(columns=[("a", 1), ("b", 2), ("n", 5)]))
    client.update_row("t", row(columns={"PUT": [("a", 9)], "DELETE_ALL": ["b"], "INCREMENT": [("n", 3)]}), None)
    assert read(client) == {"a": 9, "n": 8}


def test_update_makes_a_row_when_ignoring(client: Any) -> None:
    client.update_row("t", row(columns={"PUT": [("a", 9)]}), condition(IGNORE))
    assert read(client) == {"a": 9}
    with pytest.raises(sdk.OTSServiceError, match="Condition check failed"):
        client.update_row("t", row("absent", columns={"PUT": [("a", 9)]}), condition(EXIST))


def test_deleting_columns_of_an_absent_row_makes_none(client: Any) -> None:
    client.update_row("t", row(columns={"DELETE_ALL": ["a"]}), condition(IGNORE))
    assert read(client) is None
    client.put_row("t", row(), condition(NOT_EXIST))


def test_deleting_every_column_keeps_the_row(client: Any) -> None:
    client.put_row("t", row(columns=[("a", 1)]))
    client.update_row("t", row(columns={"DELETE_ALL": ["a"]}), condition(EXIST))
    assert read(client) == {}
    with pytest.raises(sdk.OTSServiceError, match="Condition check failed"):
        client.put_row("t", row(), condition(NOT_EXIST))


def test_delete_row(client: Any) -> None:
    client.put_row("t", row(columns=[("a", 1)]))
    with pytest.raises(sdk.OTSServiceError, match="Condition check failed"):
        client.delete_row("t", pk(), condition(EXIST, equal("a", 2)))
    client.delete_row("t", pk(), condition(EXIST, equal("a", 1)))
    assert read(client) is None
    client.delete_row("t", pk(), condition(IGNORE))
    with pytest.raises(sdk.OTSServiceError, match="Condition check failed"):
        client.delete_row("t", pk(), condition(EXIST))


def cas(state: str, epoch: int) -> Any:
    both = sdk.CompositeColumnCondition(sdk.LogicalOperator.AND)
    both.add_sub_condition(equal("state", state))
    both.add_sub_condition(equal("epoch", epoch))
    return condition(EXIST, both)


def test_compare_and_set(client: Any) -> None:
    client.put_row("t", row(columns=[("state", "claimed"), ("epoch", 1)]))
    client.update_row("t", row(columns={"PUT": [("state", "done"), ("epoch", 2)]}), cas("claimed", 1))
    with pytest.raises(sdk.OTSServiceError) as caught:
        client.update_row("t", row(columns={"PUT": [("state", "failed")]}), cas("claimed", 1))
    assert refusal(caught)[:2] == (403, "OTSConditionCheckFail")
    assert read(client) == {"state": "done", "epoch": 2}


def test_a_missing_column_passes_unless_told_otherwise(client: Any) -> None:
    client.put_row("t", row(), condition(IGNORE, equal("state", "x", pass_if_missing=True)))
    with pytest.raises(sdk.OTSServiceError, match="Condition check failed"):
        client.put_row("t", row(), condition(IGNORE, equal("state", "x", pass_if_missing=False)))


def test_a_read_of_columns_the_row_lacks_finds_nothing(client: Any) -> None:
    client.put_row("t", row(columns=[("a", 1), ("b", 2)]))
    assert read(client, columns_to_get=["a", "task"]) == {"a": 1}
    assert read(client, columns_to_get=["zzz"]) is None
    assert read(client, columns_to_get=["task"]) == {}


def test_a_filter_decides_whether_the_row_is_answered(client: Any) -> None:
    client.put_row("t", row(columns=[("a", 1), ("b", 2)]))
    assert read(client, column_filter=equal("a", 1)) == {"a": 1, "b": 2}
    assert read(client, column_filter=equal("a", 2)) is None
    assert read(client, column_filter=equal("task", "a")) == {"a": 1, "b": 2}
    assert read(client, column_filter=equal("a", 1), columns_to_get=["b"]) is None


def test_column_names_can_be_bounded(client: Any) -> None:
    client.put_row("t", row(columns=[("a", 1), ("b", 2), ("c", 3)]))
    assert read(client, start_column="b") == {"b": 2, "c": 3}
    assert read(client, start_column="a", end_column="c") == {"a": 1, "b": 2}


def fill(client: Any, entries: int) -> None:
    for entry in range(entries):
        client.put_row("t", row("a", entry, [("n", entry)]))


def scan(client: Any, direction: str, start: Any, end: Any, **options: Any) -> tuple[list[int], Any]:
    _, following, found, _ = client.get_range("t", direction, start, end, max_version=1, **options)
    return [item.primary_key[1][1] for item in found], following


def test_ranges_run_both_ways_and_exclude_their_end(client: Any) -> None:
    fill(client, 5)
    assert scan(client, FORWARD, pk("a", 1), pk("a", 4)) == ([1, 2, 3], None)
    assert scan(client, BACKWARD, pk("a", 4), pk("a", 1)) == ([4, 3, 2], None)
    assert scan(client, FORWARD, pk("a", sdk.INF_MIN), pk("a", sdk.INF_MAX)) == ([0, 1, 2, 3, 4], None)
    assert scan(client, BACKWARD, pk(sdk.INF_MAX, sdk.INF_MAX), pk(sdk.INF_MIN, sdk.INF_MIN))[0] == [4, 3, 2, 1, 0]


def test_a_limited_range_says_where_to_go_on(client: Any) -> None:
    fill(client, 5)
    end = pk("a", sdk.INF_MAX)
    assert scan(client, FORWARD, pk("a", sdk.INF_MIN), end, limit=2) == ([0, 1], pk("a", 2))
    assert scan(client, FORWARD, pk("a", 2), end, limit=2) == ([2, 3], pk("a", 4))
    assert scan(client, FORWARD, pk("a", 4), end, limit=2) == ([4], None)
    assert scan(client, FORWARD, pk("a", 3), end, limit=2) == ([3, 4], None)


def test_a_filtered_range_returns_what_passes(client: Any) -> None:
    fill(client, 6)
    condition_ = sdk.SingleColumnCondition("n", 3, sdk.ComparatorType.GREATER_EQUAL)
    whole = (pk("a", sdk.INF_MIN), pk("a", sdk.INF_MAX))
    assert scan(client, FORWARD, *whole, column_filter=condition_) == ([3, 4, 5], None)
    assert scan(client, FORWARD, *whole, column_filter=condition_, limit=2) == ([3, 4], pk("a", 5))
    assert scan(client, FORWARD, *whole, column_filter=equal("n", 99)) == ([], None)


def test_a_batch_of_reads(client: Any) -> None:
    fill(client, 3)
    request = sdk.BatchGetRowRequest()
    request.add(sdk.TableInBatchGetRowItem("t", [pk("a", 0), pk("a", 77), pk("a", 2)], max_version=1))
    request.add(sdk.TableInBatchGetRowItem("absent", [pk("a", 0)], max_version=1))
    result = client.batch_get_row(request)
    rows = result.get_result_by_table("t")
    assert [item.is_ok for item in rows] == [True, True, True]
    assert [item.row and values(item.row) for item in rows] == [{"n": 0}, None, {"n": 2}]
    (missing,) = result.get_result_by_table("absent")
    assert (missing.is_ok, missing.error_code) == (False, "OTSObjectNotExist")


def test_a_batch_of_writes_has_a_result_for_each_row(client: Any) -> None:
    fill(client, 3)
    items = [
        sdk.PutRowItem(row("a", 0, [("n", 100)]), condition(NOT_EXIST)),
        sdk.PutRowItem(row("a", 7, [("n", 7)]), condition(NOT_EXIST)),
        sdk.UpdateRowItem(row("a", 1, {"INCREMENT": [("n", 10)]}), condition(EXIST)),
        sdk.DeleteRowItem(sdk.Row(pk("a", 2)), condition(EXIST)),
    ]
    request = sdk.BatchWriteRowRequest()
    request.add(sdk.TableInBatchWriteRowItem("t", items))
    request.add(sdk.TableInBatchWriteRowItem("absent", [sdk.DeleteRowItem(sdk.Row(pk()), condition(IGNORE))]))
    result = client.batch_write_row(request)
    written = outcomes(result, "t")
    assert [item.is_ok for item in written] == [False, True, True, True]
    assert (written[0].error_code, written[0].error_message) == ("OTSConditionCheckFail", "Condition check failed.")
    (missing,) = outcomes(result, "absent")
    assert (missing.is_ok, missing.error_code) == (False, "OTSObjectNotExist")
    assert [read(client, "a", entry) for entry in (0, 1, 2, 7)] == [{"n": 0}, {"n": 11}, None, {"n": 7}]


def test_the_same_row_twice_in_a_batch_is_written_in_order(client: Any) -> None:
    items = [sdk.PutRowItem(row(columns=[("n", number)]), condition(IGNORE)) for number in (1, 2)]
    request = sdk.BatchWriteRowRequest()
    request.add(sdk.TableInBatchWriteRowItem("t", items))
    assert client.batch_write_row(request).is_all_succeed()
    assert read(client) == {"n": 2}


def test_a_write_can_return_its_key(client: Any) -> None:
    _, returned = client.put_row("t", row("a", 5, [("n", 1)]), return_type=sdk.ReturnType.RT_PK)
    assert (returned.primary_key, returned.attribute_columns) == (pk("a", 5), [])
    _, nothing = client.put_row("t", row("a", 5, [("n", 1)]))
    assert nothing is None


def units(consumed: Any) -> tuple[int, int]:
    return consumed.read, consumed.write


def test_capacity_units(client: Any) -> None:
    assert units(client.put_row("t", row(columns=[("a", "x")]))[0]) == (0, 1)
    assert units(client.put_row("t", row(columns=[("a", "x" * 9000)]), condition(EXIST))[0]) == (1, 3)
    assert units(client.get_row("t", pk(), max_version=1)[0]) == (3, 0)
    assert units(client.get_row("t", pk("absent"), max_version=1)[0]) == (1, 0)


ODD = ["..", "../../etc", "a\\b", "a\x00b", "a\x00", "%2e%2e", " ", "'; DROP TABLE rows; --", "x" * 1024]
ODD += ["\u00c5", "A\u030a"]  # one letter in two normal forms


def test_odd_key_values_are_kept_apart_and_in_the_order_of_their_bytes(client: Any) -> None:
    for number, text in enumerate(ODD):
        client.put_row("t", sdk.Row([("task", text), ("entry", number)], [("was", text)]), condition(NOT_EXIST))
    start = [("task", sdk.INF_MIN), ("entry", sdk.INF_MIN)]
    end = [("task", sdk.INF_MAX), ("entry", sdk.INF_MAX)]
    _, following, found, _ = client.get_range("t", "FORWARD", start, end, max_version=1)
    assert following is None
    texts = [found_row.primary_key[0][1] for found_row in found]
    assert texts == sorted(ODD, key=str.encode)
    assert [found_row.attribute_columns[0][1] for found_row in found] == texts


@pytest.mark.parametrize("name", ["..", "a/b", "a\\b", "a\x00", "\u00c5", "x" * 256, ""])
def test_names_never_leave_their_alphabet(client: Any, name: str) -> None:
    with pytest.raises(sdk.OTSServiceError) as refused:
        client.get_row(name, [("task", "a"), ("entry", 1)])
    assert refused.value.get_error_code() in ("OTSParameterInvalid", "OTSObjectNotExist")
