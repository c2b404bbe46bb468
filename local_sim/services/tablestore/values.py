"""The values of cells and keys, and their PlainBuffer form (type byte and payload; tablestore.md section 4)."""

from __future__ import annotations

import enum
import struct

from local_sim.services.tablestore.errors import ParameterInvalid


class Special(enum.Enum):
    """What can stand in a key besides a value; the number is its type byte."""

    INF_MIN = 9
    INF_MAX = 10
    AUTO_INCREMENT = 11


Value = int | float | bool | str | bytes
KeyValue = Value | Special

_INTEGER, _DOUBLE, _BOOLEAN, _STRING, _NULL, _BLOB = 0, 1, 2, 3, 6, 7
_int64 = struct.Struct("<q")
_double = struct.Struct("<d")
_length = struct.Struct("<I")
_SPECIAL = {special.value: special for special in Special}


def encode_value(value: KeyValue) -> bytes:
    """Return type byte and payload. A value must be one of `Value`; integers must fit 64 bits."""
    if isinstance(value, str):
        text = value.encode()
        return b"\x03" + _length.pack(len(text)) + text
    if isinstance(value, bool):
        return b"\x02\x01" if value else b"\x02\x00"
    if isinstance(value, int):
        return b"\x00" + _int64.pack(value)
    if isinstance(value, float):
        return b"\x01" + _double.pack(value)
    if isinstance(value, bytes):
        return b"\x07" + _length.pack(len(value)) + value
    return bytes((value.value,))


def decode_value(data: bytes) -> KeyValue | None:
    """Return the value of type byte and payload; None for the null type.

    Raises `ParameterInvalid` for an unknown type, a wrong length or text that is not UTF-8.
    """
    if not data:
        raise ParameterInvalid("Invalid value: no type.")
    kind, payload = data[0], data[1:]
    try:
        return _decode(kind, payload)
    except (struct.error, ValueError) as error:
        raise ParameterInvalid(f"Invalid value of type {kind}: {error}.") from error


def _decode(kind: int, payload: bytes) -> KeyValue | None:
    if kind == _STRING:
        return _sized(payload).decode()
    if kind == _INTEGER and len(payload) == 8:
        return int.from_bytes(payload, "little", signed=True)
    if kind == _BLOB:
        return _sized(payload)
    if kind == _DOUBLE:
        return float(_double.unpack(payload)[0])
    if kind == _BOOLEAN:
        if len(payload) != 1:
            raise ValueError("a boolean has one byte")
        return payload != b"\x00"
    if payload:
        raise ValueError("a type without payload has a payload")
    if kind == _NULL:
        return None
    if kind not in _SPECIAL:
        raise ValueError("unknown type")
    return _SPECIAL[kind]


def _sized(payload: bytes) -> bytes:
    size = int.from_bytes(payload[:4], "little")
    if size != len(payload) - 4:
        raise ValueError(f"length {size} where {len(payload) - 4} bytes follow")
    return payload[4:]
