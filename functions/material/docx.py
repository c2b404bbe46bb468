"""Text of a DOCX: paragraphs and tables in the order of the body."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from functions.errors import InvalidInput

__all__ = ["docx_blocks"]

MAX_RATIO = 200
"""Unpacked to packed size of one part, above which it is a bomb: XML of real documents stays below 40."""


def docx_blocks(data: bytes, name: str, max_unpacked: int) -> Iterator[str]:
    """The text of each paragraph and table row. Raises `InvalidInput` for a broken file and for one that unpacks too
    big.
    """
    _check_zip(data, name, max_unpacked)
    yield from _blocks(_open(data, name))


def _check_zip(data: bytes, name: str, max_unpacked: int) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise InvalidInput(f"{name} is a broken DOCX: {error}", reason="broken") from error
    if any(part.flag_bits & 1 for part in parts):
        raise InvalidInput(f"{name} is encrypted; send it without a password", reason="encrypted")
    total = sum(part.file_size for part in parts)
    bomb = any(part.file_size > 1_000_000 and part.file_size > MAX_RATIO * max(part.compress_size, 1) for part in parts)
    if total > max_unpacked or bomb:
        raise InvalidInput(f"{name} unpacks to {total} bytes; {max_unpacked} are allowed", reason="too large unpacked")


def _open(data: bytes, name: str) -> Any:
    import docx

    try:
        return docx.Document(io.BytesIO(data))
    except Exception as error:
        raise InvalidInput(f"{name} is a broken DOCX: its parts cannot be read", reason="broken") from error


def _blocks(container: Any) -> Iterator[str]:
    """Paragraphs and rows of a document or a cell, nested tables included. Merged cells are read once."""
    for item in container.iter_inner_content():
        if hasattr(item, "rows"):
            for row in item.rows:
                cells = {id(cell._tc): cell for cell in row.cells}
                yield "\t".join(" ".join(_blocks(cell)).strip() for cell in cells.values())
        else:
            yield _heading(item) + item.text


def _heading(paragraph: Any) -> str:
    """`## ` before a heading, so that its level survives in the text."""
    style = paragraph.style.name if paragraph.style is not None else ""
    if not paragraph.text.strip():
        return ""
    if style == "Title":
        return "# "
    level = style.removeprefix("Heading ")
    return "#" * min(int(level), 6) + " " if style.startswith("Heading ") and level.isdigit() else ""
