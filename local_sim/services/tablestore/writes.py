"""PutRow, UpdateRow and DeleteRow on one row: check the condition, then change the row. No clock, no SQL."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace

from local_sim.services.tablestore import rows
from local_sim.services.tablestore.conditions import Condition, passes
from local_sim.services.tablestore.errors import ConditionCheckFail
from local_sim.services.tablestore.keys import encode_key
from local_sim.services.tablestore.plainbuffer import Cell, PlainRow, read_row, write_rows
from local_sim.services.tablestore.rows import Columns
from local_sim.services.tablestore.store import RowAccess, Table
from local_sim.services.tablestore.values import KeyValue, Special

_UNIT_BYTES = 4096


class Kind(enum.IntEnum):
    """The three kinds of change, with the wire's numbers."""

    PUT = 1
    UPDATE = 2
    DELETE = 3


class Existence(enum.IntEnum):
    """What a write expects of the row's existence, with the wire's numbers."""

    IGNORE = 0
    EXPECT_EXIST = 1
    EXPECT_NOT_EXIST = 2


class Return(enum.IntEnum):
    """What a write answers with, with the wire's numbers."""

    NONE = 0
    PK = 1
    AFTER_MODIFY = 2


@dataclass(frozen=True)
class RowChange:
    """One checked write. `returned_columns` matter for `Return.AFTER_MODIFY` only."""

    kind: Kind
    table: Table
    primary_key: tuple[Cell, ...]
    cells: tuple[Cell, ...] = ()
    existence: Existence = Existence.IGNORE
    condition: Condition | None = None
    returns: Return = Return.NONE
    returned_columns: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Consumed:
    """Capacity units of one operation, 4 KB each."""

    read: int = 0
    write: int = 0


@dataclass(frozen=True)
class Written:
    """What a write answers: the row to return, in PlainBuffer, empty for none."""

    consumed: Consumed
    row: bytes = b""


def units(size: int) -> int:
    """Return how many capacity units `size` bytes cost; at least one."""
    return max(1, -(-size // _UNIT_BYTES))


def key_bytes(primary_key: Sequence[Cell]) -> bytes:
    """Return the sortable form of a checked key."""
    return encode_key(_value(cell) for cell in primary_key)


def existing(access: RowAccess, table: Table, key: bytes, now_ms: int) -> tuple[PlainRow, Columns] | None:
    """Return the row as the table shows it; None when it is absent or every value of it has expired (T11)."""
    data = access.get(table, key)
    return None if data is None else shown(data, table, now_ms)


def shown(data: bytes, table: Table, now_ms: int) -> tuple[PlainRow, Columns] | None:
    """Return what a stored row still shows; None when every value of it has expired."""
    row = read_row(data)
    columns = rows.live(rows.from_cells(row.cells), now_ms, table.schema.options)
    return None if row.cells and not columns else (row, columns)


def apply_change(access: RowAccess, change: RowChange, now_ms: int) -> Written:
    """Apply `change`; raises `ConditionCheckFail` or `ParameterInvalid` and then leaves the row as it was."""
    change = _numbered(access, change)
    key = key_bytes(change.primary_key)
    checked = change.existence is not Existence.IGNORE or change.condition is not None
    before: Columns | None = None
    if checked or change.kind is Kind.UPDATE:
        found = existing(access, change.table, key, now_ms)
        before = None if found is None else found[1]
    if checked:
        _check(change, before)
    after, size = _write(access, change, key, before, now_ms)
    consumed = Consumed(read=1 if checked else 0, write=units(size))
    return Written(consumed, _returned(change, after))


def _numbered(access: RowAccess, change: RowChange) -> RowChange:
    """Give the auto-increment column its number, where the request left it open."""
    if all(cell.value is not Special.AUTO_INCREMENT for cell in change.primary_key):
        return change
    partition = encode_key([_value(change.primary_key[0])])
    number = access.next_in_sequence(change.table, partition)
    key = tuple(
        cell._replace(value=number) if cell.value is Special.AUTO_INCREMENT else cell for cell in change.primary_key
    )
    return replace(change, primary_key=key)


def _check(change: RowChange, before: Columns | None) -> None:
    """Existence first, then the columns (tablestore.md section 7.1)."""
    expected = {Existence.EXPECT_EXIST: True, Existence.EXPECT_NOT_EXIST: False}.get(change.existence)
    if expected is not None and expected != (before is not None):
        raise ConditionCheckFail
    key = {} if before is None else {cell.name: _value(cell) for cell in change.primary_key}
    if not passes(change.condition, before or {}, key):
        raise ConditionCheckFail


def _write(
    access: RowAccess, change: RowChange, key: bytes, before: Columns | None, now_ms: int
) -> tuple[Columns, int]:
    """Return the columns after the write and the number of bytes written."""
    if change.kind is Kind.DELETE:
        access.delete(change.table, key)
        return {}, len(key)
    options = change.table.schema.options
    if change.kind is Kind.PUT:
        after = rows.put(change.cells, now_ms, options)
    else:
        after = rows.update(before or {}, change.cells, now_ms, options)
        if not after and before is None:
            return {}, len(key)  # only deletions on an absent row: no row comes of it (tablestore.md section 7.3)
    data = write_rows([rows.stored(change.primary_key, after)])
    access.put(change.table, key, data)
    return after, len(data)


def _returned(change: RowChange, after: Columns) -> bytes:
    if change.returns is Return.NONE:
        return b""
    if change.returns is Return.PK:
        return write_rows([PlainRow(change.primary_key)])
    newest = {name: after[name][:1] for name in change.returned_columns if name in after}
    return write_rows([rows.stored(change.primary_key, newest)])


def _value(cell: Cell) -> KeyValue:
    if cell.value is None:
        raise TypeError(f"key column {cell.name} has no value")
    return cell.value
