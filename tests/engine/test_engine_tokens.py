"""Callback tokens: shape, signature, and what is refused (API page 7; C43)."""

from __future__ import annotations

import base64
import json
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_sim.engine import BadTokenError, EngineError, make_token, parse_token, verify_token

SECRET = b"a secret of this installation"
NAMES = st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_-]{0,127}\Z")


def test_token_has_the_published_shape() -> None:
    text = base64.b64decode(make_token(SECRET, "review", "run-1", 42)).decode()
    version, flow, execution, event_id, mac = text.split("#")
    assert (version, flow, execution, event_id) == ("v1", "review", "run-1", "42")
    assert len(base64.b64decode(mac)) == 20


@given(NAMES, NAMES, st.integers(1, 5000))
def test_token_says_what_it_was_made_for(flow: str, execution: str, event_id: int) -> None:
    token = verify_token(make_token(SECRET, flow, execution, event_id), SECRET)
    assert (token.flow, token.execution, token.event_id) == (flow, execution, event_id)


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20).filter(lambda name: "#" not in name))
def test_execution_names_with_odd_characters_survive(execution: str, flow: str) -> None:
    try:
        flow.encode(), execution.encode()
    except UnicodeEncodeError:
        return
    assert verify_token(make_token(SECRET, flow, execution, 7), SECRET).execution == execution


@given(NAMES, st.integers(1, 10**6), st.binary(min_size=1, max_size=40))
def test_tokens_survive_link_json_and_header(name: str, event_id: int, secret: bytes) -> None:
    token = make_token(secret, name, name, event_id)
    once = urllib.parse.quote(token, safe="")
    assert urllib.parse.unquote(once) == token
    assert urllib.parse.unquote(urllib.parse.unquote(urllib.parse.quote(once, safe=""))) == token
    assert json.loads(json.dumps(token)) == token
    assert token.isascii()
    assert token.isprintable()
    assert " " not in token


@pytest.mark.parametrize(
    "token",
    [
        "",
        "made up",
        "中文",
        "a b+c/d=",
        "%%%",
        base64.b64encode(b"v1#f#e#1").decode(),
        base64.b64encode(b"v2#f#e#1#AAAAAAAAAAAAAAAAAAAAAAAAAAA=").decode(),
        base64.b64encode(b"v1#f#e#x#AAAAAAAAAAAAAAAAAAAAAAAAAAA=").decode(),
        base64.b64encode("v1#f#e#٣#AAAAAAAAAAAAAAAAAAAAAAAAAAA=".encode()).decode(),
        base64.b64encode(b"v1#f#e#" + b"9" * 5000 + b"#AAAAAAAAAAAAAAAAAAAAAAAAAAA=").decode(),
        base64.b64encode(b"v1#f#e#1#AAAA").decode(),
        base64.b64encode(b"v1#f#e#1#no base64").decode(),
        base64.b64encode(b"\xff\xfe").decode(),
    ],
)
def test_malformed_tokens_are_refused(token: str) -> None:
    with pytest.raises(BadTokenError) as caught:
        parse_token(token)
    assert caught.value.reason == "the task token is malformed"
    assert not caught.value.forged


def test_a_changed_token_is_told_from_a_malformed_one() -> None:
    other = make_token(b"another secret", "f", "e", 1)
    assert parse_token(other).event_id == 1
    with pytest.raises(BadTokenError) as caught:
        verify_token(other, SECRET)
    assert caught.value.forged


@given(st.integers(0, 200), st.integers(1, 255))
def test_no_changed_byte_of_a_token_is_accepted(at: int, flip: int) -> None:
    good = make_token(SECRET, "flow", "execution", 12)
    raw = bytearray(base64.b64decode(good))
    raw[at % len(raw)] ^= flip
    changed = base64.b64encode(bytes(raw)).decode()
    try:
        token = verify_token(changed, SECRET)
    except EngineError:
        return
    # Unused bits at the end of the inner base64 are the only thing a change may leave without effect.
    assert token == verify_token(good, SECRET)
