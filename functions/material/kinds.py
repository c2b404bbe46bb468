"""Which kind a document is: its name says what it should be, its first bytes say what it is."""

from __future__ import annotations

from typing import Literal

from functions.errors import InvalidInput

__all__ = ["KINDS", "Kind", "kind_of"]

Kind = Literal["text", "markdown", "html", "pdf", "docx"]

KINDS: dict[str, Kind] = {
    ".txt": "text",
    ".text": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".docx": "docx",
}
"""Kind by file extension."""

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def kind_of(name: str, data: bytes) -> Kind:
    """The kind of the document called `name`. Raises `InvalidInput` when name and content do not fit together."""
    if not data.strip():
        raise InvalidInput(f"{name} is empty", reason="empty")
    found = _by_content(data)
    extension = "." + name.rsplit(".", 1)[1].lower() if "." in name else ""
    named = KINDS.get(extension)
    if named is None and (extension or found is None):
        kinds = ", ".join(sorted(KINDS))
        raise InvalidInput(f"{name}: documents may be {kinds}", reason="unsupported type")
    if found == "ole":
        what = "an old .doc file or an encrypted .docx" if named == "docx" else "an old Office file"
        raise InvalidInput(f"{name} is {what}; save it as .docx without a password", reason="encrypted or old format")
    if named is None:
        return _sniffed(name, found)
    if named in ("pdf", "docx"):
        if found != named:
            raise InvalidInput(f"{name} is not a {named.upper()} file", reason="wrong type")
    elif found is not None:
        raise InvalidInput(f"{name} is named as {named} but is a {found} file", reason="wrong type")
    return named


def _by_content(data: bytes) -> str | None:
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith(_OLE):
        return "ole"
    if data.startswith(b"PK\x03\x04"):
        return "docx" if b"word/" in data else "zip"
    return None


def _sniffed(name: str, found: str | None) -> Kind:
    if found == "pdf":
        return "pdf"
    if found == "docx":
        return "docx"
    raise InvalidInput(f"{name} is a {found} file", reason="unsupported type")
