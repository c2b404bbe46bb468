"""Any bytes become a checked event or `InvalidInput` (case C53)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.errors import InvalidInput
from functions.events import parse_event, read_json
from functions.models import Event, LooseEvent, NotifyEvent, ValidateEvent

PINS = {"workflow": "w-1", "function": "1", "prompt": "1", "input": "1"}
REF = {"uri": "oss://bucket-1/a/中 文.txt", "size": 3, "sha256": "a" * 64}
TASK = {"task_id": "t", "name": "a.txt", "versions": PINS, "document": REF}
GOOD = {"step": "Notify", "attempt": 2, "task": TASK}


def reason(event: object) -> str:
    with pytest.raises(InvalidInput) as caught:
        parse_event(event, NotifyEvent)
    assert caught.value.effect_applied is False
    return caught.value.reason


@pytest.mark.parametrize(
    "form", [json.dumps(GOOD).encode(), json.dumps(GOOD), GOOD, bytearray(json.dumps(GOOD), "utf-8")]
)
def test_bytes_text_and_parsed_values_are_alike(form: object) -> None:
    event = parse_event(form, NotifyEvent)
    assert (event.step, event.attempt, event.task.document.key) == ("Notify", 2, "a/中 文.txt")


def test_a_byte_order_mark_is_no_part_of_the_event() -> None:
    assert parse_event(b"\xef\xbb\xbf" + json.dumps(GOOD).encode(), NotifyEvent).attempt == 2
    assert parse_event("\ufeff" + json.dumps(GOOD), NotifyEvent).attempt == 2


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"null", "not an object"),
        (None, "not an object"),
        (b"[1]", "not an object"),
        (b"7", "not an object"),
        (b'"text"', "not an object"),
        (b"true", "not an object"),
        (b"{", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b'{"a": NaN}', "not JSON"),
        (b'{"a": Infinity}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"a": "\xe4\xb8"}', "not UTF-8"),
        (b'{"a": "\\ud800"}', "not Unicode text"),
    ],
)
def test_what_cannot_be_an_event_says_why(event: object, expected: str) -> None:
    assert reason(event) == expected


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"step": ""}, "step"),
        ({"step": "a@2"}, "step"),
        ({"attempt": 0}, "attempt"),
        ({"attempt": "1"}, "attempt"),
        ({"attempt": True}, "attempt"),
        ({"attempt": None}, "attempt"),
        ({"typo": 1}, "typo"),
        ({"task": None}, "task"),
        ({"task": {**TASK, "task_id": "x" * 129}}, "task.task_id"),
        ({"task": {**TASK, "task_id": "中" * 43}}, "task.task_id"),
        ({"task": {**TASK, "task_id": " t"}}, "task.task_id"),
        ({"task": {**TASK, "task_id": "a\nb"}}, "task.task_id"),
        ({"task": {**TASK, "document": {**REF, "size": -1}}}, "task.document.size"),
        ({"task": {**TASK, "document": {**REF, "sha256": "A" * 64}}}, "task.document.sha256"),
        ({"task": {**TASK, "document": {**REF, "uri": "http://x/y"}}}, "task.document.uri"),
        ({"task": {**TASK, "document": {**REF, "uri": "oss://b"}}}, "task.document.uri"),
        ({"task": {**TASK, "versions": {**PINS, "prompt": ""}}}, "task.versions.prompt"),
        ({"task": {**TASK, "note": {"inline": 5}}}, "task.note.uri"),
    ],
)
def test_a_bad_field_is_named_by_its_path(change: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_event({**GOOD, **change}, NotifyEvent)
    assert caught.value.path == path
    assert str(caught.value).startswith(path)


def test_a_missing_field_is_named_too() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_event({"step": "x", "workflow": "w", "task": {"task_id": "t"}}, ValidateEvent)
    assert caught.value.path == "task.document"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value = read_json(data)
    except InvalidInput:
        return
    assert json.loads(json.dumps(value)) == value


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=8))
def test_any_task_gives_a_usable_id(task: Any) -> None:
    for given_task in (task, {"task_id": task}):
        event = LooseEvent(step="NeedInput", workflow="w", execution="run-1", task=given_task)
        assert event.task_id.strip()
        assert len(event.task_id.encode(errors="replace")) <= 128


def test_a_good_id_is_used_and_a_bad_one_is_replaced_by_the_execution() -> None:
    def task_id(task: Any) -> str:
        return LooseEvent(step="s", workflow="w", execution="run-1", task=task).task_id

    assert task_id({"task_id": "任务 7", "other": 1}) == "任务 7"
    assert task_id({"task_id": 7}) == "execution run-1"
    assert task_id([]) == "execution run-1"


def test_events_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Event(step="x").attempt = 2  # type: ignore[misc]
