"""PrepareMaterial through its FC entry: real documents, and the reviewer's note."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from documents import pdf, word
from handler_kit import Desk

from functions.errors import InvalidInput, ResultConflict, VersionMismatch
from functions.models import PayloadRef
from functions.payloads import Payloads


def given(desk: Desk, name: str, data: bytes) -> dict[str, Any]:
    uri = Payloads.open().put(f"inbox/{uuid.uuid4().hex}/{name}", data).uri
    return desk.validate({"uri": uri})


def text_of(ref: Any) -> str:
    return Payloads.open().read(PayloadRef(**ref)).decode()


@pytest.mark.parametrize(
    ("name", "data", "wanted"),
    [
        ("合同.pdf", pdf([["第一页 甲方"], ["page two"]]), ["第一页 甲方", "page two"]),
        ("a.docx", word(["第一段", "second"], heading="标题"), ["# 标题", "第一段", "second"]),
        ("gbk.txt", "甲方每月支付".encode("gbk"), ["甲方每月支付"]),
        ("a.htm", '<meta charset="gb2312"><p>中文</p>'.encode("gb2312"), ["中文"]),
        ("b.md", "\ufeff# 标题\r\n内容".encode(), ["# 标题", "内容"]),
    ],
)
def test_the_text_of_a_real_document_lies_in_oss(desk: Desk, name: str, data: bytes, wanted: list[str]) -> None:
    task = desk.material(given(desk, name, data))
    assert [line for line in text_of(task["material"]).split("\n") if line] == wanted
    assert task["note"] is None
    row = desk.row("PrepareMaterial")
    assert (row.state, row.attempt, row.compensation != "") == ("done", 1, True)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("locked.pdf", pdf([["x"]], password="pw"), "encrypted"),
        ("scan.pdf", pdf([[]]), "empty"),
        ("cut.pdf", pdf([["x"]])[:300], "broken"),
        ("bin.txt", b"MZ\x00\x01\x02\x03", "not text"),
    ],
)
def test_a_document_without_text_names_the_path_and_the_reason(desk: Desk, name: str, data: bytes, reason: str) -> None:
    task = given(desk, name, data)
    with pytest.raises(InvalidInput) as caught:
        desk.material(task)
    assert caught.value.path == "task.document"
    assert caught.value.reason == reason
    assert desk.states() == {"ValidateInput": "done", "PrepareMaterial": "failed"}
    assert desk.objects() == []


def test_limits_of_pages_and_text_are_kept(desk: Desk, cloud: pytest.MonkeyPatch) -> None:
    task = given(desk, "long.pdf", pdf([["one"], ["two"], ["three"]]))
    cloud.setenv("STEPKEEPER_DOCUMENT_PAGES", "2")
    with pytest.raises(InvalidInput, match="pages"):
        desk.material(task)
    cloud.setenv("STEPKEEPER_DOCUMENT_PAGES", "3")
    assert desk.material(task)["material"]["size"] > 0
    assert desk.row("PrepareMaterial").attempt == 2


def test_a_document_that_was_changed_after_it_was_pinned_is_refused(desk: Desk) -> None:
    task = given(desk, "a.txt", b"pinned text.")
    payloads = Payloads.open()
    key = PayloadRef(**task["document"]).key
    payloads.bucket.remove(key)
    payloads.put(key, b"another one.")
    with pytest.raises(InvalidInput) as caught:
        desk.material(task)
    assert (caught.value.path, caught.value.reason) == ("task.document", "content differs")


def test_a_short_note_travels_inline_and_a_long_one_by_reference(desk: Desk, cloud: pytest.MonkeyPatch) -> None:
    task = desk.validate()
    desk.attempt = 2
    short = desk.material(task, decision="more_info", note="  请说明付款日期 ")
    assert short["note"] == {"inline": "请说明付款日期"}
    desk.attempt = 3
    long = desk.material(task, decision="more_info", note="长" * 400)
    assert (text_of(long["note"]), "inline" in long["note"]) == ("长" * 400, False)
    assert desk.states() == {"ValidateInput": "done", "PrepareMaterial@2": "done", "PrepareMaterial@3": "done"}
    assert desk.objects() == ["documents", "material", "material", "notes"]


def test_a_blank_note_is_none(desk: Desk) -> None:
    assert desk.material(desk.validate(), note="  \n")["note"] is None


def test_another_note_in_the_same_lap_is_a_conflict(desk: Desk) -> None:
    task = desk.validate()
    desk.material(task, note="one")
    with pytest.raises(ResultConflict):
        desk.material(task, note="two")
    assert desk.row("PrepareMaterial").state == "done"


def test_a_task_pinned_to_other_versions_is_refused(desk: Desk, cloud: pytest.MonkeyPatch) -> None:
    task = desk.validate()
    cloud.setenv("STEPKEEPER_FUNCTION_VERSION", "2")
    with pytest.raises(VersionMismatch) as caught:
        desk.material(task)
    assert (caught.value.pinned["function"], caught.value.given["function"]) == ("1", "2")
    assert desk.states() == {"ValidateInput": "done"}
