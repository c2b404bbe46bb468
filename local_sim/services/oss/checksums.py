"""CRC-64/ECMA-182 (the one of `oss2.utils.Crc64`) and MD5 over a stream, and the CRC of two runs put together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import fastcrc

_REFLECTED = 0xC96C5795D7870F42


def crc64(data: bytes, value: int = 0) -> int:
    """Return the CRC64 of `data`, or of a run with CRC `value` followed by `data`."""
    return fastcrc.crc64.xz(data, value)


def combine(first: int, second: int, second_size: int) -> int:
    """Return the CRC64 of two runs joined, from their CRCs and the byte length of the second, in O(log size) steps."""
    if second_size == 0:
        return first
    operator = _squared(_squared(_squared(_one_bit())))  # one zero byte
    while second_size:
        if second_size & 1:
            first = _times(operator, first)
        second_size >>= 1
        if second_size:
            operator = _squared(operator)
    return first ^ second


def combined(runs: Iterable[tuple[int, int]]) -> int:
    """Return the CRC64 of all runs joined; each is (CRC64, byte length)."""
    value = 0
    for crc, size in runs:
        value = combine(value, crc, size)
    return value


class Digests:
    """MD5, CRC64 and size of bytes that go by."""

    def __init__(self) -> None:
        self._md5 = hashlib.md5(usedforsecurity=False)
        self.crc64 = 0
        self.size = 0

    def update(self, data: bytes) -> None:
        """Take the next bytes."""
        self._md5.update(data)
        self.crc64 = crc64(data, self.crc64)
        self.size += len(data)

    def md5(self) -> bytes:
        """Return the 16 bytes of the MD5 so far."""
        return self._md5.digest()


def _one_bit() -> list[int]:
    """Return the GF(2) matrix that advances a CRC register over one zero bit."""
    return [_REFLECTED] + [1 << bit for bit in range(63)]


def _times(matrix: list[int], vector: int) -> int:
    product, row = 0, 0
    while vector:
        if vector & 1:
            product ^= matrix[row]
        vector >>= 1
        row += 1
    return product


def _squared(matrix: list[int]) -> list[int]:
    return [_times(matrix, column) for column in matrix]
