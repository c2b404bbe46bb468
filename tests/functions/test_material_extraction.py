"""Text out of real documents, and a named reason for every document that gives none."""

from __future__ import annotations

import io
import random
import zipfile

import pytest
from documents import pdf, word
from hypothesis import given
from hypothesis import strategies as st

from functions.errors import InvalidInput
from functions.material import Limits, extract
from functions.material.text import decode, tidy

TEXT = "合同 Contract 1：甲方 pays CNY 48,000.\n第二行 second line"


def reason(name: str, data: bytes, limits: Limits | None = None) -> str:
    with pytest.raises(InvalidInput) as caught:
        extract(name, data, limits)
    assert name in str(caught.value)
    return caught.value.reason


def outcome(name: str, data: bytes) -> str:
    """The text, or the reason why there is none."""
    try:
        return extract(name, data).text
    except InvalidInput as error:
        return error.reason


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030", "gbk"]
)
def test_text_in_any_of_the_known_encodings(encoding: str) -> None:
    assert extract("a.txt", TEXT.encode(encoding)).text == TEXT


def test_markdown_keeps_its_marks_and_any_line_end_becomes_one_kind() -> None:
    found = extract("a.MD", b"# Title\r\n\r\n\r\n\r\n* one  \r* two\n")
    assert (found.kind, found.text) == ("markdown", "# Title\n\n* one\n* two")


def test_html_gives_what_a_reader_sees() -> None:
    page = """<html><head><title>no</title><style>p{}</style></head><body><h1>标题</h1>
    <p>one
    two <b>three</b></p><script>alert(1)</script><!-- hidden --><ul><li>a</li><li>b</li></ul></body></html>"""
    assert extract("a.html", page.encode()).text.split() == ["标题", "one", "two", "three", "a", "b"]
    assert "one two three" in extract("a.htm", page.encode()).text


def test_html_nested_without_end_is_refused_before_it_costs_minutes() -> None:
    with pytest.raises(InvalidInput) as caught:
        extract("a.html", b"<div>" * 200_000 + b"x")
    assert caught.value.reason == "nested too deeply"
    assert extract("a.html", b"<p>a<br><img src=x>" * 3_000).text.startswith("a\n")


@pytest.mark.parametrize("declared", ["gbk", "gb2312", "GB18030"])
def test_html_is_read_in_the_encoding_it_declares(declared: str) -> None:
    page = f'<html><head><meta charset="{declared}"></head><body>中文内容</body></html>'.encode("gb18030")
    assert extract("a.html", page).text == "中文内容"


def test_html_that_declares_the_wrong_encoding_is_read_all_the_same() -> None:
    page = '<meta http-equiv="Content-Type" content="text/html; charset=ascii"><p>中文</p>'.encode()
    assert extract("a.html", page).text == "中文"


def test_pdf_pages_in_order_with_chinese() -> None:
    found = extract("合同.pdf", pdf([["第一页 甲方", "line two"], ["page two 乙方"]]))
    assert found.kind == "pdf"
    assert [line for line in found.text.split("\n") if line] == ["第一页 甲方", "line two", "page two 乙方"]


def test_a_pdf_that_only_restricts_printing_is_read() -> None:
    assert "open to all" in extract("a.pdf", pdf([["open to all"]], owner="boss")).text


def test_docx_paragraphs_headings_and_tables_in_order() -> None:
    data = word(["第一段", "second"], heading="标题", table=[["a", "b"], ["c", "d"]])
    assert extract("a.docx", data).text == "# 标题\n第一段\nsecond\na\tb\nc\td"


def test_a_merged_cell_is_read_once() -> None:
    import docx

    document = docx.Document()
    table = document.add_table(1, 3)
    table.cell(0, 0).merge(table.cell(0, 2)).text = "wide"
    buffer = io.BytesIO()
    document.save(buffer)
    assert extract("a.docx", buffer.getvalue()).text == "wide"


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.pdf", "a.docx"])
@pytest.mark.parametrize("data", [b"", b" \n\t "])
def test_an_empty_file(name: str, data: bytes) -> None:
    assert reason(name, data) == "empty"


