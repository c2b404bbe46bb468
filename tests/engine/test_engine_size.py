"""Sizes: UTF-8 bytes of compact JSON, counted exactly where it matters (C54, A24, A60)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_sim.engine.faults import StateFailure
from local_sim.engine.size import depth, json_bytes, surely_fits

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
FLAT = st.dictionaries(st.text(max_size=8), _SCALARS, max_size=20)


def on_the_wire(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


@given(JSON)
def test_bytes_are_those_of_compact_utf8_json(value: object) -> None:
    assert json_bytes(value, 450) == on_the_wire(value)


@given(FLAT, st.integers(2, 600))
def test_the_quick_answer_is_never_wrong(value: dict[str, object], limit: int) -> None:
    if surely_fits(value, limit):
        assert on_the_wire(value) <= limit


def test_the_quick_answer_is_given_for_the_usual_small_objects() -> None:
    assert surely_fits({"task_id": "t-1", "n": 3, "done": False, "what": None}, 64 * 1024)
    assert surely_fits({}, 2)


@pytest.mark.parametrize(
    "value",
    [
        {"a": {}},
        {"a": []},
        {"a": 1.5},
        {"a": 10**30},
        {"a": "中"},
        {"中": 1},
        [],
        "text",
        3,
        None,
        dict.fromkeys(map(str, range(17))),
    ],
)
def test_the_quick_answer_leaves_the_rest_to_measuring(value: object) -> None:
    assert not surely_fits(value, 10**9)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a" * 10, 12), ("中" * 10, 32), ("😀" * 10, 42), ('"' * 10, 22), ("\x01" * 10, 62), ("\\" * 10, 22), ("é", 4)],
)
def test_text_counts_in_bytes_with_its_escapes(text: str, expected: int) -> None:
    assert json_bytes(text, 450) == expected


@pytest.mark.parametrize(
    ("value", "levels"), [(1, 0), ({}, 1), ([], 1), ({"a": [1]}, 2), ({"a": {"b": {}}, "c": 1}, 3), ([[], [[[]]]], 4)]
)
def test_depth_counts_arrays_and_objects(value: object, levels: int) -> None:
    assert depth(value) == levels


def nested(levels: int) -> object:
    value: object = 0
    for _ in range(levels):
        value = [value]
    return value


def test_nesting_is_allowed_to_the_limit_and_no_further() -> None:
    assert json_bytes(nested(450), 450) == 901
    with pytest.raises(StateFailure, match=r"FnF\.RuntimeError") as caught:
        json_bytes(nested(451), 450)
    assert caught.value.cause == "a value is nested deeper than 450 levels"


def test_absurd_nesting_needs_no_recursion() -> None:
    with pytest.raises(StateFailure):
        json_bytes(nested(200_000), 450)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": {1, 2}}, "\ud800", b"bytes"])
def test_what_is_no_json_fails_the_state(value: object) -> None:
    with pytest.raises(StateFailure) as caught:
        json_bytes(value, 450)
    assert caught.value.error == "FnF.RuntimeError"
    assert caught.value.cause.startswith("not a JSON value: ")
