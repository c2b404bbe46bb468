"""Row semantics against a plain dictionary: any sequence of operations leaves both in the same state."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tablestore_rig import EXIST, IGNORE, NOT_EXIST, Rig, condition, create_table, row, running, sdk, values

Model = dict[int, dict[str, Any]]
_FRESH = count()

entries = st.integers(0, 3)
columns = st.sampled_from(["a", "b", "c"])
cell_values = st.one_of(st.integers(-2, 2), st.sampled_from(["x", "y"]), st.booleans())
assigned = st.dictionaries(columns, cell_values, max_size=3)
expectations = st.sampled_from([IGNORE, EXIST, NOT_EXIST])
tests = st.one_of(st.none(), st.tuples(columns, cell_values, st.booleans()))
operations = st.one_of(
    st.tuples(st.just("put"), entries, expectations, tests, assigned),
    st.tuples(
        st.just("update"),
        entries,
        expectations,
        tests,
        st.tuples(assigned, st.sets(columns, max_size=2), st.dictionaries(columns, st.integers(-3, 3), max_size=1)),
    ),
    st.tuples(st.just("delete"), entries, expectations, tests, st.none()),
)


class Refused(Exception):
    """The model's refusal, with the service's code."""


def same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and left == right


def check(model: Model, entry: int, expectation: str, test: Any) -> None:
    present = entry in model
    if (expectation == EXIST and not present) or (expectation == NOT_EXIST and present):
        raise Refused("OTSConditionCheckFail")
    if test is not None:
        name, value, pass_if_missing = test
        found = model.get(entry, {})
        if not (same(found[name], value) if name in found else pass_if_missing):
            raise Refused("OTSConditionCheckFail")


def model_update(model: Model, entry: int, change: Any) -> None:
    puts, deletes, increments = change
    after = dict(model.get(entry, {}))
    after.update(puts)
    for name in deletes:
        after.pop(name, None)
    for name, step in increments.items():
        before = after.get(name, 0)
        if type(before) is not int:
            raise Refused("OTSParameterInvalid")
        after[name] = before + step
    if after or entry in model:
        model[entry] = after


def apply_to_model(model: Model, operation: Any) -> str:
    kind, entry, expectation, test, change = operation
    try:
        if kind == "update":
            puts, deletes, increments = change
            named = [*puts, *deletes]
            if not (named or increments) or any(name in named for name in increments):
                raise Refused("OTSParameterInvalid")
        check(model, entry, expectation, test)
        if kind == "put":
            model[entry] = dict(change)
        elif kind == "update":
            model_update(model, entry, change)
        else:
            model.pop(entry, None)
    except Refused as refused:
        return str(refused)
    return "ok"


def apply_to_service(client: Any, task: str, operation: Any) -> str:
    kind, entry, expectation, test, change = operation
    wanted = None
    if test is not None:
        name, value, pass_if_missing = test
        wanted = sdk.SingleColumnCondition(name, value, sdk.ComparatorType.EQUAL, pass_if_missing)
    expected = condition(expectation, wanted)
    try:
        if kind == "put":
            client.put_row("t", row(task, entry, change.items()), expected)
        elif kind == "update":
            puts, deletes, increments = change
            cells = {"PUT": list(puts.items()), "DELETE_ALL": list(deletes), "INCREMENT": list(increments.items())}
            client.update_row("t", row(task, entry, {name: part for name, part in cells.items() if part}), expected)
        else:
            client.delete_row("t", sdk.Row([("task", task), ("entry", entry)]).primary_key, expected)
    except sdk.OTSServiceError as error:
        return str(error.code)
    return "ok"


def state(client: Any, task: str, direction: str) -> list[tuple[int, Any]]:
    bounds: Any = [[("task", task), ("entry", sdk.INF_MIN)], [("task", task), ("entry", sdk.INF_MAX)]]
    if direction == "BACKWARD":
        bounds.reverse()
    _, _, found, _ = client.get_range("t", direction, *bounds, max_version=1)
    return [(item.primary_key[1][1], values(item)) for item in found]


def typed(rows: Any) -> Any:
    return [(entry, {name: (type(value), value) for name, value in columns.items()}) for entry, columns in rows]


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with running(tmp_path_factory.mktemp("ots")) as made:
        create_table(made.client())
        yield made


@settings(max_examples=120)
@given(st.lists(operations, max_size=12))
def test_the_service_and_a_dictionary_agree(rig: Rig, sequence: list[Any]) -> None:
    client, task = rig.client(), f"task-{next(_FRESH)}"
    model: Model = {}
    for operation in sequence:
        assert (operation, apply_to_service(client, task, operation)) == (operation, apply_to_model(model, operation))
    expected = typed(sorted(model.items()))
    assert typed(state(client, task, "FORWARD")) == expected
    assert typed(state(client, task, "BACKWARD")) == expected[::-1]


@settings(max_examples=30)
@given(st.lists(operations, max_size=8))
def test_a_committed_transaction_is_the_same_as_its_writes(rig: Rig, sequence: list[Any]) -> None:
    client, task = rig.client(), f"task-{next(_FRESH)}"
    transaction = client.start_local_transaction("t", [("task", task)])
    model: Model = {}
    inside = _Inside(client, transaction)
    for operation in sequence:
        assert apply_to_service(inside, task, operation) == apply_to_model(model, operation)
    assert state(client, task, "FORWARD") == []
    client.commit_transaction(transaction)
    assert typed(state(client, task, "FORWARD")) == typed(sorted(model.items()))


class _Inside:
    """A client whose writes all belong to one transaction."""

    def __init__(self, client: Any, transaction: str) -> None:
        self._client = client
        self._transaction = transaction

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        return lambda *args: method(*args, transaction_id=self._transaction)
