"""Text of a PDF, page by page."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from functions.errors import InvalidInput

if TYPE_CHECKING:
    from pypdf import PdfReader

__all__ = ["pdf_pages"]

T = TypeVar("T")


def pdf_pages(data: bytes, name: str, max_pages: int) -> Iterator[str]:
    """The text of each page. Raises `InvalidInput` for an encrypted or broken file and for too many pages."""
    reader = _open(data, name)
    pages = _guarded(lambda: len(reader.pages), name)
    if pages > max_pages:
        raise InvalidInput(f"{name} has {pages} pages; {max_pages} are allowed", reason="too many pages")
    if pages == 0:
        raise InvalidInput(f"{name} has no pages", reason="empty")
    for number in range(pages):
        yield _guarded(partial(_page_text, reader, number), name)


def _page_text(reader: PdfReader, number: int) -> str:
    return reader.pages[number].extract_text()


def _open(data: bytes, name: str) -> PdfReader:
    from pypdf import PasswordType, PdfReader

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns about every untidy producer
    reader = _guarded(lambda: PdfReader(io.BytesIO(data)), name)
    # A file with an owner's password only opens with the empty user password: readers show it, so it is read.
    if reader.is_encrypted and _guarded(lambda: reader.decrypt(""), name) == PasswordType.NOT_DECRYPTED:
        raise InvalidInput(f"{name} is encrypted; send it without a password", reason="encrypted")
    return reader


def _guarded(read: Callable[[], T], name: str) -> T:
    """What `read` returns. pypdf raises many kinds of errors on damaged files; all mean that the file is broken."""
    from pypdf.errors import FileNotDecryptedError, LimitReachedError

    try:
        return read()
    except LimitReachedError as error:
        raise InvalidInput(f"{name} unpacks to too much data", reason="too large unpacked") from error
    except FileNotDecryptedError as error:
        raise InvalidInput(f"{name} is encrypted; send it without a password", reason="encrypted") from error
    except (MemoryError, SystemError):
        raise
    except Exception as error:
        raise InvalidInput(f"{name} is a broken PDF: {type(error).__name__}: {error}", reason="broken") from error
