"""Primary keys as byte strings that sort like the keys, so that SQLite's own order is the table's order."""

from __future__ import annotations

from collections.abc import Iterable

from local_sim.services.tablestore.values import KeyValue, Special

_BIAS = 1 << 63


def encode_key(values: Iterable[KeyValue]) -> bytes:
    """Return the sortable form of a key or of a range bound.

    Within one key column all values have one type. INF_MIN sorts before and INF_MAX after every value.
    """
    return b"".join(map(_column, values))


def _column(value: KeyValue) -> bytes:
    if isinstance(value, str):
        return b"\x20" + _terminated(value.encode())
    if isinstance(value, int):
        return b"\x10" + (value + _BIAS).to_bytes(8, "big")
    if isinstance(value, bytes):
        return b"\x30" + _terminated(value)
    if value is Special.INF_MIN:
        return b"\x00"
    if value is Special.INF_MAX:
        return b"\xff"
    raise TypeError(f"{value!r} cannot be part of a key")


def _terminated(data: bytes) -> bytes:
    """A zero byte ends the value, so that a prefix sorts first; zero bytes inside are escaped to keep their order."""
    return data.replace(b"\x00", b"\x00\xff") + b"\x00\x00"
