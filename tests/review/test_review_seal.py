"""Callback tokens at rest: encrypted, bound to their row, readable with any key that is still listed (case C43)."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_kit import KEYS

from functions.review import Keys, ReviewKeysMissing
from functions.review.seal import open_sealed, seal

OTHER = "another-key-" + "2" * 30
TOKEN = "djEjY29udGVudF9yZXZpZXcjZTEjMTIjK2EvYj09"


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_what_is_sealed_is_opened_unchanged_at_its_place_only(token: str, place: str) -> None:
    sealed = seal(KEYS, token, place)
    assert open_sealed(KEYS, sealed, place) == token
    with pytest.raises(ReviewKeysMissing):
        open_sealed(KEYS, sealed, place + "2")


def test_the_token_stands_nowhere_in_it_and_twice_is_not_the_same() -> None:
    sealed = seal(KEYS, TOKEN, "here")
    assert TOKEN not in sealed
    assert TOKEN.encode() not in base64.urlsafe_b64decode(sealed.split(".")[2])
    assert sealed != seal(KEYS, TOKEN, "here")
    assert not any(character.isspace() for character in sealed)


def test_a_changed_seal_is_refused() -> None:
    sealed = seal(KEYS, TOKEN, "here")
    head, data = sealed.rsplit(".", 1)
    raw = bytearray(base64.urlsafe_b64decode(data))
    for place in range(len(raw)):
        raw[place] ^= 1
        with pytest.raises(ReviewKeysMissing):
            open_sealed(KEYS, f"{head}.{base64.urlsafe_b64encode(bytes(raw)).decode()}", "here")
        raw[place] ^= 1


def test_keys_rotate() -> None:
    first = "first-key-of-the-tests-" + "1" * 16
    sealed = seal(KEYS, TOKEN, "here")
    assert open_sealed(Keys.parse(f"{OTHER},{first}"), sealed, "here") == TOKEN
    with pytest.raises(ReviewKeysMissing) as caught:
        open_sealed(Keys.parse(OTHER), sealed, "here")
    assert "not in STEPKEEPER_REVIEW_KEYS" in str(caught.value)


@pytest.mark.parametrize("text", ["", ".", "1..", "2.ab.cd", "x"])
def test_what_is_no_seal_is_refused(text: str) -> None:
    with pytest.raises(ReviewKeysMissing):
        open_sealed(KEYS, text, "here")
