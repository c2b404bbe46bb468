"""Canonical JSON and fingerprints: what counts as the same input, and what is no JSON at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger import NotJson, canonical, fingerprint

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
).filter(lambda value: "\\ud" not in json.dumps(value))


def _reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reordered(value[key]) for key in reversed(value)}
    return [_reordered(item) for item in value] if isinstance(value, list) else value


@given(json_values)
def test_canonical_text_parses_back_to_the_same_value(value: Any) -> None:
    assert json.loads(canonical(value)) == value


@given(json_values)
def test_key_order_never_counts_at_any_depth(value: Any) -> None:
    assert fingerprint(_reordered(value)) == fingerprint(value)


def test_c29_nested_key_order_is_the_same_and_list_order_is_not() -> None:
    assert fingerprint({"a": {"x": 1, "y": 2}}) == fingerprint({"a": {"y": 2, "x": 1}})
    assert fingerprint([{"x": 1, "y": 2}]) == fingerprint([{"y": 2, "x": 1}])
    assert fingerprint([1, 2]) != fingerprint([2, 1])


def test_c30_a_field_declared_as_json_text_is_parsed_before_hashing() -> None:
    one = {"body": '{"a": 1, "b": 2}', "n": 1}
    other = {"body": '{"b":2,"a":1}', "n": 1}
    assert fingerprint(one, json_text=["body"]) == fingerprint(other, json_text=["body"])
    assert fingerprint(one) != fingerprint(other)


def test_json_text_that_does_not_parse_counts_as_text() -> None:
    assert fingerprint({"body": "{"}, json_text=["body"]) != fingerprint({"body": "{ "}, json_text=["body"])
    assert fingerprint({"body": '"1"'}, json_text=["body"]) != fingerprint({"body": "1"}, json_text=["body"])
    assert fingerprint({"body": "NaN"}, json_text=["body"]) == fingerprint({"body": "NaN"})


def test_c31_fields_left_out_do_not_count() -> None:
    one = {"order": 7, "attempt": 1, "meta": {"at": "10:00", "by": "x"}}
    other = {"order": 7, "attempt": 2, "meta": {"at": "10:05", "by": "x"}}
    assert fingerprint(one, ignore=["attempt", "meta.at"]) == fingerprint(other, ignore=["attempt", "meta.at"])
    assert fingerprint(one, ignore=["attempt"]) != fingerprint(other, ignore=["attempt"])


def test_ignoring_a_field_that_is_not_there_is_harmless() -> None:
    assert fingerprint({"a": [1]}, ignore=["b.c", "a.x"]) == fingerprint({"a": [1]})


def test_fingerprint_leaves_its_input_alone() -> None:
    value = {"a": 1, "t": "{}"}
    fingerprint(value, ignore=["a"], json_text=["t"])
    assert value == {"a": 1, "t": "{}"}


@pytest.mark.parametrize("pair", [(1, True), (0, False), (0, None), ("", None), ("1", 1), ({}, []), (1, 1.5)])
def test_different_values_have_different_fingerprints(pair: tuple[Any, Any]) -> None:
    assert fingerprint(pair[0]) != fingerprint(pair[1])


def test_chinese_text_is_kept_unescaped() -> None:
    assert canonical({"标题": "中文"}) == '{"标题":"中文"}'


@pytest.mark.parametrize(
    ("value", "path", "problem"),
    [
        (float("nan"), "$", "nan"),
        ({"a": [1, float("inf")]}, "$.a[1]", "inf"),
        ({"a": {"b": b"x"}}, "$.a.b", "bytes"),
        ({"a": {1: 2}}, "$.a", "not text"),
        ({"a b": {1, 2}}, "$['a b']", "set"),
        (["\ud800"], "$[0]", "surrogate"),
        ({"\ud800": 1}, "$", "surrogate"),
        (object(), "$", "object"),
    ],
)
def test_what_json_cannot_carry_is_named_with_its_path(value: Any, path: str, problem: str) -> None:
    with pytest.raises(NotJson) as caught:
        canonical(value)
    assert caught.value.path == path
    assert problem in caught.value.problem


def test_a_value_that_contains_itself_is_refused() -> None:
    value: dict[str, Any] = {"a": []}
    value["a"].append(value)
    with pytest.raises(NotJson, match=r"\$\.a\[0\].*contains itself"):
        canonical(value)


def test_the_same_value_twice_is_no_cycle() -> None:
    shared = {"x": 1}
    assert canonical([shared, shared]) == '[{"x":1},{"x":1}]'


def test_very_deep_values_are_refused_and_not_a_recursion_error() -> None:
    value: Any = 1
    for _ in range(5000):
        value = [value]
    with pytest.raises(NotJson, match="nested deeper than 200"):
        canonical(value)
