"""The embedded provider: the document's own sentences, Chinese and English, the same every time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.drafting import DraftRequest, provider
from functions.drafting.extractive import Extractive
from functions.drafting.ranking import rank
from functions.drafting.sentences import is_chinese, sentences, terms
from functions.errors import InvalidInput
from functions.settings import Settings

EXAMPLE = (Path(__file__).parents[2] / "docs" / "examples" / "service-agreement.md").read_text(encoding="utf-8")
CHINESE, ENGLISH = EXAMPLE.split("\n---\n")


def draft(text: str, note: str = "", limit: int = 4000) -> str:
    return Extractive().write(DraftRequest("标题", text, note, "k", limit)).text


def test_it_is_the_default_and_needs_nothing() -> None:
    assert isinstance(provider(Settings()), Extractive)


@pytest.mark.parametrize("text", [CHINESE, ENGLISH, EXAMPLE])
def test_every_line_of_a_draft_stands_in_the_document(text: str) -> None:
    known = {sentence.text for sentence in sentences(text)}
    for line in draft(text).splitlines():
        if line.startswith("- "):
            spoken = line[2:].split("** ", 1)[-1]
            assert spoken in known, spoken


def test_chinese_and_english_have_headings_of_their_language() -> None:
    assert "## 摘要" in draft(CHINESE)
    assert "## 要点" in draft(CHINESE)
    assert "## Summary" in draft(ENGLISH)
    assert draft(ENGLISH).isascii() is False, "the title is Chinese"


def test_the_figures_that_matter_are_in_the_draft() -> None:
    found = draft(CHINESE)
    assert "2,000 份" in found
    assert "99.5%" in found


def test_the_same_request_gives_the_same_draft() -> None:
    assert draft(EXAMPLE, "保密") == draft(EXAMPLE, "保密")


def test_a_note_brings_up_what_the_document_says_about_it() -> None:
    found = draft(CHINESE, "请补充保密期和删除记录")
    about = found.split("## 审阅意见相关内容")[1]
    assert "请补充保密期和删除记录" in about
    assert "保密期为协议终止后五年" in about


def test_a_note_the_document_does_not_answer_is_said_to_be_open() -> None:
    assert "请人工补充" in draft(CHINESE, "zzz qqq")
    assert "says nothing about this" in draft(ENGLISH, "量子纠缠")


@given(
    st.integers(200, 3000),
    st.sampled_from([CHINESE, ENGLISH, EXAMPLE, "一" * 5000, "word " * 3000]),
    st.sampled_from(["", "保密期", "court " * 100]),
    st.integers(1, 300),
)
def test_a_draft_stays_within_its_limit(limit: int, text: str, note: str, title: int) -> None:
    request = DraftRequest("题" * title, text, note, "k", limit)
    found = Extractive().write(request).text
    assert len(found) <= limit
    assert found.startswith("# 题")
    assert len(found.splitlines()) >= 5


def test_material_without_a_sentence_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        draft("# \n\n---\n\n| --- |\n")
    assert caught.value.reason == "empty"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("一。二！三？", ["一。", "二！", "三？"]),
        ("It costs 1.5 million. Really.", ["It costs 1.5 million.", "Really."]),
        ("Dr. Smith agreed. Good.", ["Dr. Smith agreed.", "Good."]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("wrapped\nline goes on. 换行的\n中文。", ["wrapped line goes on.", "换行的中文。"]),
        ("- first item\n- second item", ["first item", "second item"]),
        ("```\ncode. Is. Not.\n```\ntext", ["text"]),
        ("| a | b |\n| --- | --- |\n| c | d |", ["a b", "c d"]),
    ],
)
def test_sentences_are_told_apart_in_both_languages(text: str, expected: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text)] == expected


def test_headings_name_what_follows() -> None:
    found = sentences("# A\none.\n## B\ntwo.")
    assert [(sentence.heading, sentence.text) for sentence in found] == [("A", "one."), ("B", "two.")]


@pytest.mark.parametrize(("text", "chinese"), [("合同条款 contract", True), ("the contract 合", False), ("", False)])
def test_the_language_is_what_most_of_the_text_is(text: str, chinese: bool) -> None:
    assert is_chinese(text) is chinese


def test_terms_leave_out_what_says_nothing() -> None:
    assert terms("The fees and the fee") == ["fee", "fee"]
    assert terms("我们的合同") == ["合同"]


@given(st.text(max_size=300))
def test_any_text_is_split_without_inventing_anything(text: str) -> None:
    found = sentences(text)
    assert [sentence.place for sentence in found] == list(range(len(found)))
    assert all(set(sentence.text) <= set(text) | {" "} for sentence in found)
    ranked = rank(found)
    assert sorted(ranked, key=lambda pair: -pair[0]) == ranked
