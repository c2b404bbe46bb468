"""Whatever stands in a text that reaches the page, it stays text: no new element, no new attribute, no new address."""

from __future__ import annotations

import re
from typing import Any

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st
from review_kit import NOW_MS, link, review, vote

from functions.errors import InvalidInput
from functions.review import Review, Seat
from functions.review.model import Delivery, Report
from functions.review.store import Noted, Record
from functions.review.web.app import HEAVIEST
from functions.review.web.diff import printable
from functions.review.web.render import policy, render
from functions.review.web.view import Sources, Typed, page_of
from functions.review.web.words import Words
from ledger import Direction, EffectKind, Entry, Mark, StepRow

ADDRESS = "abcdefg234567"
MARKUP = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' autofocus onfocus='alert(1)",
    "</textarea><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style><style>*{display:none}</style>",
    "<!--",
    "-->",
    "]]>",
    "<a href=javascript:alert(1)>x</a>",
    "{{ 7*7 }}{% for x in y %}",
    "&lt;script&gt;",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<form action=//evil.example><button>",
    "\x00<\x00script>",
    "<ScRiPt\x0c>",
    "\u2028<script>",
    "<math><mtext></p><script>alert(1)</script>",
    "＜script＞",
    "# <b>x</b>\n- **<i>**\n1. <u>",
]
pieces = st.one_of(st.sampled_from(MARKUP), st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
texts = st.lists(pieces, min_size=1, max_size=3).map("".join)
FIELDS = (
    "title",
    "name",
    "task",
    "by",
    "comment",
    "draft",
    "before",
    "document",
    "why",
    "detail",
    "viewer",
    "alert",
    "typed",
    "step",
    "seat",
)


def page(words: str = "en", share: int = 48_000, **field: str) -> str:
    """A page in which every text field is `field`'s, or a harmless word."""
    said = {name: field.get(name, f"some {name}") for name in FIELDS}
    one = vote("more_info", by=said["by"], comment=said["comment"])
    round_1 = _round(said, 1, votes=(one,), decided=one, state="more_info", closed_ms=NOW_MS)
    if "why" in field:
        round_2 = _round(said, 2, state="withdrawn", closed_why=said["why"])
    elif "detail" in field:
        report = Report(delivery=Delivery.REFUSED, detail=said["detail"])
        round_2 = _round(said, 2, state="approved", decided=vote(by=said["by"]), report=report)
    else:
        round_2 = _round(said, 2)
    sources = Sources(
        record=_record(round_2, said),
        rounds=[_record(round_1, said), _record(round_2, said)],
        views=[Noted("viewed", said["viewer"], said["viewer"], NOW_MS)],
        rows=[_row(said["step"])],
        document=InvalidInput(said["document"]) if field.get("broken") else said["document"],
        draft=said["draft"],
        before=said["before"],
        before_round=1,
    )
    shown = page_of(
        sources,
        link(step="HumanReview@2"),
        Words(words),
        NOW_MS,
        address=ADDRESS,
        form="1-a",
        typed=Typed(said["typed"], said["typed"], said["alert"]),
        bytes_each=share,
    )
    return render("review.html", Words(words), page=shown)


def _round(said: dict[str, str], number: int, **more: Any) -> Review:
    step = "HumanReview" if number == 1 else f"HumanReview@{number}"
    seats = (Seat(number=1, name=said["seat"] if "some" not in said["seat"] else ""),)
    fields = {"task_id": said["task"], "title": said["title"], "name": said["name"], "seats": seats}
    return review(step=step, round=number, **{**fields, **more})


def _record(one: Review, said: dict[str, str]) -> Record:
    notes = [
        {"kind": "decided", "by": said["by"], "text": "more_info, page"},
        {"kind": said["viewer"], "by": said["by"], "text": ""},
    ]
    notes.append({"kind": "reassigned", "by": said["by"], "text": said["viewer"]})
    marks = tuple(Mark(number, NOW_MS, note) for number, note in enumerate(notes, start=1))
    return Record(one, "", Entry(one.task_id, one.id.entry, 1, {}, marks))


def _row(step: str) -> StepRow:
    return StepRow(
        "t", "w", step, Direction.FORWARD, "done", 1, 1, EffectKind.LOCAL, "", "", NOW_MS, None, None, "", "", ""
    )


def read(text: str) -> BeautifulSoup:
    """The page as a browser reads it. Our own style sheet is left out: it is long, and the same on every page."""
    style = text[text.index("<style>") + 7 : text.index("</style>")]
    return BeautifulSoup(text.replace(style, "", 1), "html5lib")


def shape(text: str) -> set[tuple[str, tuple[str, ...]]]:
    return {(tag.name, tuple(sorted(tag.attrs))) for tag in read(text).find_all(True)}


def addresses(text: str) -> set[str]:
    names = ("href", "action", "src", "formaction")
    return {str(tag[name]) for tag in read(text).find_all(True) for name in names if tag.has_attr(name)}


LINES = "# h\n\ntext\n- item\nsame words here now\nmore lines come"
OTHER = "# h\n\ntext\n- item\nsame words here then\nquite another thing\n\n# new\n- new"
HARMLESS = shape(page(draft=OTHER, before=LINES, document=LINES)) | shape(page(why="x")) | shape(page(seat="Lin"))
NAMED = addresses(page()) | addresses(page("zh"))


def check(text: str) -> None:
    found = shape(text)
    assert found <= HARMLESS
    assert "script" not in {name for name, _ in found}
    assert addresses(text) <= NAMED


@given(st.sampled_from(FIELDS), texts, st.sampled_from(["en", "zh"]))
@settings(max_examples=100)
def test_markup_in_any_field_stays_text(name: str, text: str, language: str) -> None:
    check(page(language, **{name: text}))


@given(st.fixed_dictionaries(dict.fromkeys(FIELDS, texts)))
@settings(max_examples=40)
def test_markup_in_every_field_at_once_stays_text(fields: dict[str, str]) -> None:
    check(page(**fields))


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_really_reaches_the_page(name: str) -> None:
    text = page(**{name: "<qqq>"})
    assert "&lt;qqq&gt;" in text
    assert "<qqq>" not in text
    check(text)


def test_what_cannot_be_read_says_so_and_the_rest_is_there() -> None:
    text = page(document="<qqq> is gone", broken="yes", draft="the draft")
    assert "The text cannot be shown: &lt;qqq&gt; is gone" in text
    assert "the draft" in text


@given(texts)
@settings(max_examples=20)
def test_markup_is_shown_as_it_was_written(text: str) -> None:
    (quote,) = read(page(comment=f"said: {text}")).find_all("q")
    assert quote.get_text().split() == printable(f"said: {text}").split()


@given(texts, texts)
@settings(max_examples=40)
def test_an_error_page_keeps_markup_text(title: str, text: str) -> None:
    shown = render("gone.html", Words("en"), title=title, text=text)
    harmless = render("gone.html", Words("en"), title="t", text="t")
    assert shape(shown) == shape(harmless)


def test_the_policy_allows_one_style_sheet_and_nothing_else() -> None:
    directives = dict(part.strip().split(" ", 1) for part in policy().split(";"))
    assert directives["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", directives["style-src"])
    assert {directives[name] for name in ("base-uri", "frame-ancestors")} == {"'none'"}
    assert "unsafe" not in policy()
    assert not any(name.startswith("on") or name == "style" for _, names in shape(page()) for name in names)


def test_the_heaviest_texts_fit_the_page() -> None:
    wide, many = "任务<&" * 20_000, "\n".join("<&" for _ in range(30_000))
    for text in (wide, many):
        sizes = [len(page(share=share, draft=text, document=text, before=many[:60]).encode()) for share in (8_000, 500)]
        assert sizes[0] > sizes[1]
        assert sizes[1] < HEAVIEST


def test_hidden_characters_do_not_reach_the_reader() -> None:
    for name in FIELDS:
        text = page(**{name: "pay 100\u202e001\u202c\x1b now"})
        assert not {"\u202e", "\u202c", "\x1b"} & set(text)
        assert "pay 100001 now" in text, name
