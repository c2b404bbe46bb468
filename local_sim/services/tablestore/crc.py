"""The CRC-8 of PlainBuffer: polynomial x^8 + x^2 + x + 1, initial value 0 (tablestore.md section 4)."""

from __future__ import annotations


def _table() -> bytes:
    rows = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte << 1) ^ (0x107 if byte & 0x80 else 0)
        rows.append(byte)
    return bytes(rows)


_TABLE = _table()
_ORDER = 127  # the smallest n for which the polynomial divides x^n + 1
_SHORT = 64  # bytes; below it the plain loop is quicker


def crc8(data: bytes, crc: int = 0) -> int:
    """Return the checksum of `data`, going on from `crc`."""
    if len(data) > _SHORT:
        data, crc = _folded(data, crc), 0
    table = _TABLE
    for byte in data:
        crc = table[crc ^ byte]
    return crc


def _folded(data: bytes, crc: int) -> bytes:
    """Return 16 bytes with the same checksum.

    x^127 is 1 modulo the polynomial, so a message may be cut at any multiple of 127 bits and its parts added up. A
    few operations on big integers then replace a loop over bytes, which for a value of some hundred bytes is twenty
    times slower.
    """
    message = int.from_bytes(data, "big") ^ (crc << 8 * (len(data) - 1))
    while (bits := message.bit_length()) > _ORDER:
        cut = _ORDER * max(1, bits // (2 * _ORDER))
        message = (message >> cut) ^ (message & ((1 << cut) - 1))
    return message.to_bytes(16, "big")
