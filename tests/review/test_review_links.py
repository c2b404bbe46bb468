"""Links: only what was made here counts, and it arrives as it was sent (case C43)."""

from __future__ import annotations

import html
import json
import random
import re
import textwrap
from urllib.parse import quote, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_kit import KEYS, NOW_MS, link

from functions.review import Keys, LinkExpired, LinkForged
from functions.review.keys import SHORTEST
from functions.review.links import EVERYTHING, LOOK_ONLY, Links, Scope

LINKS = Links(KEYS)
NOW_S = NOW_MS // 1000
ODD = "+ / = % & # : ~ ? _ - . 任务 \u202e <b> \"'"
ids = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=42)


@given(ids, ids, st.integers(1, 9), st.integers(1, 99), st.frozensets(st.sampled_from(Scope)))
def test_a_link_says_what_it_was_made_with(task: str, step: str, seat: int, generation: int, scope: object) -> None:
    made = link(task, scope=scope, step=step, seat=seat, generation=generation)  # type: ignore[arg-type]
    assert LINKS.read(LINKS.make(made), NOW_S) == made


@given(ids)
def test_a_link_has_letters_and_digits_only_so_nothing_changes_it(task: str) -> None:
    text = LINKS.make(link(task))
    assert re.fullmatch(r"[a-z2-7]+", text)
    assert quote(text, safe="") == quote(quote(text, safe=""), safe="") == unquote(unquote(text)) == text
    assert html.escape(text) == text
    assert json.loads(json.dumps({"url": text}))["url"] == text


@pytest.mark.parametrize("around", ["{}.", "({})", "<{}>", "见 {}，谢谢", "*{}*", "_{}_", "[x]({})", '"{}"', "{}\n"])
def test_a_link_is_found_whole_in_a_message(around: str) -> None:
    address = f"https://review.example/r/{LINKS.make(link(ODD))}"
    found = re.search(r"https?://[^\s<>()\[\]\"*，。.]*\.[^\s<>()\[\]\"*，。._]*", around.format(address))
    assert found is not None
    assert found.group(0) == address
    assert textwrap.fill(address, 70, break_long_words=False) == address


def test_the_longest_task_id_fits_an_http_trigger() -> None:
    text = LINKS.make(link("务" * 42 + "ab", workflow="w" * 128, step="S" * 120 + "@10000"))
    assert len(text) < 1200
    assert LINKS.read(text, NOW_S).review.task_id == "务" * 42 + "ab"


def _mutated(text: str, rng: random.Random) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz234567ABCXYZ0189-_=.%/+ 任"
    place = rng.randrange(len(text))
    kind = rng.randrange(8)
    if kind == 0:
        return text[:place] + rng.choice(letters) + text[place + 1 :]
    if kind == 1:
        return text[:place] + text[place + 1 :]
    if kind == 2:
        return text[:place] + rng.choice(letters) + text[place:]
    if kind == 3:
        return text[:place]
    if kind == 4:
        return text[:place] + text[place].upper() + text[place + 1 :]
    if kind == 5:
        return text + rng.choice(letters) * rng.randrange(1, 9)
    if kind == 6:
        other = LINKS.make(link(f"t-{rng.randrange(99)}"))
        return text[:place] + other[place:]
    one, two = sorted((place, rng.randrange(len(text))))
    return text[:one] + text[one:two][::-1] + text[two:]


def test_of_ten_thousand_changed_links_none_counts() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    made = {LINKS.make(link(f"t-{number}", step=f"HumanReview@{number + 1}")) for number in range(100)}
    others = {LINKS.make(link(f"t-{number}")) for number in range(99)}
    tried = refused = 0
    while tried < 10_000:
        text = _mutated(rng.choice(sorted(made)), rng)
        if text in made or text in others:
            continue
        tried += 1
        try:
            LINKS.read(text, NOW_S)
        except LinkForged:
            refused += 1
    assert refused == tried


def test_every_single_character_changed_is_refused() -> None:
    text = LINKS.make(link())
    for place, letter in enumerate(text):
        for other in "abcdefghijklmnopqrstuvwxyz234567":
            if other != letter:
                with pytest.raises(LinkForged):
                    LINKS.read(text[:place] + other + text[place + 1 :], NOW_S)


@pytest.mark.parametrize(
    "text", ["", "a", "a" * 51, "a" * 3000, "ä", "İ" * 80, "=" * 80, "a b", "\n", "%2e%2e", "ſ" * 90]
)
def test_what_is_no_link_is_forged(text: str) -> None:
    with pytest.raises(LinkForged):
        LINKS.read(text, NOW_S)


def test_an_expired_link_is_told_apart_and_says_when() -> None:
    text = LINKS.make(link(expires_s=NOW_S))
    assert LINKS.read(text, NOW_S - 1).expires_s == NOW_S
    with pytest.raises(LinkExpired) as caught:
        LINKS.read(text, NOW_S)
    assert caught.value.expired_s == NOW_S


def test_keys_rotate_and_an_old_link_counts_until_its_key_goes() -> None:
    old, new = "old-key-" + "o" * 30, "new-key-" + "n" * 30
    text = Links(Keys.parse(old)).make(link())
    both = Links(Keys.parse(f"{new}, {old}"))
    assert both.read(text, NOW_S) == link()
    fresh = both.make(link())
    assert Links(Keys.parse(new)).read(fresh, NOW_S) == link()
    for keys, one in ((new, text), (old, fresh)):
        with pytest.raises(LinkForged):
            Links(Keys.parse(keys)).read(one, NOW_S)


def test_a_link_to_look_is_not_one_to_decide() -> None:
    assert LINKS.read(LINKS.make(link(scope=LOOK_ONLY)), NOW_S).scope == frozenset()
    assert LINKS.make(link(scope=LOOK_ONLY)) != LINKS.make(link(scope=EVERYTHING))


def test_the_address_adds_nothing_that_needs_quoting() -> None:
    address = f"https://review.example/r/{LINKS.make(link(ODD))}"
    parts = urlsplit(address + "?utm_source=chat&from=timeline")
    assert LINKS.read(parts.path.rpartition("/")[2], NOW_S) == link(ODD)


@pytest.mark.parametrize("text", ["", " , ", "short", f"{'k' * 40},short", "k" * (SHORTEST - 1)])
def test_no_key_and_a_short_key_are_refused(text: str) -> None:
    from functions.review import ReviewKeysMissing

    with pytest.raises(ReviewKeysMissing):
        Keys.parse(text)


def test_keys_show_in_no_text_and_each_purpose_has_its_own() -> None:
    assert "first-key" not in repr(KEYS)
    assert len({KEYS.derived(purpose)[0] for purpose in ("link", "token", "form")}) == 3
