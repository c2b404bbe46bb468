"""Sizes are counted as UTF-8 of what is really sent (cases C54, C55)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.errors import SystemFault
from functions.events import answer_text
from functions.models import Inline, PayloadRef
from functions.payloads import Payloads, sent_bytes
from functions.settings import Settings

FRAME = sent_bytes({"text": ""})


@pytest.mark.parametrize("char", ["a", "中", "😀", '"', "\\", "\n", "\x01"])
@pytest.mark.parametrize("over", [-1, 0, 1])
def test_the_limit_of_an_answer_is_exact_in_every_script(char: str, over: int) -> None:
    limit = 4096
    settings = Settings(state_bytes=limit)
    width = sent_bytes({"text": char}) - FRAME
    room = limit - FRAME + over
    text = char * (room // width) + "a" * (room % width)
    assert sent_bytes({"text": text}) == limit + over
    if over > 0:
        with pytest.raises(SystemFault, match="STEPKEEPER_STATE_BYTES"):
            answer_text({"text": text}, settings)
    else:
        assert len(answer_text({"text": text}, settings).encode()) == limit + over


def test_the_default_limit_leaves_headroom_below_64_kib_for_what_the_flow_adds() -> None:
    assert Settings().state_bytes == 60 * 1024


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=40), max_size=5))
def test_what_is_counted_is_what_is_sent(value: dict[str, Any]) -> None:
    try:
        size = sent_bytes(value)
    except UnicodeEncodeError:  # half a surrogate pair is refused at the door, see test_event_parsing
        return
    text = answer_text(value, Settings(state_bytes=65536))
    assert len(text.encode()) == size
    assert json.loads(text) == value


@given(st.text(st.characters(codec="utf-8"), max_size=200), st.integers(0, 200))
def test_inline_or_reference_is_decided_by_bytes_sent(text: str, limit: int) -> None:
    stored: dict[str, bytes] = {}

    class Kept(Payloads):
        def __init__(self) -> None:
            self.settings = Settings(inline_bytes=limit)

        def put(self, key: str, data: bytes, content_type: str = "") -> PayloadRef:
            stored[key] = data
            return PayloadRef(uri=f"oss://bucket/{key}", size=len(data), sha256="0" * 64)

    packed = Kept().pack(text, "k")
    assert isinstance(packed, Inline) == (sent_bytes({"inline": text}) <= limit)
    assert stored == ({} if isinstance(packed, Inline) else {"k": text.encode()})


def looped() -> dict[str, Any]:
    value: dict[str, Any] = {"x": []}
    value["x"].append(value)
    return value


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"x": float("nan")}, "not JSON compliant"),
        ({"x": [float("-inf")]}, "not JSON compliant"),
        (looped(), "Circular reference"),
        ({"x": b"bytes"}, "bytes is not JSON serializable"),
        ({"x": {1, 2}}, "set is not JSON serializable"),
        ({"x": "\ud800"}, "surrogates not allowed"),
    ],
)
def test_what_json_cannot_carry_is_not_sent_and_says_so(answer: dict[str, Any], problem: str) -> None:
    with pytest.raises(SystemFault, match=f"the answer is not JSON: .*{problem}"):
        answer_text(answer, Settings())
