"""ValidateInput through its FC entry: sums, pins, and a path and a reason for every input that cannot be used."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

import pytest
from documents import pdf, word
from handler_kit import TEXT, WORKFLOW, Desk
from loopback import closed_port

from functions.entry import fc_handlers
from functions.errors import InvalidInput, ResultConflict, TemporaryUpstreamError, VersionMismatch
from functions.payloads import Payloads
from ledger import Ledger, Versions

HERE = "task.document"


def stored(data: bytes, name: str = "a.txt") -> dict[str, Any]:
    """A document that lies in OSS, as a caller refers to it."""
    return {"uri": Payloads.open().put(f"inbox/{uuid.uuid4().hex}/{name}", data).uri}


def test_an_inline_document_is_stored_summed_and_the_versions_are_pinned(desk: Desk, cloud: pytest.MonkeyPatch) -> None:
    cloud.setenv("STEPKEEPER_FUNCTION_VERSION", "7")
    cloud.setenv("STEPKEEPER_PROMPT_VERSION", "p3")
    task = desk.validate(title="标题")
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    assert (task["document"]["sha256"], task["document"]["size"]) == (digest, len(TEXT.encode()))
    assert task["versions"] == {"workflow": WORKFLOW, "function": "7", "prompt": "p3", "input": digest}
    assert (task["name"], task["title"], task["material"], task["result"]) == ("合同.md", "标题", None, None)
    assert desk.objects() == ["documents"]
    record = Ledger.open().task(desk.task_id)
    assert record is not None
    assert (record.versions, record.migrations) == (Versions(WORKFLOW, "7", "p3", digest), ())
    row = desk.row("ValidateInput")
    assert (row.state, row.attempt, row.workflow_version) == ("done", 1, WORKFLOW)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("合同.pdf", pdf([["第一页"]])),
        ("a.docx", word(["一段"])),
        ("a.txt", "甲方".encode("gbk")),
        ("a.html", b"<p>x</p>"),
    ],
)
def test_a_document_in_oss_is_named_and_summed_as_it_lies_there(desk: Desk, name: str, data: bytes) -> None:
    task = desk.validate(stored(data, name))
    assert (task["name"], task["document"]["size"]) == (name, len(data))
    assert task["versions"]["input"] == hashlib.sha256(data).hexdigest()
    assert desk.objects() == [], "the caller's own document is not copied"
    assert desk.row("ValidateInput").compensation == ""


def test_a_right_size_and_sum_are_accepted(desk: Desk) -> None:
    data = b"text."
    given = {**stored(data), "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "name": "other.md"}
    assert desk.validate(given)["name"] == "other.md"


BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("neither", {"name": "a.txt"}, HERE, "one of uri and inline"),
    ("both", {"inline": "x", "uri": "oss://abc/k"}, HERE, "one of uri and inline"),
    ("no reference", {"uri": "https://example.com/a"}, f"{HERE}.uri", "not a reference"),
    ("no key", {"uri": "oss://stepkeeper-tests/"}, f"{HERE}.uri", "not a reference"),
    ("another bucket", {"uri": "oss://somebody-else/a.txt"}, f"{HERE}.uri", "another bucket"),
    ("missing", {"uri": "oss://stepkeeper-tests/nowhere/a.txt"}, f"{HERE}.uri", "missing"),
    ("empty", {"inline": "", "name": "a.txt"}, HERE, "empty"),
    ("blank", {"inline": " \n\t", "name": "a.txt"}, HERE, "empty"),
    ("unknown kind", {"inline": "x", "name": "a.exe"}, HERE, "unsupported type"),
    ("text called pdf", {"inline": "hello", "name": "a.pdf"}, HERE, "wrong type"),
    ("pdf called text", {"inline": "%PDF-1.7 hello", "name": "a.txt"}, HERE, "wrong type"),
    ("no document", {}, HERE, "one of uri and inline"),
    ("wrong type", {"inline": 5}, f"{HERE}.inline", "string_type"),
    ("a typo", {"inline": "x", "nmae": "a.txt"}, f"{HERE}.nmae", "extra_forbidden"),
    ("a bad sum", {"inline": "x", "sha256": "abc"}, f"{HERE}.sha256", "string_pattern_mismatch"),
    ("a negative size", {"inline": "x", "size": -1}, f"{HERE}.size", "greater_than_equal"),
    ("no name", {"inline": "x", "name": ""}, f"{HERE}.name", "string_too_short"),
]


@pytest.mark.parametrize(("document", "path", "reason"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_a_bad_document_is_refused_with_its_path_and_the_reason(
    desk: Desk, document: dict[str, Any], path: str, reason: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        desk.ask(
            "validate_input",
            "ValidateInput",
            workflow=WORKFLOW,
            task={"task_id": desk.task_id, "document": document},
        )
    assert (caught.value.path, caught.value.reason) == (path, reason)
    assert Ledger.open().task(desk.task_id) is None, "nothing is pinned"
    assert set(desk.states().values()) <= {"failed"}


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [({"size": 4}, f"{HERE}.size", "size differs"), ({"sha256": "0" * 64}, f"{HERE}.sha256", "content differs")],
)
def test_what_the_caller_claims_of_the_document_is_checked(
    desk: Desk, change: dict[str, Any], path: str, reason: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        desk.validate({**stored(b"text."), **change})
    assert (caught.value.path, caught.value.reason) == (path, reason)
    assert desk.states() == {"ValidateInput": "failed"}


def test_a_document_over_the_limit_is_refused_and_one_at_the_limit_is_not(
    desk: Desk, cloud: pytest.MonkeyPatch
) -> None:
    cloud.setenv("STEPKEEPER_DOCUMENT_BYTES", "9")
    for document in (stored("三个字x".encode()), {"inline": "三个字x", "name": "a.txt"}):
        with pytest.raises(InvalidInput) as caught:
            desk.validate(document)
        assert (caught.value.path, caught.value.reason) == (HERE, "too large")
        desk.attempt += 1
    assert desk.validate({"inline": "三个字", "name": "a.txt"})["document"]["size"] == 9
    assert desk.states() == {"ValidateInput": "failed", "ValidateInput@2": "failed", "ValidateInput@3": "done"}


@pytest.mark.parametrize(
    "task_id", ["", " x", "x ", "a\nb", "x" * 129, "中" * 43, 5, None], ids=lambda value: repr(value)[:12]
)
def test_a_task_id_that_cannot_be_a_key_is_refused(desk: Desk, task_id: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        desk.ask("validate_input", "ValidateInput", workflow=WORKFLOW, task={"task_id": task_id, "document": {}})
    assert caught.value.path == "task.task_id"


@pytest.mark.parametrize("event", [b"", b"null", b"[1]", b"\xff\xfe\x00", b"{}", b'"text"', b'{"step": "a@2"}'])
def test_an_event_that_is_none_is_refused(cloud: pytest.MonkeyPatch, event: bytes) -> None:
    with pytest.raises(InvalidInput):
        fc_handlers.validate_input(event, None)


def test_the_same_again_is_replayed(desk: Desk) -> None:
    assert desk.validate() == desk.validate()
    row = desk.row("ValidateInput")
    assert (row.state, row.attempt) == ("done", 1)


def test_another_document_under_the_same_id_is_a_conflict(desk: Desk) -> None:
    desk.validate()
    with pytest.raises(ResultConflict):
        desk.validate({"inline": "something else", "name": "b.txt"})
    assert desk.row("ValidateInput").state == "done"


def test_a_corrected_input_is_pinned_anew_and_the_record_says_so(desk: Desk) -> None:
    first = desk.validate()
    desk.attempt = 2
    second = desk.validate({"inline": "corrected.", "name": "b.txt"})
    assert second["versions"] == {**first["versions"], "input": second["document"]["sha256"]}
    record = Ledger.open().task(desk.task_id)
    assert record is not None
    (migration,) = record.migrations
    assert (migration.before.input, migration.after.input) == (
        first["versions"]["input"],
        second["versions"]["input"],
    )
    assert migration.reason == "corrected input, lap 2"
    assert desk.states() == {"ValidateInput": "done", "ValidateInput@2": "done"}


@pytest.mark.parametrize("name", ["STEPKEEPER_FUNCTION_VERSION", "STEPKEEPER_PROMPT_VERSION"])
def test_a_correction_may_change_the_input_and_nothing_else(desk: Desk, cloud: pytest.MonkeyPatch, name: str) -> None:
    first = desk.validate()
    cloud.setenv(name, "2")
    desk.attempt = 2
    with pytest.raises(VersionMismatch) as caught:
        desk.validate({"inline": "corrected.", "name": "b.txt"})
    kind = name.split("_")[1].lower()
    assert (caught.value.pinned[kind], caught.value.given[kind]) == ("1", "2")
    record = Ledger.open().task(desk.task_id)
    assert record is not None
    assert (record.versions.input, record.migrations) == (first["versions"]["input"], ())
    assert desk.states() == {"ValidateInput": "done", "ValidateInput@2": "failed"}


def test_a_first_lap_never_moves_the_pins(desk: Desk, cloud: pytest.MonkeyPatch) -> None:
    Ledger.open().begin(desk.task_id, Versions(WORKFLOW, "1", "1", "another input"))
    with pytest.raises(VersionMismatch):
        desk.validate()
    assert desk.states() == {"ValidateInput": "failed"}


def test_a_store_out_of_reach_is_temporary(desk: Desk, cloud: pytest.MonkeyPatch) -> None:
    with cloud.context() as patch:
        patch.setenv("OSS_ENDPOINT", f"http://127.0.0.1:{closed_port()}")
        with pytest.raises(TemporaryUpstreamError) as caught:
            desk.validate()
        assert caught.value.upstream == "oss"
    assert desk.states() == {"ValidateInput": "failed"}
    assert desk.validate()["task_id"] == desk.task_id
    assert desk.row("ValidateInput").attempt == 2


def test_a_ledger_out_of_reach_is_temporary(desk: Desk, cloud: pytest.MonkeyPatch) -> None:
    with cloud.context() as patch:
        patch.setenv("TABLESTORE_ENDPOINT", f"http://127.0.0.1:{closed_port()}")
        patch.setenv("STEPKEEPER_STORE_DEADLINE_SECONDS", "0.3")
        with pytest.raises(TemporaryUpstreamError) as caught:
            desk.validate()
        assert caught.value.upstream == "ledger"
    assert (desk.rows(), desk.objects()) == ([], [])
