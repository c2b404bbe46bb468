"""Local transactions: a lock, a private view, commit and abort, and their end after 60 s."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tablestore_rig import (
    EXIST,
    IGNORE,
    NOT_EXIST,
    Rig,
    condition,
    create_table,
    outcomes,
    pk,
    read,
    refusal,
    row,
    running,
    sdk,
)

from local_sim.clock import VirtualClock


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def rig(tmp_path: Path, clock: VirtualClock) -> Iterator[Rig]:
    with running(tmp_path, clock=clock) as made:
        create_table(made.client())
        yield made


@pytest.fixture
def client(rig: Rig) -> Any:
    return rig.client()


def start(client: Any, task: str = "a") -> str:
    return str(client.start_local_transaction("t", [("task", task)]))


def test_changes_show_inside_and_outside_only_after_commit(client: Any) -> None:
    client.put_row("t", row("a", 1, [("n", 1)]))
    transaction = start(client)
    client.put_row("t", row("a", 2, [("n", 2)]), condition(NOT_EXIST), transaction_id=transaction)
    client.update_row("t", row("a", 1, {"INCREMENT": [("n", 9)]}), condition(EXIST), transaction_id=transaction)
    assert read(client, "a", 1, transaction_id=transaction) == {"n": 10}
    assert read(client, "a", 2, transaction_id=transaction) == {"n": 2}
    assert (read(client, "a", 1), read(client, "a", 2)) == ({"n": 1}, None)
    client.commit_transaction(transaction)
    assert (read(client, "a", 1), read(client, "a", 2)) == ({"n": 10}, {"n": 2})


def test_abort_forgets(client: Any) -> None:
    client.put_row("t", row("a", 1, [("n", 1)]))
    transaction = start(client)
    client.delete_row("t", pk("a", 1), condition(IGNORE), transaction_id=transaction)
    assert read(client, "a", 1, transaction_id=transaction) is None
    client.abort_transaction(transaction)
    assert read(client, "a", 1) == {"n": 1}


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
def test_a_range_inside_sees_the_changes(client: Any, direction: str) -> None:
    for entry in (1, 2, 4):
        client.put_row("t", row("a", entry, [("n", entry)]))
    transaction = start(client)
    client.put_row("t", row("a", 3, [("n", 3)]), transaction_id=transaction)
    client.delete_row("t", pk("a", 1), condition(IGNORE), transaction_id=transaction)
    bounds = [pk("a", sdk.INF_MIN), pk("a", sdk.INF_MAX)]
    if direction == "BACKWARD":
        bounds.reverse()
    _, _, found, _ = client.get_range("t", direction, *bounds, max_version=1, transaction_id=transaction)
    entries = [item.primary_key[1][1] for item in found]
    assert entries == ([2, 3, 4] if direction == "FORWARD" else [4, 3, 2])


def test_a_batch_inside(client: Any) -> None:
    transaction = start(client)
    request = sdk.BatchWriteRowRequest()
    items = [sdk.PutRowItem(row("a", entry, [("n", entry)]), condition(NOT_EXIST)) for entry in (1, 1, 2)]
    request.add(sdk.TableInBatchWriteRowItem("t", items))
    request.set_transaction_id(transaction)
    result = client.batch_write_row(request)
    assert [item.is_ok for item in outcomes(result, "t")] == [True, False, True]
    assert read(client, "a", 1) is None
    client.commit_transaction(transaction)
    assert read(client, "a", 1) == {"n": 1}


def test_the_partition_is_locked_for_others(client: Any) -> None:
    transaction = start(client)
    for attempt in (lambda: start(client), lambda: client.put_row("t", row("a", 1, [("n", 1)]))):
        with pytest.raises(sdk.OTSServiceError) as caught:
            attempt()
        assert refusal(caught)[1] == "OTSRowOperationConflict"
    client.put_row("t", row("b", 1, [("n", 1)]))
    client.abort_transaction(transaction)
    client.put_row("t", row("a", 1, [("n", 1)]))


def test_it_stays_in_its_partition(client: Any) -> None:
    transaction = start(client)
    for attempt in (
        lambda: client.put_row("t", row("b", 1, [("n", 1)]), transaction_id=transaction),
        lambda: client.get_row("t", pk("b", 1), max_version=1, transaction_id=transaction),
    ):
        with pytest.raises(sdk.OTSServiceError, match="partition key"):
            attempt()


@pytest.mark.parametrize("end", ["commit_transaction", "abort_transaction"])
def test_an_ended_one_is_unknown(client: Any, end: str) -> None:
    transaction = start(client)
    getattr(client, end)(transaction)
    for call in (client.commit_transaction, client.abort_transaction):
        with pytest.raises(sdk.OTSServiceError) as caught:
            call(transaction)
        assert refusal(caught)[1:] == ("OTSSessionNotExist", "Session not exist or may be timeout.")


def test_it_ends_after_a_minute(client: Any, clock: VirtualClock) -> None:
    transaction = start(client)
    client.put_row("t", row("a", 1, [("n", 1)]), transaction_id=transaction)
    clock.sleep_until(clock.now_ms() + 59_999)
    assert read(client, "a", 1, transaction_id=transaction) == {"n": 1}
    clock.sleep_until(clock.now_ms() + 1)
    client.put_row("t", row("a", 2, [("n", 2)]))
    with pytest.raises(sdk.OTSServiceError, match="Session not exist"):
        client.commit_transaction(transaction)
    assert read(client, "a", 1) is None


def test_an_empty_id_is_invalid(client: Any) -> None:
    with pytest.raises(sdk.OTSServiceError) as caught:
        client.commit_transaction("")
    assert refusal(caught) == (400, "OTSParameterInvalid", "TransactionID is invalid.")


def test_a_restart_forgets_it(tmp_path: Path) -> None:
    folder = tmp_path / "again"
    with running(folder) as first:
        create_table(first.client())
        transaction = start(first.client())
        first.client().put_row("t", row("a", 1, [("n", 1)]), transaction_id=transaction)
    with running(folder) as second:
        with pytest.raises(sdk.OTSServiceError, match="Session not exist"):
            second.client().commit_transaction(transaction)
        assert read(second.client(), "a", 1) is None


def test_not_with_an_auto_increment_key(client: Any) -> None:
    create_table(client, "auto", [("task", "STRING"), ("seq", "INTEGER", sdk.PK_AUTO_INCR)])
    with pytest.raises(sdk.OTSServiceError, match="auto-increment"):
        client.start_local_transaction("auto", [("task", "a")])


def test_only_where_enabled(tmp_path: Path) -> None:
    with running(tmp_path / "off", local_transactions=False) as rig:
        create_table(rig.client())
        with pytest.raises(sdk.OTSServiceError) as caught:
            start(rig.client())
    assert refusal(caught)[:2] == (400, "OTSParameterInvalid")


@pytest.mark.parametrize("key", [[("task", 5)], [("x", "a")], pk()])
def test_the_key_must_be_the_partition_key(client: Any, key: Any) -> None:
    with pytest.raises(sdk.OTSServiceError) as caught:
        client.start_local_transaction("t", key)
    assert refusal(caught)[:2] == (400, "OTSInvalidPK")
