"""PlainBuffer, the wire form of rows: reader and writer (tablestore.md section 4).

The SDK package has a reader too, but it loses or refuses what only requests contain: cell operations, range bounds
and the auto-increment mark. On the wire a cell's operation comes before its timestamp; in the checksum it is the
other way round.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterable
from typing import NamedTuple

from local_sim.services.tablestore.crc import crc8
from local_sim.services.tablestore.errors import ParameterInvalid
from local_sim.services.tablestore.values import KeyValue, decode_value, encode_value

HEADER = b"\x75\x00\x00\x00"

_ROW_PK, _ROW_DATA, _CELL, _NAME, _VALUE, _OP, _TIMESTAMP, _DELETE_MARKER, _ROW_CRC, _CELL_CRC = range(1, 11)
_length = struct.Struct("<I")
_int64 = struct.Struct("<q")


class CellOp(enum.IntEnum):
    """What UpdateRow does to a column when it does not simply put a value."""

    DELETE_ALL = 1
    DELETE_ONE = 3
    INCREMENT = 4


class Cell(NamedTuple):
    """One cell; `value` is None when absent or null, `timestamp` is in milliseconds."""

    name: str
    value: KeyValue | None = None
    timestamp: int | None = None
    op: CellOp | None = None


class PlainRow(NamedTuple):
    """A row as it travels: primary key cells, attribute cells, and whether it carries the delete mark."""

    primary_key: tuple[Cell, ...]
    cells: tuple[Cell, ...] = ()
    deleted: bool = False


def write_rows(rows: Iterable[PlainRow]) -> bytes:
    """Return header and rows; nothing at all when there is no row."""
    body = b"".join(map(_row, rows))
    return HEADER + body if body else b""


def read_row(data: bytes) -> PlainRow:
    """Return the only row of `data`; raises `ParameterInvalid` for anything else."""
    rows = read_rows(data)
    if len(rows) != 1:
        raise ParameterInvalid(f"Expect one row in the plain buffer but it has {len(rows)}.")
    return rows[0]


def read_rows(data: bytes) -> list[PlainRow]:
    """Return the rows of header and rows, checksums verified; raises `ParameterInvalid`."""
    if data[:4] != HEADER:
        raise ParameterInvalid("Invalid header from plain buffer.")
    rows = []
    position = 4
    try:
        while position < len(data):
            row, position = _read_row(data, position)
            rows.append(row)
    except (struct.error, IndexError) as error:
        raise ParameterInvalid("The plain buffer ends too early.") from error
    except ValueError as error:
        raise ParameterInvalid(f"Invalid plain buffer: {error}.") from error
    return rows


def _row(row: PlainRow) -> bytes:
    parts = [b"\x01"]
    crc = _add_cells(parts, row.primary_key, 0)
    if row.cells:
        parts.append(b"\x02")
        crc = _add_cells(parts, row.cells, crc)
    if row.deleted:
        parts.append(b"\x08")
    parts.append(bytes((_ROW_CRC, crc8(b"\x01" if row.deleted else b"\x00", crc))))
    return b"".join(parts)


def _add_cells(parts: list[bytes], cells: Iterable[Cell], crc: int) -> int:
    checksums = bytearray()
    for name, value, timestamp, op in cells:
        name_bytes = name.encode()
        value_bytes = b"" if value is None else encode_value(value)
        time_bytes = b"" if timestamp is None else _int64.pack(timestamp)
        op_bytes = b"" if op is None else bytes((op,))
        parts += (b"\x03\x04", _length.pack(len(name_bytes)), name_bytes)
        if value_bytes:
            parts += (b"\x05", _length.pack(len(value_bytes)), value_bytes)
        if op_bytes:
            parts += (b"\x06", op_bytes)
        if time_bytes:
            parts += (b"\x07", time_bytes)
        checksums.append(crc8(name_bytes + value_bytes + time_bytes + op_bytes))
        parts.append(bytes((_CELL_CRC, checksums[-1])))
    return crc8(bytes(checksums), crc)


def _read_row(data: bytes, position: int) -> tuple[PlainRow, int]:
    if data[position] != _ROW_PK:
        raise ValueError(f"tag {data[position]} where a row must begin")
    primary_key, position, crc = _read_cells(data, position + 1, 0)
    cells: tuple[Cell, ...] = ()
    if data[position] == _ROW_DATA:
        cells, position, crc = _read_cells(data, position + 1, crc)
    deleted = data[position] == _DELETE_MARKER
    if deleted:
        position += 1
    if data[position] != _ROW_CRC:
        raise ValueError(f"tag {data[position]} where the row's checksum must be")
    if data[position + 1] != crc8(b"\x01" if deleted else b"\x00", crc):
        raise ValueError("the row's checksum is wrong")
    return PlainRow(primary_key, cells, deleted), position + 2


def _read_cells(data: bytes, position: int, crc: int) -> tuple[tuple[Cell, ...], int, int]:
    cells = []
    checksums = bytearray()
    while data[position] == _CELL:
        cell, position = _read_cell(data, position + 1)
        cells.append(cell)
        checksums.append(data[position - 1])
    return tuple(cells), position, crc8(bytes(checksums), crc)


def _read_cell(data: bytes, position: int) -> tuple[Cell, int]:
    """Read the cell after its tag; its last byte is its checksum."""
    if data[position] != _NAME:
        raise ValueError(f"tag {data[position]} where a cell's name must be")
    name, position = _sized(data, position + 1)
    value_bytes = time_bytes = op_bytes = b""
    tag = data[position]
    if tag == _VALUE:
        value_bytes, position = _sized(data, position + 1)
        tag = data[position]
    if tag == _OP:
        op_bytes = data[position + 1 : position + 2]
        position += 2
        tag = data[position]
    if tag == _TIMESTAMP:
        time_bytes = data[position + 1 : position + 9]
        position += 9
        tag = data[position]
    if tag != _CELL_CRC:
        raise ValueError(f"tag {tag} where the cell's checksum must be")
    if data[position + 1] != crc8(name + value_bytes + time_bytes + op_bytes):
        raise ValueError(f"the checksum of cell {name!r} is wrong")
    value = decode_value(value_bytes) if value_bytes else None
    timestamp = int.from_bytes(time_bytes, "little", signed=True) if time_bytes else None
    return Cell(name.decode(), value, timestamp, CellOp(op_bytes[0]) if op_bytes else None), position + 2


def _sized(data: bytes, position: int) -> tuple[bytes, int]:
    start = position + 4
    end = start + int.from_bytes(data[position:start], "little")
    if end > len(data):
        raise IndexError(end)
    return data[start:end], end
