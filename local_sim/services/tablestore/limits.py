"""The checks that keys and cells must pass before anything is read or written (tablestore.md sections 3.2 and 9)."""

from __future__ import annotations

from collections.abc import Sequence

from local_sim.services.tablestore.errors import InvalidPrimaryKey, ParameterInvalid
from local_sim.services.tablestore.plainbuffer import Cell, CellOp
from local_sim.services.tablestore.schema import KeyColumn, KeyType, TableSchema, check_column_name
from local_sim.services.tablestore.values import KeyValue, Special

MAX_BODY = 5 * 1024 * 1024
MAX_WRITE = 4 * 1024 * 1024
MAX_KEY_VALUE = 1024
MAX_VALUE = 2 * 1024 * 1024
MAX_COLUMNS = 1024
MAX_COLUMNS_TO_GET = 128
MAX_BATCH_WRITE_ROWS = 200
MAX_BATCH_GET_ROWS = 100
MAX_TABLES = 64
SCAN_ROWS = 5000
SCAN_BYTES = 4 * 1024 * 1024

_BOUNDS = frozenset({Special.INF_MIN, Special.INF_MAX})
_TYPE_NAMES = {KeyType.INTEGER: "VT_INTEGER", KeyType.STRING: "VT_STRING", KeyType.BINARY: "VT_BLOB"}


def check_key(schema: TableSchema, cells: Sequence[Cell]) -> None:
    """Raise `InvalidPrimaryKey` or `ParameterInvalid` unless `cells` are a key, auto-increment mark allowed."""
    _check_shape(schema.primary_key, cells)
    for column, cell in zip(schema.primary_key, cells, strict=True):
        if cell.value is not Special.AUTO_INCREMENT or not column.auto_increment:
            _check_key_value(column, cell.value)


def check_partition_key(schema: TableSchema, cells: Sequence[Cell]) -> None:
    """Raise unless `cells` are the partition key alone, as StartLocalTransaction wants it."""
    _check_shape(schema.primary_key[:1], cells)
    _check_key_value(schema.primary_key[0], cells[0].value)


def check_bound(schema: TableSchema, cells: Sequence[Cell]) -> None:
    """Raise unless `cells` are a bound of a range: a whole key in which INF_MIN and INF_MAX may stand."""
    _check_shape(schema.primary_key, cells)
    for column, cell in zip(schema.primary_key, cells, strict=True):
        if cell.value not in _BOUNDS:
            _check_key_value(column, cell.value)


def _check_shape(columns: Sequence[KeyColumn], cells: Sequence[Cell]) -> None:
    if len(cells) != len(columns):
        raise InvalidPrimaryKey(f"Validate PK size fail. Input: {len(cells)}, Meta: {len(columns)}.")
    for column, cell in zip(columns, cells, strict=True):
        if cell.name != column.name:
            raise InvalidPrimaryKey(f"Validate PK name fail. Input: {cell.name}, Meta: {column.name}.")


def _check_key_value(column: KeyColumn, value: KeyValue | None) -> None:
    if _key_type(value) is not column.type:
        raise InvalidPrimaryKey(f"Validate PK type fail. Input: {_type_name(value)}, Meta: {_TYPE_NAMES[column.type]}.")
    length = _length(value)
    if length > MAX_KEY_VALUE:
        raise ParameterInvalid(
            f"The length of primary key column: '{column.name}' exceeds the MaxLength: {MAX_KEY_VALUE} "
            f"with CurrentLength: {length}."
        )


def _key_type(value: KeyValue | None) -> KeyType | None:
    if isinstance(value, str):
        return KeyType.STRING
    if isinstance(value, int) and not isinstance(value, bool):
        return KeyType.INTEGER
    return KeyType.BINARY if isinstance(value, bytes) else None


def _type_name(value: KeyValue | None) -> str:
    kind = _key_type(value)
    if kind is not None:
        return _TYPE_NAMES[kind]
    return value.name if isinstance(value, Special) else type(value).__name__


def _length(value: KeyValue | None) -> int:
    if isinstance(value, str):
        return len(value.encode())
    return len(value) if isinstance(value, bytes) else 0


def check_put_cells(schema: TableSchema, cells: Sequence[Cell], now_ms: int) -> None:
    """Raise `ParameterInvalid` unless PutRow may write `cells`."""
    if any(cell.op is not None for cell in cells):
        raise ParameterInvalid("PutRow cannot delete or increment columns.")
    _check_cells(schema, cells, now_ms)


def check_update_cells(schema: TableSchema, cells: Sequence[Cell], now_ms: int) -> None:
    """Raise `ParameterInvalid` unless UpdateRow may apply `cells`."""
    if not schema.options.allow_update:
        raise ParameterInvalid("UpdateRow is not allowed on a table whose allow_update is false.")
    if not cells:
        raise ParameterInvalid("No attribute column is specified to update row.")
    _check_cells(schema, cells, now_ms)
    incremented = {cell.name for cell in cells if cell.op is CellOp.INCREMENT}
    if incremented and sum(cell.name in incremented for cell in cells) > len(incremented):
        raise ParameterInvalid("An incremented column cannot be changed by another operation of the same request.")


def _check_cells(schema: TableSchema, cells: Sequence[Cell], now_ms: int) -> None:
    if len(cells) > MAX_COLUMNS:
        raise ParameterInvalid(f"The number of attribute columns exceeds the limit, limit: {MAX_COLUMNS}.")
    key_names = {column.name for column in schema.primary_key}
    farthest_ms = schema.options.deviation * 1000
    for cell in cells:
        check_column_name(cell.name)
        if cell.name in key_names:
            raise ParameterInvalid(f"Duplicated attribute column name with primary key column: '{cell.name}'.")
        _check_cell_value(cell)
        if cell.timestamp is not None and cell.op is not CellOp.DELETE_ONE:
            _check_timestamp(cell.name, cell.timestamp, now_ms, farthest_ms)


def _check_cell_value(cell: Cell) -> None:
    if cell.op is CellOp.DELETE_ALL:
        return
    if cell.op is CellOp.DELETE_ONE:
        if cell.timestamp is None:
            raise ParameterInvalid(f"The version to delete of column: '{cell.name}' is missing.")
        return
    if cell.value is None or isinstance(cell.value, Special):
        raise ParameterInvalid(f"The value of column: '{cell.name}' is missing.")
    length = _length(cell.value)
    if length > MAX_VALUE:
        raise ParameterInvalid(
            f"The length of attribute column: '{cell.name}' exceeds the MaxLength: {MAX_VALUE} "
            f"with CurrentLength: {length}."
        )


def _check_timestamp(name: str, timestamp: int, now_ms: int, farthest_ms: int) -> None:
    if abs(timestamp - now_ms) > farthest_ms or timestamp < 0:
        raise ParameterInvalid(
            f"The version of column: '{name}' is out of range, it must be within {farthest_ms // 1000} seconds "
            "of the server's time."
        )


def check_columns_to_get(names: Sequence[str]) -> None:
    """Raise `ParameterInvalid` for too many or impossible names."""
    if len(names) > MAX_COLUMNS_TO_GET:
        raise ParameterInvalid(f"The number of columns to get exceeds the limit, limit: {MAX_COLUMNS_TO_GET}.")
    for name in names:
        check_column_name(name)


def check_exact(cells: Sequence[Cell]) -> None:
    """Raise `InvalidPrimaryKey` when the key of a single row has an INF_MIN or INF_MAX in it."""
    for cell in cells:
        if isinstance(cell.value, Special):
            raise InvalidPrimaryKey(f"The value of primary key column: '{cell.name}' must not be {cell.value.name}.")
