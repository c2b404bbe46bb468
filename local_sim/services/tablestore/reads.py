"""GetRow and GetRange: find rows, filter them, choose their cells. No clock, no SQL."""

from __future__ import annotations

from dataclasses import dataclass, field

from local_sim.services.tablestore import rows
from local_sim.services.tablestore.conditions import Condition, Paging, passes
from local_sim.services.tablestore.errors import ParameterInvalid
from local_sim.services.tablestore.limits import SCAN_BYTES, SCAN_ROWS
from local_sim.services.tablestore.plainbuffer import HEADER, PlainRow, read_row, write_rows
from local_sim.services.tablestore.rows import Selection
from local_sim.services.tablestore.store import RowAccess, Table
from local_sim.services.tablestore.writes import Consumed, key_bytes, shown, units


@dataclass(frozen=True)
class ReadSpec:
    """Which cells of a row are wanted, and which rows pass."""

    wanted: Selection = field(default=Selection())
    filter: Condition | Paging | None = None


@dataclass(frozen=True)
class RangeSpec:
    """Rows from `start` (included) to `end` (excluded); `limit` is the most rows to return."""

    start: PlainRow
    end: PlainRow
    backward: bool = False
    limit: int | None = None
    read: ReadSpec = field(default=ReadSpec())


@dataclass(frozen=True)
class RowFound:
    """The row in PlainBuffer, empty for none."""

    consumed: Consumed
    row: bytes


@dataclass(frozen=True)
class RangeFound:
    """A page of rows in PlainBuffer, and the key at which the next page starts, empty when the range has ended."""

    consumed: Consumed
    rows: bytes
    next_start: bytes


def get_row(access: RowAccess, table: Table, key: PlainRow, spec: ReadSpec, now_ms: int) -> RowFound:
    """Return one row as `spec` wants it."""
    data = access.get(table, key_bytes(key.primary_key))
    if data is None:
        return RowFound(Consumed(read=1), b"")
    return RowFound(Consumed(read=units(len(data))), _answer(data, table, spec, now_ms))


def get_range(access: RowAccess, table: Table, spec: RangeSpec, now_ms: int) -> RangeFound:
    """Return a page: up to `limit` rows, and what lies within 5,000 rows or 4 MB of scanning (tablestore.md section
    7.3).

    The next key is that of the row at which the scan stopped, so a filter can make a page empty though rows follow.
    """
    low, high = _bounds(spec)
    page: list[bytes] = []
    scanned = size = 0
    next_start = b""
    for _, data in access.scan(table, low, high, backward=spec.backward):
        if len(page) == spec.limit or scanned == SCAN_ROWS or (size + len(data) > SCAN_BYTES and scanned):
            next_start = write_rows([PlainRow(read_row(data).primary_key)])
            break
        scanned, size = scanned + 1, size + len(data)
        if answer := _answer(data, table, spec.read, now_ms):
            page.append(answer[len(HEADER) :])
    return RangeFound(Consumed(read=units(size)), HEADER + b"".join(page) if page else b"", next_start)


def _bounds(spec: RangeSpec) -> tuple[bytes, bytes]:
    start, end = key_bytes(spec.start.primary_key), key_bytes(spec.end.primary_key)
    if spec.backward:
        if start <= end:
            raise ParameterInvalid("Begin key must more than end key in BACKWARD")
        return end, start
    if start >= end:
        raise ParameterInvalid("Begin key must less than end key in FORWARD")
    return start, end


def _answer(data: bytes, table: Table, spec: ReadSpec, now_ms: int) -> bytes:
    """Return the stored row as asked for, with the PlainBuffer header; empty when it does not pass or show."""
    if spec.filter is None and spec.wanted.takes_all and table.schema.keeps_all_it_stores:
        return data  # rows are stored the way this read answers them
    found = shown(data, table, now_ms)
    if found is None:
        return b""
    row, columns = found
    columns = rows.select(columns, spec.wanted)
    key = rows.key_of(row)
    if not rows.shows(columns, key, spec.wanted):
        return b""
    if isinstance(spec.filter, Paging):
        columns = rows.page(columns, spec.filter.offset, spec.filter.limit)
    elif not passes(spec.filter, columns, key):
        return b""
    return write_rows([rows.stored(row.primary_key, columns)])
