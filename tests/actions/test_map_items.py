"""Items out of bytes: CSV, JSON lines, one array. However the bytes are cut into chunks, the items are the same."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_sim.actions import ActionFailure
from local_sim.actions.items import MAX_LINE, csv_items, json_items, json_line_items


def rows(data: bytes, headers: list[str] | None = None, delimiter: str = ",") -> list[Any]:
    return list(csv_items([data], "o", headers, delimiter))


def lines(data: bytes) -> list[Any]:
    return list(json_line_items([data], "o"))


def array(data: bytes) -> list[Any]:
    return list(json_items([data], "o"))


@pytest.mark.parametrize(
    ("read", "data", "items"),
    [
        (rows, b"id,name\n1,a\n2,b\n", [{"id": "1", "name": "a"}, {"id": "2", "name": "b"}]),
        (rows, b"\xef\xbb\xbfid\r\n1\r\n\r\n2", [{"id": "1"}, {"id": "2"}]),
        (rows, b'id,t\n1,"a, ""b""\nc"\n', [{"id": "1", "t": 'a, "b"\nc'}]),
        (rows, "键\n值\n".encode(), [{"键": "值"}]),
        (rows, b"", []),
        (rows, b"id\n", []),
        (lines, b'{"a":1}\n\n 2 \n"x"', [{"a": 1}, 2, "x"]),
        (lines, b"123456789012345678901234567890\n", [123456789012345678901234567890]),
        (lines, b"", []),
        (array, b'\xef\xbb\xbf[1, {"a": null}]', [1, {"a": None}]),
        (array, b"[]", []),
    ],
)
def test_items_come_out_as_they_are_written(read: Callable[[bytes], list[Any]], data: bytes, items: list[Any]) -> None:
    assert read(data) == items


def test_a_file_without_a_header_is_given_one() -> None:
    assert rows(b"1;a\n", ["id", "name"], ";") == [{"id": "1", "name": "a"}]


@pytest.mark.parametrize(
    ("read", "data", "says"),
    [
        (rows, b"a,b\n1\n", "o, line 2: 1 cells, the header has 2"),
        (rows, b"a,a\n1,2\n", "o: the header has 'a' twice"),
        (rows, b'a\n"x"y\n', "o, line 2: no CSV"),
        (rows, b"a\n\xff\n", "o, line 2 is not UTF-8 (byte 1)"),
        (lines, b'{"a":1}\n{"a":\n', "o, line 2 is not JSON"),
        (lines, b"NaN\n", "NaN is not JSON"),
        (lines, b"[" * 100_000, "o, line 1 is not JSON"),
        (lines, b"1" * 5000, "o, line 1 is not JSON"),
        (lines, b" " * (MAX_LINE + 1), f"o, line 1 is longer than {MAX_LINE} bytes"),
        (array, b'{"a": 1}', "o holds no JSON array"),
        (array, b"[1,", "o is not JSON"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(read: Callable[[bytes], list[Any]], data: bytes, says: str) -> None:
    with pytest.raises(ActionFailure) as caught:
        read(data)
    assert caught.value.error == "FnF.RuntimeError"
    assert says in caught.value.cause


def test_little_is_read_of_a_file_of_which_little_is_wanted() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b'{"n":1}\n'

    items = json_line_items(endless(), "o")
    assert [next(items) for _ in range(3)] == [{"n": 1}] * 3


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5)


@given(st.lists(st.dictionaries(st.text(), VALUES, max_size=3), max_size=5), st.lists(st.integers(0, 60), max_size=8))
def test_chunks_cut_anywhere_give_the_same_items(items: list[Any], cuts: list[int]) -> None:
    data = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items).encode(errors="surrogatepass")
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    chunks = [data[start:end] for start, end in itertools.pairwise(places)]
    assert list(json_line_items(chunks, "o")) == items
