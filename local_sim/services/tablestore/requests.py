"""Messages of the wire turned into the checked values that reads and writes work on."""

from __future__ import annotations

from typing import Any

from local_sim.services.tablestore import limits
from local_sim.services.tablestore.conditions import parse_condition, parse_filter
from local_sim.services.tablestore.errors import ParameterInvalid
from local_sim.services.tablestore.plainbuffer import PlainRow, read_row
from local_sim.services.tablestore.reads import RangeSpec, ReadSpec
from local_sim.services.tablestore.rows import Selection
from local_sim.services.tablestore.store import Table
from local_sim.services.tablestore.writes import Existence, Kind, Return, RowChange

_FOREVER_MS = (1 << 63) - 1


def row_change(table: Table, kind: Kind, data: bytes, message: Any, now_ms: int) -> RowChange:
    """Return the write in `data` (PlainBuffer) under the condition and return content of `message`."""
    if len(data) > limits.MAX_WRITE:
        raise ParameterInvalid(f"The data size of one row exceeds the limit, limit: {limits.MAX_WRITE}.")
    row = read_row(data)
    limits.check_key(table.schema, row.primary_key)
    if kind is Kind.PUT:
        limits.check_put_cells(table.schema, row.cells, now_ms)
    elif kind is Kind.UPDATE:
        limits.check_update_cells(table.schema, row.cells, now_ms)
    return RowChange(
        kind,
        table,
        row.primary_key,
        row.cells if kind is not Kind.DELETE else (),
        Existence(message.condition.row_existence),
        parse_condition(message.condition.column_condition),
        Return(message.return_content.return_type),
        frozenset(message.return_content.return_column_names),
    )


def primary_key(table: Table, data: bytes) -> PlainRow:
    """Return a whole key without the auto-increment mark."""
    row = read_row(data)
    limits.check_bound(table.schema, row.primary_key)
    limits.check_exact(row.primary_key)
    return row


def read_spec(message: Any) -> ReadSpec:
    """Return what GetRow, one table of BatchGetRow or GetRange wants of each row."""
    limits.check_columns_to_get(message.columns_to_get)
    if message.HasField("token") if _is_single(message) else any(message.token):
        raise ParameterInvalid("The token is invalid.")  # rows are never cut here, so no token was ever given (T12)
    if not message.HasField("max_versions") and not message.HasField("time_range"):
        raise ParameterInvalid("No version condition is specified while querying row.")
    if message.HasField("max_versions") and message.max_versions < 1:
        raise ParameterInvalid("The max versions must be greater than 0.")
    wanted = Selection(
        frozenset(message.columns_to_get),
        message.start_column if message.HasField("start_column") else None,
        message.end_column if message.HasField("end_column") else None,
        _times(message.time_range) if message.HasField("time_range") else None,
        message.max_versions if message.HasField("max_versions") else None,
    )
    return ReadSpec(wanted, parse_filter(message.filter))


def range_spec(table: Table, message: Any) -> RangeSpec:
    """Return the range that GetRange asks for."""
    start = read_row(message.inclusive_start_primary_key)
    end = read_row(message.exclusive_end_primary_key)
    limits.check_bound(table.schema, start.primary_key)
    limits.check_bound(table.schema, end.primary_key)
    limit = message.limit if message.HasField("limit") else None
    if limit is not None and limit < 1:
        raise ParameterInvalid("The limit must be greater than 0.")
    return RangeSpec(start, end, message.direction == 1, limit, read_spec(message))


def _is_single(message: Any) -> bool:
    return bool(message.DESCRIPTOR.fields_by_name["token"].label != 3)  # repeated in BatchGetRow only


def _times(message: Any) -> tuple[int, int]:
    """Return the half-open range in ms; a specific time is a range of one."""
    if message.HasField("specific_time"):
        low, high = message.specific_time, message.specific_time + 1
    else:
        low = message.start_time if message.HasField("start_time") else 0
        high = message.end_time if message.HasField("end_time") else _FOREVER_MS
    if low < 0 or low >= high:
        raise ParameterInvalid("The start of the time range must be less than its end.")
    return low, high
