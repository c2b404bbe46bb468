"""Texts on the page: differences, languages, clipping. Pure."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_kit import NOW_MS

from functions.review.web.diff import Line, changes, clipped, lines, printable
from functions.review.web.words import _TEXTS, Words, choose

texts = st.lists(st.text(st.sampled_from("ab字 #-*1.<&"), max_size=12), max_size=12).map("\n".join)


def shown(found: list[Line], *kinds: str) -> str:
    return "\n".join("".join(piece.text for piece in line.pieces if piece.kind in kinds) for line in found)


@given(texts, texts)
def test_without_what_is_gone_the_new_text_is_left_and_without_what_is_new_the_old(before: str, after: str) -> None:
    found = changes(before, after)
    new = [line for line in found if line.kind != "gone"]
    old = [line for line in found if line.kind != "new"]
    assert shown(new, "same", "new") == shown(lines(after), "same")
    assert shown(old, "same", "gone") == shown(lines(before), "same")


@given(texts)
def test_the_same_text_has_no_difference(text: str) -> None:
    assert all(line.kind == "same" for line in changes(text, text))


def test_a_reworded_line_marks_its_words() -> None:
    (line,) = changes("The fee is 48,000 yuan a month.", "The fee is 52,000 yuan a month.")
    assert line.kind == "changed"
    assert [(piece.kind, piece.text) for piece in line.pieces if piece.kind != "same"] == [
        ("gone", "48"),
        ("new", "52"),
    ]


def test_another_line_is_one_that_went_and_one_that_came() -> None:
    assert [line.kind for line in changes("甲方每月支付", "xyz")] == ["gone", "new"]


def test_lines_are_set_by_what_they_are() -> None:
    found = lines("# Title\n\n- one\n1. two\ntext **strong** #5")
    assert [line.look for line in found] == ["heading", "blank", "item", "item", "text"]
    assert shown(found, "same").splitlines()[0] == "Title"
    assert shown(found, "same").splitlines()[-1] == "text strong #5"


def test_marks_that_turn_or_steer_are_left_out_and_blanks_of_other_scripts_stay() -> None:
    assert printable("a\u202eb\u200b\x1b[31mc\x00\u3000d\u00a0e\tf\n") == "ab[31mc\u3000d\u00a0e\tf\n"


@given(st.text(max_size=60), st.integers(1, 40))
def test_a_clipped_text_is_a_beginning_within_its_bytes(text: str, most: int) -> None:
    text = text.encode("utf-8", "ignore").decode()
    short, cut = clipped(text, most)
    assert text.startswith(short)
    assert len(short.encode()) <= most or not cut
    assert cut == (len(text.encode()) > most)


def test_every_text_takes_the_same_values_in_both_languages() -> None:
    for name, pair in _TEXTS.items():
        fields = [len(re.findall(r"\{\d*\}", text)) for text in pair]
        assert fields[0] == fields[1], name
        for text in pair:
            assert text.format(*"abcdef"), name
            assert not any(part[1] and not part[1].isdigit() for part in string.Formatter().parse(text)), name


@pytest.mark.parametrize(
    ("asked", "accept", "language"),
    [
        ("", "", "en"),
        ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("", "en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("", "fr, zh-Hant;q=0.3", "zh"),
        ("", "zh;q=0, en;q=0.1", "en"),
        ("", "zh;q=x, *", "en"),
        ("en", "zh-CN", "en"),
        ("zh", "en", "zh"),
        ("xx", "zh", "zh"),
        ("", ";;,,q=,zh" * 200, "zh"),
    ],
)
def test_the_language_is_the_readers(asked: str, accept: str, language: str) -> None:
    assert choose(asked, accept).language == language


@pytest.mark.parametrize(
    ("minutes", "left"), [(0, "time is up"), (59, "59 minutes left"), (121, "2 hours left"), (4320, "3 days left")]
)
def test_the_time_that_is_left(minutes: int, left: str) -> None:
    assert Words("en").left(NOW_MS + minutes * 60_000, NOW_MS) == left


def test_moments_name_their_zone() -> None:
    assert Words("en").moment(0) == "1 Jan 1970, 00:00 UTC"
    assert Words("zh").moment(0) == "1970年1月1日 08:00（北京时间）"
