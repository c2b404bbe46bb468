"""Conditions and filters.

Comparators, missing columns, versions, combinations, extraction, and how many there may be.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from tablestore_rig import sdk

from local_sim.services.tablestore.conditions import (
    Cast,
    ColumnTest,
    Combinator,
    Combined,
    Comparator,
    Extract,
    Paging,
    parse_condition,
    parse_filter,
    passes,
)
from local_sim.services.tablestore.errors import ParameterInvalid
from local_sim.services.tablestore.messages import filter_pb2

from tablestore.encoder import OTSProtoBufferEncoder  # isort: skip

COLUMNS: Any = {"n": [(30, 5), (20, 9)], "s": [(10, "abc")]}
C = Comparator


@pytest.mark.parametrize(
    ("comparator", "accepted"),
    [
        (C.EQUAL, [5]),
        (C.NOT_EQUAL, [4, 6]),
        (C.GREATER_THAN, [4]),
        (C.GREATER_EQUAL, [4, 5]),
        (C.LESS_THAN, [6]),
        (C.LESS_EQUAL, [5, 6]),
    ],
)
def test_comparators(comparator: Comparator, accepted: list[int]) -> None:
    assert [value for value in (4, 5, 6) if passes(ColumnTest(comparator, "n", value), COLUMNS, {})] == accepted


@pytest.mark.parametrize("comparator", list(C)[:6])
@pytest.mark.parametrize("value", ["5", 5.0, True, b"5"])
def test_values_of_other_types_are_only_unequal(comparator: Comparator, value: Any) -> None:
    assert passes(ColumnTest(comparator, "n", value), COLUMNS, {}) == (comparator is C.NOT_EQUAL)


@pytest.mark.parametrize("pass_if_missing", [True, False])
def test_a_missing_column_passes_as_the_condition_says(pass_if_missing: bool) -> None:
    assert passes(ColumnTest(C.EQUAL, "absent", 1, pass_if_missing), COLUMNS, {}) is pass_if_missing


def test_existence_of_a_column() -> None:
    assert passes(ColumnTest(C.EXIST, "n", 0), COLUMNS, {})
    assert not passes(ColumnTest(C.EXIST, "absent", 0), COLUMNS, {})
    assert passes(ColumnTest(C.NOT_EXIST, "absent", 0), COLUMNS, {})
    assert not passes(ColumnTest(C.NOT_EXIST, "n", 0), COLUMNS, {})


def test_older_versions_count_only_when_asked_for() -> None:
    assert not passes(ColumnTest(C.EQUAL, "n", 9, latest_version_only=True), COLUMNS, {})
    assert passes(ColumnTest(C.EQUAL, "n", 9, latest_version_only=False), COLUMNS, {})


def test_key_columns_can_be_tested() -> None:
    assert passes(ColumnTest(C.EQUAL, "task", "t1", pass_if_missing=False), COLUMNS, {"task": "t1"})


def test_combinations() -> None:
    yes, no = ColumnTest(C.EQUAL, "n", 5), ColumnTest(C.EQUAL, "n", 6)
    assert passes(Combined(Combinator.AND, (yes, yes)), COLUMNS, {})
    assert not passes(Combined(Combinator.AND, (yes, no)), COLUMNS, {})
    assert passes(Combined(Combinator.OR, (no, yes)), COLUMNS, {})
    assert not passes(Combined(Combinator.OR, (no, no)), COLUMNS, {})
    assert passes(Combined(Combinator.NOT, (no,)), COLUMNS, {})
    assert passes(
        Combined(Combinator.AND, (yes, Combined(Combinator.NOT, (Combined(Combinator.OR, (no, no)),)))), COLUMNS, {}
    )


@pytest.mark.parametrize(("text", "result"), [("t1:42,", True), ("t1:41,", False), ("t1:x,", None), ("nothing", None)])
def test_a_number_can_be_taken_out_of_text(text: str, result: bool | None) -> None:
    extract = Extract(re.compile("t1:([0-9a-z]+),"), Cast.INTEGER)
    for pass_if_missing in (True, False):
        test = ColumnTest(C.EQUAL, "c", 42, pass_if_missing, True, extract)
        assert passes(test, {"c": [(1, text)]}, {}) is (pass_if_missing if result is None else result)


def encoded(condition: Any) -> bytes:
    message = filter_pb2().Filter()
    OTSProtoBufferEncoder("utf8")._make_column_condition(message, condition)
    return bytes(message.SerializeToString())


def test_the_sdks_conditions_are_understood() -> None:
    combined = sdk.CompositeColumnCondition(sdk.LogicalOperator.OR)
    combined.add_sub_condition(sdk.SingleColumnCondition("a", 1, sdk.ComparatorType.LESS_EQUAL, False, False))
    rule = sdk.RegexRule("x(.)", sdk.CastType.VT_STRING)
    combined.add_sub_condition(sdk.SingleColumnRegexCondition("b", sdk.ComparatorType.EQUAL, "y", rule))
    assert parse_condition(encoded(combined)) == Combined(
        Combinator.OR,
        (
            ColumnTest(C.LESS_EQUAL, "a", 1, False, False),
            ColumnTest(C.EQUAL, "b", "y", False, True, Extract(re.compile("x(.)"), Cast.STRING)),
        ),
    )


def chain(leaves: int) -> Any:
    combined = sdk.CompositeColumnCondition(sdk.LogicalOperator.AND)
    for number in range(leaves):
        combined.add_sub_condition(sdk.SingleColumnCondition(f"c{number}", 1, sdk.ComparatorType.EQUAL))
    return combined


def test_thirty_two_conditions_are_the_most() -> None:
    assert parse_condition(encoded(chain(31))) is not None
    with pytest.raises(ParameterInvalid, match="exceeds the limit: 32"):
        parse_condition(encoded(chain(32)))


def test_deep_nesting_is_refused_without_harm() -> None:
    deep = encoded(sdk.SingleColumnCondition("c", 1, sdk.ComparatorType.EQUAL))
    for _ in range(2000):
        outer = filter_pb2().CompositeColumnValueFilter(combinator=1)
        outer.sub_filters.add().ParseFromString(deep)
        deep = filter_pb2().Filter(type=2, filter=outer.SerializeToString()).SerializeToString()
    with pytest.raises(ParameterInvalid):
        parse_condition(deep)


def paging(offset: int, limit: int) -> bytes:
    inner = filter_pb2().ColumnPaginationFilter(offset=offset, limit=limit).SerializeToString()
    return bytes(filter_pb2().Filter(type=3, filter=inner).SerializeToString())


def test_paging_is_for_reads_only() -> None:
    assert parse_filter(paging(2, 3)) == Paging(2, 3)
    with pytest.raises(ParameterInvalid):
        parse_condition(paging(2, 3))


@pytest.mark.parametrize(
    "data",
    [
        b"\xff",
        paging(-1, 1),
        paging(0, 0),
        encoded(sdk.CompositeColumnCondition(sdk.LogicalOperator.AND)),
        encoded(sdk.CompositeColumnCondition(sdk.LogicalOperator.NOT)),
        filter_pb2().Filter(type=1, filter=b"junk").SerializeToString(),
        encoded(
            sdk.SingleColumnRegexCondition(
                "b", sdk.ComparatorType.EQUAL, "y", sdk.RegexRule("(", sdk.CastType.VT_STRING)
            )
        ),
    ],
)
def test_impossible_conditions_are_refused(data: bytes) -> None:
    with pytest.raises(ParameterInvalid):
        parse_filter(data)


def test_no_condition() -> None:
    assert parse_condition(b"") is None
    assert passes(None, {}, {})