def test_files_without_any_text_are_empty_too() -> None:
    assert reason("scan.pdf", pdf([[]])) == "empty"
    assert reason("a.docx", word([])) == "empty"
    assert reason("a.html", b"<html><body><img src=x></body></html>") == "empty"
    assert reason("a.md", b"---\n***\n") == "empty"


def test_encrypted_files() -> None:
    assert reason("a.pdf", pdf([["secret"]], password="pw")) == "encrypted"
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    assert reason("a.docx", ole) == "encrypted or old format"


def test_broken_files() -> None:
    whole = pdf([["text"]])
    assert reason("a.pdf", b"%PDF-1.4\nnothing else") == "broken"
    assert reason("a.pdf", whole[:60]) == "broken"
    docx_file = word(["text"])
    assert reason("a.docx", docx_file[: len(docx_file) // 2]) == "broken"
    assert reason("a.docx", _zip({"word/document.xml": b"<not xml"})) == "broken"


def test_wrong_types() -> None:
    assert reason("a.txt", pdf([["x"]])) == "wrong type"
    assert reason("a.pdf", b"just text") == "wrong type"
    assert reason("a.docx", _zip({"readme": b"x"})) == "wrong type"
    assert reason("a.pdf", word(["x"])) == "wrong type"
    assert reason("a.exe", b"MZ") == "unsupported type"
    assert reason("a.doc", b"old") == "unsupported type"
    assert reason("noname", b"text") == "unsupported type"


def test_a_name_without_extension_is_told_by_its_content() -> None:
    assert extract("scan", pdf([["found"]])).kind == "pdf"
    assert extract("letter", word(["found"])).kind == "docx"


def test_binary_data_called_text() -> None:
    assert reason("a.txt", random.Random(7).randbytes(4000)) in ("not text", "unknown encoding")
    assert reason("a.txt", b"\x00\x01\x02\x03" * 300) in ("not text", "unknown encoding")


def test_limits_of_pages_and_characters() -> None:
    assert reason("a.pdf", pdf([["x"]] * 4), Limits(pages=3)) == "too many pages"
    assert extract("a.pdf", pdf([["x"]] * 3), Limits(pages=3)).text
    assert reason("a.txt", b"x" * 11, Limits(chars=10)) == "too long"
    assert extract("a.txt", b"x" * 10, Limits(chars=10)).text == "x" * 10
    assert reason("a.docx", word(["y" * 20]), Limits(chars=10)) == "too long"


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = _zip({"word/document.xml": b"0" * 30_000_000})
    assert len(bomb) < 100_000
    assert reason("a.docx", bomb) == "too large unpacked"
    assert reason("a.docx", word(["x"]), Limits(unpacked=1000)) == "too large unpacked"


def test_entities_of_a_docx_are_not_expanded() -> None:
    evil = b"""<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "0123456789"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
    <w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>&b;</w:t>
    </w:r></w:p></w:body></w:document>"""
    source = zipfile.ZipFile(io.BytesIO(word(["x"])))
    parts = {name: source.read(name) for name in source.namelist()}
    parts["word/document.xml"] = evil
    assert reason("a.docx", _zip(parts)) in ("broken", "empty")


@given(st.binary(max_size=400), st.sampled_from(["a.txt", "a.md", "a.html", "a.pdf", "a.docx", "x"]))
def test_any_bytes_give_text_or_a_named_reason(data: bytes, name: str) -> None:
    assert outcome(name, data)


@given(st.integers(0, 2000), st.integers(0, 255), st.sampled_from(["pdf", "docx"]))
def test_a_damaged_byte_never_escapes_as_another_error(place: int, value: int, kind: str) -> None:
    data = bytearray(_WHOLE[kind])
    data[place % len(data)] = value
    assert outcome(f"a.{kind}", bytes(data))


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=80), st.sampled_from(["utf-8-sig", "utf-16"]))
def test_text_with_a_mark_is_read_as_it_was_written(text: str, encoding: str) -> None:
    visible = "".join(char for char in text if char >= " " or char in "\t\n\r")
    assert decode(visible.encode(encoding), "a.txt") == visible


@given(st.text(max_size=200))
def test_tidying_twice_changes_nothing_more(text: str) -> None:
    assert tidy(tidy(text)) == tidy(text)


def _zip(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return buffer.getvalue()


_WHOLE = {"pdf": pdf([["甲方 pays"]]), "docx": word(["甲方 pays"])}
