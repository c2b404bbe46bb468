"""Encoded keys sort as Tablestore sorts keys."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_sim.services.tablestore.keys import encode_key
from local_sim.services.tablestore.values import Special

integers = st.integers(-(1 << 63), (1 << 63) - 1)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
near = st.binary(max_size=5).map(lambda data: data.replace(b"a", b"\0"))
columns = st.tuples(integers, texts, near)


def order(values: Any) -> Any:
    """Integers by number, text by its UTF-8, blobs by bytes."""
    return tuple(value.encode() if isinstance(value, str) else value for value in values)


@given(columns, columns)
def test_bytes_sort_like_keys(left: Any, right: Any) -> None:
    assert (encode_key(left) < encode_key(right)) == (order(left) < order(right))
    assert (encode_key(left) == encode_key(right)) == (left == right)


@given(near, near, near)
def test_a_first_column_never_runs_into_the_second(first: bytes, second: bytes, other: bytes) -> None:
    assert (encode_key([first, second]) == encode_key([other])) is False


@given(columns)
def test_infinities_enclose_every_key(key: Any) -> None:
    low = encode_key([Special.INF_MIN] * 3)
    high = encode_key([Special.INF_MAX] * 3)
    assert low < encode_key(key) < high


@given(texts, integers)
def test_infinities_enclose_a_prefix(first: str, second: int) -> None:
    low, high = encode_key([first, Special.INF_MIN]), encode_key([first, Special.INF_MAX])
    assert low < encode_key([first, second]) < high
    assert not low < encode_key([first + "\0", second]) < high


def test_a_mark_cannot_be_stored() -> None:
    with pytest.raises(TypeError):
        encode_key([Special.AUTO_INCREMENT])
