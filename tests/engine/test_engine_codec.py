"""Events and commands as JSON: what the journal stores comes back equal."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_sim.definition.model import TaskMode
from local_sim.engine import (
    BadEventError,
    Command,
    EngineError,
    Event,
    Ignored,
    Reason,
    Started,
    Status,
    TaskFailed,
    decode_command,
    decode_event,
    encode_command,
    encode_event,
)

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
_BY_ANNOTATION: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(0, 2**53),
    "int | None": st.none() | st.integers(0, 2**53),
    "float | None": st.none() | st.floats(0, 100),
    "str": st.text(),
    "str | None": st.none() | st.text(),
    "bool": st.booleans(),
    "Json": JSON,
    "list[Json]": st.lists(JSON),
    "Status": st.sampled_from(Status),
    "TaskMode": st.sampled_from(TaskMode),
    "Reason": st.sampled_from(Reason),
    "tuple[str, ...]": st.lists(st.text()).map(tuple),
}


def _instances(kind: type[Any]) -> st.SearchStrategy[Any]:
    return st.builds(kind, **{item.name: _BY_ANNOTATION[str(item.type)] for item in fields(kind)})


EVENTS = st.one_of([_instances(kind) for kind in get_args(Event)])
COMMANDS = st.one_of([_instances(kind) for kind in get_args(Command)])


@given(EVENTS)
def test_an_event_comes_back_equal_through_json_text(event: Event) -> None:
    assert decode_event(json.loads(json.dumps(encode_event(event)))) == event


@given(COMMANDS)
def test_a_command_comes_back_equal_through_json_text(command: Command) -> None:
    assert decode_command(json.loads(json.dumps(encode_command(command)))) == command


def test_an_event_names_its_type_and_every_field() -> None:
    assert encode_event(TaskFailed(5, 7, "CardDeclined", "no money")) == {
        "type": "TaskFailed",
        "at_ms": 5,
        "task_id": 7,
        "error": "CardDeclined",
        "cause": "no money",
    }


def test_a_field_with_a_default_may_be_missing() -> None:
    assert decode_event({"type": "TaskFailed", "at_ms": 5, "task_id": 7, "error": "E"}) == TaskFailed(5, 7, "E")


def test_a_reason_comes_back_as_the_enum_and_a_free_text_as_text() -> None:
    assert decode_command(encode_command(Ignored(Reason.TIMED_OUT, 3))) == Ignored(Reason.TIMED_OUT, 3)
    cancelled = decode_command({"type": "CancelTask", "task_id": 3, "reason": "TimedOut"})
    assert type(cancelled.reason) is str  # type: ignore[union-attr]


def test_input_is_kept_as_it_is() -> None:
    huge = 10**400
    assert decode_event(encode_event(Started(0, {"n": huge, "x": [None, 1.5]}, "s"))).input == {
        "n": huge,
        "x": [None, 1.5],
    }  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (None, "an object with a type was expected"),
        ([], "an object with a type was expected"),
        ({}, "an object with a type was expected"),
        ({"type": 3}, "an object with a type was expected"),
        ({"type": "Nothing"}, "unknown type 'Nothing'"),
        ({"type": "InvokeTask"}, "unknown type 'InvokeTask'"),
        ({"type": "Started", "at_ms": 1, "input": {}}, "Started lacks the field 'seed'"),
        ({"type": "Started", "at_ms": 1, "input": {}, "seed": "", "sed": ""}, "Started has no field 'sed'"),
        (
            {"type": "ChildFinished", "at_ms": 1, "map_run": 1, "index": 0, "status": "Done"},
            "ChildFinished: 'Done' is not a valid Status",
        ),
    ],
)
def test_what_is_no_event_is_refused_with_the_reason(stored: object, reason: str) -> None:
    with pytest.raises(BadEventError) as caught:
        decode_event(stored)
    assert caught.value.reason == reason
    assert caught.value.found is stored
    assert isinstance(caught.value, EngineError)
