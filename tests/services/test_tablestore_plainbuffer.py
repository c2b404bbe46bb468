"""PlainBuffer: what the SDK writes is read, what is written is what the SDK writes, and damage is refused."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tablestore_rig import sdk

from local_sim.services.tablestore.crc import crc8
from local_sim.services.tablestore.errors import ParameterInvalid
from local_sim.services.tablestore.plainbuffer import Cell, CellOp, PlainRow, read_row, read_rows, write_rows
from local_sim.services.tablestore.values import Special, decode_value, encode_value

from tablestore.plainbuffer.plain_buffer_builder import PlainBufferBuilder as Builder  # isort: skip
from tablestore.plainbuffer.plain_buffer_crc8 import PlainBufferCrc8  # isort: skip

int64 = st.integers(-(1 << 63), (1 << 63) - 1)
values = st.one_of(
    int64, st.floats(allow_nan=False), st.booleans(), st.text(st.characters(exclude_categories=["Cs"])), st.binary()
)
names = st.text("abcXYZ_019é云", min_size=1, max_size=20)
keys = st.lists(st.builds(Cell, names, st.one_of(values, st.sampled_from(Special)), st.none(), st.none()), max_size=4)
cells = st.lists(
    st.builds(Cell, names, st.one_of(st.none(), values), st.one_of(st.none(), int64), st.sampled_from([None, *CellOp])),
    max_size=6,
)
rows = st.builds(PlainRow, keys.map(tuple), cells.map(tuple), st.booleans())


@given(st.lists(rows, max_size=4))
def test_what_is_written_is_read(written: list[PlainRow]) -> None:
    data = write_rows(written)
    assert (read_rows(data) if data else []) == written


def test_no_row_is_no_byte() -> None:
    assert write_rows([]) == b""


@given(values)
def test_a_value_keeps_its_type(value: Any) -> None:
    decoded = decode_value(encode_value(value))
    assert (type(decoded), decoded) == (type(value), value)


def test_not_a_number_survives() -> None:
    assert math.isnan(decode_value(encode_value(math.nan)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x08",
        b"\x00\x01",
        b"\x02\x01\x01",
        b"\x03\x05\x00\x00\x00abc",
        b"\x03\x01\x00\x00\x00\xff",
        b"\x06x",
        b"\x09x",
    ],
)
def test_an_impossible_value_is_refused(data: bytes) -> None:
    with pytest.raises(ParameterInvalid):
        decode_value(data)


def test_put_is_byte_for_byte_the_sdks() -> None:
    key = [("a", 1), ("b", "x"), ("c", bytearray(b"\0z")), ("d", sdk.INF_MIN)]
    columns = [("x", 1.5, 12345), ("y", True), ("z", "h" * 100), ("blob", bytearray(b"\xff\0")), ("n", -7)]
    data = bytes(Builder.serialize_for_put_row(key, columns))
    row = PlainRow(
        (Cell("a", 1), Cell("b", "x"), Cell("c", b"\0z"), Cell("d", Special.INF_MIN)),
        (
            Cell("x", 1.5, 12345),
            Cell("y", True),
            Cell("z", "h" * 100),
            Cell("blob", b"\xff\0"),
            Cell("n", -7),
        ),
    )
    assert read_row(data) == row
    assert write_rows([row]) == data


def test_update_is_byte_for_byte_the_sdks() -> None:
    changes = {"put": [("x", "y")], "delete": [("q", None, 123)], "delete_all": ["z"], "increment": [("c", 4)]}
    data = bytes(Builder.serialize_for_update_row([("a", 1), ("b", sdk.PK_AUTO_INCR)], changes))
    row = PlainRow(
        (Cell("a", 1), Cell("b", Special.AUTO_INCREMENT)),
        (
            Cell("x", "y"),
            Cell("q", None, 123, CellOp.DELETE_ONE),
            Cell("z", None, None, CellOp.DELETE_ALL),
            Cell("c", 4, None, CellOp.INCREMENT),
        ),
    )
    assert read_row(data) == row
    assert write_rows([row]) == data


def test_delete_carries_the_delete_mark() -> None:
    data = bytes(Builder.serialize_for_delete_row([("a", 1)]))
    assert read_row(data) == PlainRow((Cell("a", 1),), (), deleted=True)
    assert write_rows([PlainRow((Cell("a", 1),), (), deleted=True)]) == data


ROW = write_rows([PlainRow((Cell("key", "value"),), (Cell("col", 5, 77), Cell("s", "text" * 30)))])


@given(st.integers(0, len(ROW) - 1), st.integers(1, 255))
@example(0, 1)
def test_a_flipped_byte_is_refused(position: int, flip: int) -> None:
    damaged = bytearray(ROW)
    damaged[position] ^= flip
    with pytest.raises(ParameterInvalid):
        read_row(bytes(damaged))


@given(st.integers(0, len(ROW) - 1))
def test_a_cut_row_is_refused(length: int) -> None:
    with pytest.raises(ParameterInvalid):
        read_row(ROW[:length])


@given(st.binary(max_size=80))
def test_noise_is_refused_or_read_but_never_worse(noise: bytes) -> None:
    for data in (noise, b"\x75\0\0\0" + noise, b"\x75\0\0\0\x01\x03\x04" + noise):
        with contextlib.suppress(ParameterInvalid):
            assert write_rows([read_row(data)]) == data


@given(st.binary(max_size=700), st.integers(0, 255))
def test_the_checksum_is_the_sdks(data: bytes, crc: int) -> None:
    assert crc8(data, crc) == PlainBufferCrc8.crc_bytes(crc, data)


def test_the_checksum_of_a_long_value() -> None:
    data = bytes(range(256)) * 300
    assert crc8(data) == PlainBufferCrc8.crc_bytes(0, data)
