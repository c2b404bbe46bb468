"""One function for all kinds: bytes in, tidy text out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from functions.errors import InvalidInput
from functions.material.kinds import Kind, kind_of
from functions.settings import Settings

__all__ = ["Extracted", "Limits", "extract"]


@dataclass(frozen=True)
class Limits:
    """Most pages, most characters of text, most bytes after unpacking."""

    pages: int = 300
    chars: int = 400_000
    unpacked: int = 200 * 1024 * 1024

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        """The limits that the settings give."""
        return cls(settings.document_pages, settings.text_chars, settings.unpacked_bytes)


@dataclass(frozen=True)
class Extracted:
    """The kind of the document and its text."""

    kind: Kind
    text: str


def extract(name: str, data: bytes, limits: Limits | None = None) -> Extracted:
    """The text of the document `name`. Raises `InvalidInput` naming the reason: empty, encrypted, broken, too large,
    ...
    """
    from functions.material.text import tidy

    limits = limits or Limits()
    kind = kind_of(name, data)
    text = tidy(_joined(_raw(kind, name, data, limits), name, limits.chars))
    if not any(char.isalnum() for char in text):
        hint = " (a scan? run text recognition first)" if kind == "pdf" else ""
        raise InvalidInput(f"{name} holds no text{hint}", reason="empty")
    return Extracted(kind, text)


def _raw(kind: Kind, name: str, data: bytes, limits: Limits) -> Iterable[str]:
    if kind == "pdf":
        from functions.material.pdf import pdf_pages

        return pdf_pages(data, name, limits.pages)
    if kind == "docx":
        from functions.material.docx import docx_blocks

        return docx_blocks(data, name, limits.unpacked)
    from functions.material.text import decode, html_text

    return [html_text(data, name) if kind == "html" else decode(data, name)]


def _joined(parts: Iterable[str], name: str, most: int) -> str:
    """The parts as one text. Stops reading at the limit, so that a bomb is not unpacked to its end."""
    kept: list[str] = []
    length = 0
    for part in parts:
        length += len(part) + 1
        if length > most + 1:
            raise InvalidInput(f"{name} holds more than {most} characters of text", reason="too long")
        kept.append(part)
    return "\n".join(kept)
