"""Column conditions of writes and filters of reads: their tree, and whether a row passes.

Pure but for the parsing of messages.
"""

from __future__ import annotations

import enum
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from local_sim.services.tablestore import messages
from local_sim.services.tablestore.errors import ParameterInvalid
from local_sim.services.tablestore.rows import Columns
from local_sim.services.tablestore.values import KeyValue, Special, Value, decode_value

MAX_NODES = 32


class Comparator(enum.IntEnum):
    """How a column is compared, with the wire's numbers."""

    EQUAL = 1
    NOT_EQUAL = 2
    GREATER_THAN = 3
    GREATER_EQUAL = 4
    LESS_THAN = 5
    LESS_EQUAL = 6
    EXIST = 7
    NOT_EXIST = 8


class Combinator(enum.IntEnum):
    """How conditions are combined, with the wire's numbers."""

    NOT = 1
    AND = 2
    OR = 3


class Cast(enum.IntEnum):
    """What the part that a regular expression found is turned into, with the wire's numbers."""

    INTEGER = 0
    DOUBLE = 1
    STRING = 3


@dataclass(frozen=True)
class Extract:
    """Take the first group of `pattern` out of the text and cast it, before comparing."""

    pattern: re.Pattern[str]
    cast: Cast


@dataclass(frozen=True)
class ColumnTest:
    """Compare one column with a constant. `pass_if_missing` decides when the row lacks the column."""

    comparator: Comparator
    column: str
    value: Value
    pass_if_missing: bool = True
    latest_version_only: bool = True
    extract: Extract | None = None


@dataclass(frozen=True)
class Combined:
    """NOT of one condition, AND or OR of several."""

    combinator: Combinator
    parts: tuple[Condition, ...]


Condition = ColumnTest | Combined


@dataclass(frozen=True)
class Paging:
    """Not a test: answer with `limit` columns from the `offset`th on."""

    offset: int
    limit: int


_COMPARE: dict[Comparator, Callable[[Any, Any], bool]] = {
    Comparator.EQUAL: operator.eq,
    Comparator.NOT_EQUAL: operator.ne,
    Comparator.GREATER_THAN: operator.gt,
    Comparator.GREATER_EQUAL: operator.ge,
    Comparator.LESS_THAN: operator.lt,
    Comparator.LESS_EQUAL: operator.le,
}
_CASTS: dict[Cast, Callable[[str], Value]] = {Cast.INTEGER: int, Cast.DOUBLE: float, Cast.STRING: str}


def passes(condition: Condition | None, columns: Columns, key: Mapping[str, KeyValue]) -> bool:
    """Whether a row with these columns and key columns meets the condition."""
    if condition is None:
        return True
    if isinstance(condition, ColumnTest):
        return _passes_test(condition, columns, key)
    results = (passes(part, columns, key) for part in condition.parts)
    if condition.combinator is Combinator.AND:
        return all(results)
    if condition.combinator is Combinator.OR:
        return any(results)
    return not next(results)


def _passes_test(test: ColumnTest, columns: Columns, key: Mapping[str, KeyValue]) -> bool:
    values = _values(test, columns, key)
    if test.comparator is Comparator.EXIST:
        return bool(values)
    if test.comparator is Comparator.NOT_EXIST:
        return not values
    if test.extract is not None:
        values = [found for value in values if (found := _extracted(test.extract, value)) is not None]
    if not values:
        return test.pass_if_missing
    return any(_compare(test.comparator, value, test.value) for value in values)


def _values(test: ColumnTest, columns: Columns, key: Mapping[str, KeyValue]) -> list[KeyValue]:
    if test.column in key:
        return [key[test.column]]
    versions = columns.get(test.column, [])
    return [value for _, value in (versions[:1] if test.latest_version_only else versions)]


def _compare(comparator: Comparator, left: KeyValue, right: Value) -> bool:
    """Values of different types are unequal and have no order (T08)."""
    if type(left) is not type(right):
        return comparator is Comparator.NOT_EQUAL
    return _COMPARE[comparator](left, right)


def _extracted(extract: Extract, value: KeyValue) -> Value | None:
    """Return the cast group; None, as if the column were missing, when the text does not fit (T09)."""
    found = extract.pattern.search(value) if isinstance(value, str) else None
    if found is None:
        return None
    try:
        return _CASTS[extract.cast](found.group(1 if extract.pattern.groups else 0))
    except (ValueError, TypeError):
        return None


def parse_condition(data: bytes) -> Condition | None:
    """Return the condition of a write; None when there is none. Raises `ParameterInvalid`."""
    parsed = parse_filter(data)
    if isinstance(parsed, Paging):
        raise ParameterInvalid("A column pagination filter cannot be a condition.")
    return parsed


def parse_filter(data: bytes) -> Condition | Paging | None:
    """Return the filter of a read; None when there is none. Raises `ParameterInvalid`."""
    if not data:
        return None
    message = messages.parse(messages.filter_pb2().Filter, data)
    if message.type == 3:
        return _paging(message.filter)
    condition, _ = _parse(message, MAX_NODES)
    return condition


def _parse(message: Any, budget: int) -> tuple[Condition, int]:
    """Return the condition and how many more nodes are allowed; at most 32 in all (T10)."""
    if budget == 0:
        raise ParameterInvalid(f"The number of conditions exceeds the limit: {MAX_NODES}.")
    if message.type == 1:
        return _column_test(message.filter), budget - 1
    if message.type == 2:
        return _combined(message.filter, budget - 1)
    raise ParameterInvalid("A column pagination filter cannot be combined.")


def _combined(data: bytes, budget: int) -> tuple[Combined, int]:
    message = messages.parse(messages.filter_pb2().CompositeColumnValueFilter, data)
    parts = []
    for sub in message.sub_filters:
        part, budget = _parse(sub, budget)
        parts.append(part)
    combinator = Combinator(message.combinator)
    if combinator is Combinator.NOT and len(parts) != 1:
        raise ParameterInvalid("The NOT operator must have exactly one condition.")
    if not parts:
        raise ParameterInvalid("A composite condition must have conditions.")
    return Combined(combinator, tuple(parts)), budget


def _column_test(data: bytes) -> ColumnTest:
    message = messages.parse(messages.filter_pb2().SingleColumnValueFilter, data)
    value = decode_value(message.column_value)
    if value is None or isinstance(value, Special):
        raise ParameterInvalid(f"The condition on column: '{message.column_name}' has no value.")
    test = ColumnTest(
        Comparator(message.comparator),
        message.column_name,
        value,
        not message.filter_if_missing,
        message.latest_version_only,
    )
    if message.HasField("value_trans_rule"):
        return replace(test, extract=_extract(message.value_trans_rule))
    return test


def _extract(rule: Any) -> Extract:
    try:
        return Extract(re.compile(rule.regex), Cast(rule.cast_type))
    except (re.error, ValueError) as error:
        raise ParameterInvalid(f"Invalid value transfer rule: {error}.") from error


def _paging(data: bytes) -> Paging:
    message = messages.parse(messages.filter_pb2().ColumnPaginationFilter, data)
    if message.offset < 0 or message.limit < 1:
        raise ParameterInvalid("The offset must not be negative and the limit must be greater than 0.")
    return Paging(message.offset, message.limit)
