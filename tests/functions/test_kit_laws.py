"""Laws of what travels: events come back as they went, sizes leave room, secrets never show (cases C54, C55)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from functions import models
from functions.errors import InvalidInput, SystemFault, describe, redact
from functions.events import answer_text, parse_event
from functions.payloads import sent_bytes
from functions.settings import Settings

ROOT = Path(__file__).parents[2]
TEXT = st.text(st.characters(codec="utf-8"), max_size=40)
SHA = st.text("0123456789abcdef", min_size=64, max_size=64)
NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=255)
ID = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=32)
REFS = st.builds(
    models.PayloadRef,
    uri=st.builds(
        "oss://{}/{}".format,
        st.from_regex(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]", fullmatch=True),
        st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1, max_size=300),
    ),
    size=st.integers(0, 10**12),
    sha256=SHA,
)
PINS = st.builds(models.Pins, workflow=ID, function=ID, prompt=ID, input=SHA)
TASKS = st.builds(
    models.Task,
    task_id=ID,
    name=NAME,
    title=st.none() | st.text(st.characters(codec="utf-8"), max_size=200),
    versions=PINS,
    document=REFS,
    material=st.none() | REFS,
    note=st.none() | REFS | st.builds(models.Inline, inline=TEXT),
    draft=st.none() | REFS,
    result=st.none() | REFS,
)
REVIEWS = st.builds(models.Review, decision=TEXT, note=TEXT, by=TEXT)
DOCUMENTS = st.builds(
    models.DocumentInput,
    uri=st.none() | TEXT,
    size=st.none() | st.integers(0, 10**9),
    sha256=st.none() | SHA,
    inline=st.none() | TEXT,
    name=st.none() | NAME,
)
INPUTS = st.builds(models.TaskInput, task_id=ID, document=DOCUMENTS, title=st.none() | TEXT)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT, lambda inner: st.lists(inner, max_size=3), max_leaves=4
)
ERRORS = st.builds(models.ErrorContext, code=TEXT, detail=st.none() | TEXT | st.dictionaries(TEXT, JSON, max_size=3))
ANSWERS = st.builds(
    models.Answer,
    decision=st.sampled_from(["retry", "compensate", "abandon"]),
    applied=st.none() | st.booleans(),
    result=st.none() | st.dictionaries(TEXT, JSON, max_size=3),
    accept_versions=st.booleans(),
    by=TEXT,
    reason=TEXT,
)
STEP = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,20}", fullmatch=True)
LAP = st.integers(1, 10_000)
COMMON = {"step": STEP, "attempt": LAP}
LOOSE = {**COMMON, "workflow": ID, "execution": ID, "task": JSON}
WAITING = {**LOOSE, "error": ERRORS, "token": st.text(st.characters(codec="utf-8"), min_size=1, max_size=80)}
FIELDS: dict[str, dict[str, Any]] = {
    "ValidateEvent": {**COMMON, "workflow": ID, "task": INPUTS},
    "MaterialEvent": {**COMMON, "task": TASKS, "review": REVIEWS},
    "DraftEvent": {**COMMON, "task": TASKS, "review": REVIEWS},
    "ReviewEvent": {**COMMON, "task": TASKS, "token": WAITING["token"]},
    "SaveEvent": {**COMMON, "task": TASKS, "review": REVIEWS},
    "CheckEvent": {**COMMON, "task": TASKS},
    "NotifyEvent": {**COMMON, "task": TASKS},
    "CompensateEvent": {**LOOSE, "outcome": st.from_regex(r"[a-z_]{1,20}", fullmatch=True)},
    "CorrectionEvent": WAITING,
    "HandOverEvent": {**WAITING, "failed_step": STEP, "failed_attempt": LAP},
    "DecisionEvent": {**LOOSE, "failed_step": STEP, "failed_attempt": LAP, "answer": ANSWERS},
}
every_event = pytest.mark.parametrize("name", sorted(FIELDS))


def test_every_event_of_a_handler_is_tried_here() -> None:
    bases = {"Event", "LooseEvent", "PinnedEvent", "SimpleEvent", "TaskEvent"}
    assert set(FIELDS) == {name for name in models.__all__ if name.endswith("Event")} - bases


@every_event
@settings(max_examples=25)
@given(data=st.data())
def test_an_event_comes_back_from_the_wire_as_it_went(name: str, data: st.DataObject) -> None:
    kind: type[BaseModel] = getattr(models, name)
    event = data.draw(st.builds(kind, **FIELDS[name]))
    wire = json.dumps(event.model_dump(), ensure_ascii=False).encode()
    assert parse_event(wire, kind) == event
    assert kind.model_validate_json(event.model_dump_json()) == event


@every_event
@settings(max_examples=25)
@given(data=st.data(), extra=st.from_regex(r"[a-z]{3,8}_x", fullmatch=True))
def test_a_field_nobody_knows_is_refused_by_its_path(name: str, data: st.DataObject, extra: str) -> None:
    kind: type[BaseModel] = getattr(models, name)
    event = data.draw(st.builds(kind, **FIELDS[name]))
    with pytest.raises(InvalidInput) as caught:
        parse_event({**event.model_dump(), extra: 1}, kind)
    assert caught.value.path == extra


@given(REFS)
def test_bucket_and_key_are_what_the_reference_was_made_of(ref: models.PayloadRef) -> None:
    assert f"oss://{ref.bucket}/{ref.key}" == ref.uri
    assert "/" not in ref.bucket


@given(TASKS)
@settings(max_examples=40)
def test_control_data_is_small_whatever_it_holds(task: models.Task) -> None:
    assert sent_bytes(task.model_dump()) < 16 * 1024


@pytest.mark.parametrize("char", ["a", "中", "😀"])
@pytest.mark.parametrize("size", [65_535, 65_536, 65_537])
def test_the_limit_of_a_state_counts_bytes_in_every_script(char: str, size: int) -> None:
    room = size - sent_bytes({"text": ""})
    width = len(char.encode())
    answer = {"text": char * (room // width) + "a" * (room % width)}
    settings = Settings(state_bytes=65_536)
    if size <= 65_536:
        assert len(answer_text(answer, settings).encode()) == size
    else:
        with pytest.raises(SystemFault, match="65537 bytes; 65536 are allowed"):
            answer_text(answer, settings)


@pytest.mark.parametrize("below", [10, 50, 200])
def test_an_answer_just_under_the_limit_still_fits_with_what_the_flow_adds(below: int) -> None:
    limit = Settings().state_bytes
    answer = {"text": "x" * (limit - below - sent_bytes({"text": ""}))}
    assert len(answer_text(answer, Settings()).encode()) == limit - below
    assert limit - below + added_by_flows() <= 64 * 1024


def added_by_flows() -> int:
    """Bytes of the largest literal part that a state of the shipped flows adds to what a function answered."""
    most = 0
    for file in (ROOT / "flows").glob("*.yaml"):
        for state in yaml.safe_load(file.read_text(encoding="utf-8"))["States"]:
            for rule in [state, *state.get("Catch", [])]:
                added = {key: value for key, value in rule.get("OutputConstructor", {}).items() if key != "task.$"}
                most = max(most, sent_bytes(added))
    assert most > 100
    return most


SECRET = st.from_regex(r"[A-Za-z0-9]{12,40}", fullmatch=True)
FORMS = st.sampled_from(
    [
        "password={}",
        "Bearer {}",
        '"api_key": "{}"',
        "Signature={}",
        "security_token: {}",
        "sk-{}",
        "LTAI{}",
        "STS.{}",
        "OSSAccessKeyId={}",
        "DASHSCOPE_API_KEY='{}'",
    ]
)
BETWEEN = st.sampled_from([" ", "\n", ", ", "{", "(", "?", "&", "；"])


@given(st.lists(st.tuples(TEXT, BETWEEN, FORMS, SECRET, BETWEEN), min_size=1, max_size=4), st.integers(20, 2000))
def test_a_secret_never_shows_wherever_it_stands(parts: list[tuple[str, str, str, str, str]], limit: int) -> None:
    text = "".join(f"{noise}{before}{form.format(secret)}{after}" for noise, before, form, secret, after in parts)
    shown = redact(text, limit)
    assert len(shown) <= limit
    assert not any(secret in shown for *_, secret, _ in parts)


@given(TEXT, st.integers(1, 100))
def test_redacting_twice_changes_nothing_more(text: str, limit: int) -> None:
    once = redact(text, limit)
    assert redact(once, limit) == once
    assert len(once) <= limit


@given(FORMS, SECRET, st.sampled_from(["message", "details", "cause"]))
def test_no_part_of_a_described_error_shows_a_secret(form: str, secret: str, where: str) -> None:
    text = f"it failed: {form.format(secret)} (see the log)"
    error = SystemFault(
        text if where == "message" else "broken", note={"inner": [text]} if where == "details" else None
    )
    if where == "cause":
        error.__cause__ = ValueError(text)
    assert secret not in json.dumps(describe(error))
    assert secret not in str(error)
    assert secret not in error.message
