"""What identifies a person or opens a door leaves through no error, log line, notice or record."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.errors import SystemFault, describe, redact
from functions.redaction import FIELDS, redact_text, redact_value


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("call 13800138000 now", "call [phone] now"),
        ("+86 138-0013-8000", "[phone]"),
        ("电话：１３８００１３８０００。", "电话：[phone]。"),
        ("tel13800138000x", "tel[phone]x"),
        ("身份证11010519491231002X。", "身份证[id]。"),
        ("110105 19491231 002x", "[id]"),
        ("old 110105491231002", "old [id]"),
        ("card 6222 0212 3456 7890 128", "card [card]"),
        ("4111111111111111", "[card]"),
        ("5500-0000-0000-0004", "[card]"),
        ("ask zhang.san+x@mail.example.com.cn, please", "ask [mail], please"),
        ("中文＠不是 but 张三@example.cn is", "中文＠不是 but [mail] is"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer ***"),
        ("key sk-abcdefgh1234 and LTAI5tAbCdEfGh", "key *** and ***"),
        (
            "https://x/?OSSAccessKeyId=a&Signature=b%2F&Expires=1",
            "https://x/?OSSAccessKeyId=***&Signature=***&Expires=1",
        ),
    ],
)
def test_identifiers_and_credentials_are_taken_out(text: str, shown: str) -> None:
    assert redact_text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "1700000000000 ms since the epoch",
        "order 20261201093000123",
        "110105194912310021 has a wrong check digit",
        "4111111111111112 fails Luhn",
        "9999999999999995 is of no issuer",
        "12800138000 is no mobile number",
        "sha256 3f786850e387550fdab836ed7e6dc881de23001b",
        "a@b, @user, x@localhost",
        "state is approved, attempt 2 of 3",
        "amount: 48,000.00",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact_text(text) == text


def test_fields_whose_name_says_what_they_hold_lose_the_whole_value() -> None:
    value = {"phone": "12", "Id-Card": ["x"], "note": "fine", "nested": {"手机号": 5, "token": "", "email": None}}
    assert redact_value(value) == {
        "phone": "***",
        "Id-Card": "***",
        "note": "fine",
        "nested": {"手机号": "***", "token": "", "email": None},
    }


def test_numbers_keys_and_strange_values_are_looked_at_too() -> None:
    value = {"13800138000": 13800138000, "at": 1700000000000, "card": 4111111111111111, "set": {"a@b.cn"}, "big": 1e9}
    assert redact_value(value) == {
        "[phone]": "[phone]", "at": 1700000000000, "card": "[card]", "set": ["[mail]"], "big": 1e9,
    }  # fmt: skip
    assert redact_value(ValueError("13800138000")) == "[phone]"


def phones() -> st.SearchStrategy[str]:
    return st.from_regex(r"1[3-9][0-9]{9}", fullmatch=True)


def residents() -> st.SearchStrategy[str]:
    def whole(parts: tuple[int, int, int, int, int]) -> str:
        area, year, month, day, order = parts
        digits = f"{area:06d}{year}{month:02d}{day:02d}{order:03d}"
        weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
        return digits + "10X98765432"[sum(int(d) * w for d, w in zip(digits, weights, strict=True)) % 11]

    ranges = ((110000, 659999), (1900, 2026), (1, 12), (1, 28), (0, 999))
    return st.tuples(*(st.integers(*limits) for limits in ranges)).map(whole)  # type: ignore[arg-type]


def cards() -> st.SearchStrategy[str]:
    def whole(body: str) -> str:
        total = sum(sum(divmod(int(d) * 2, 10)) if n % 2 == 0 else int(d) for n, d in enumerate(reversed(body)))
        return body + str(-total % 10)

    return st.from_regex(r"(62[0-9]{13,16}|4[0-9]{14}|5[1-5][0-9]{13})", fullmatch=True).map(whole)


def mails() -> st.SearchStrategy[str]:
    return st.from_regex(r"[a-z0-9]{2,10}(\.[a-z]{2,5})?@[a-z0-9]{2,8}\.(com|cn|com\.cn)", fullmatch=True)


def keys() -> st.SearchStrategy[str]:
    return st.from_regex(r"(LTAI[A-Za-z0-9]{12,20}|sk-[A-Za-z0-9]{16,24})", fullmatch=True)


IDENTIFIERS = phones() | residents() | cards() | mails() | keys()
# No digits, and nothing that a repr would write with digits: they would make another number of what is planted.
AROUND = st.text("中文az。,:;()<>'/ \n", max_size=8).map(lambda text: text + " " if text[-1:].isalnum() else text)


@st.composite
def planted(draw: st.DrawFn) -> tuple[str, Any]:
    """An identifier, and a nested value that holds it somewhere: in a text, a list, a map's value or a map's key."""
    identifier = draw(IDENTIFIERS)
    leaf: Any = draw(AROUND) + identifier + " " + draw(AROUND)
    if identifier.isdecimal() and draw(st.booleans()):
        leaf = int(identifier)
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.integers(0, 3))
        if kind == 0:
            leaf = [draw(st.integers()), leaf]
        elif kind == 1:
            leaf = {draw(st.text(max_size=5)): leaf}
        elif kind == 2 and not isinstance(leaf, dict | list):
            leaf = {str(leaf): True}
        else:
            leaf = {"deep": {"deeper": leaf}, "other": None}
    return identifier, leaf


@given(planted())
def test_nothing_planted_anywhere_in_a_value_is_left(case: tuple[str, Any]) -> None:
    identifier, value = case
    assert identifier not in json.dumps(redact_value(value), ensure_ascii=False)


@given(planted())
def test_nothing_planted_in_an_exception_is_left(case: tuple[str, Any]) -> None:
    identifier, value = case
    try:
        try:
            raise ValueError(f"inner {value}")
        except ValueError as inner:
            raise SystemFault(f"outer {value}", given=value, nested=[value, {"x": value}]) from inner
    except SystemFault as error:
        told = json.dumps(describe(error), ensure_ascii=False) + str(error)
    assert identifier not in told


@given(st.text(max_size=200))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact_text(text)
    assert redact_text(once) == once


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)


@given(
    st.recursive(
        LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    )
)
def test_the_value_given_is_never_changed(value: Any) -> None:
    before = repr(value)
    redact_value(value)
    assert repr(value) == before


def test_long_texts_are_cut_after_they_were_redacted() -> None:
    text = "x" * 590 + " 13800138000"
    assert "1380013" not in redact(text)
    assert len(redact(text)) <= 600
    assert len(redact("x" * 700)) == 600


def test_details_of_errors_are_redacted_by_field_and_pattern() -> None:
    error = SystemFault("bad", phone="12345", note="x@y.cn", none=None)
    details = describe(error)["details"]
    assert isinstance(details, dict)
    assert (details["phone"], details["note"]) == ("***", "[mail]")
    assert "none" not in details
    assert "phone" in FIELDS
