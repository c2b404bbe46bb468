"""Paging through sorted keys with prefix and delimiter, as list objects v1 and v2 do. Keys compare by code point,
which is the order of their UTF-8 bytes.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from local_sim.services.oss.errors import ApiError


class Keyed(Protocol):
    """Anything with a key."""

    @property
    def key(self) -> str:
        """The key to sort and group by."""
        ...


RowT = TypeVar("RowT", bound=Keyed)
Seek = Callable[[str, bool], Iterator[RowT]]


@dataclass
class Page(Generic[RowT]):
    """One page: rows, common prefixes, whether more follow, and the last thing shown (the next page's `after`)."""

    rows: list[RowT] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    truncated: bool = False
    last: str = ""

    @property
    def count(self) -> int:
        """Rows and common prefixes together."""
        return len(self.rows) + len(self.prefixes)


def page(seek: Seek[RowT], *, prefix: str, delimiter: str, after: str, limit: int) -> Page[RowT]:
    """Return at most `limit` rows and common prefixes that start with `prefix` and come behind `after`.

    `seek(start, inclusive)` gives the rows from key `start` on, sorted. A common prefix is jumped over by seeking
    behind it, so a page costs as many seeks as it has prefixes, however many keys lie under them.
    """
    result: Page[RowT] = Page()
    start, inclusive = (after, False) if after >= prefix else (prefix, True)
    rows = seek(start, inclusive)
    while (row := next(rows, None)) is not None and row.key.startswith(prefix):
        group = _group(row.key, prefix, delimiter)
        seen = group is not None and after.startswith(group)
        if not seen and result.count == limit:
            result.truncated = True
            break
        if group is None:
            result.rows.append(row)
            result.last = row.key
            continue
        if not seen:
            result.prefixes.append(group)
            result.last = group
        behind = successor(group)
        if behind is None:
            break
        rows = seek(behind, True)
    return result


def _group(key: str, prefix: str, delimiter: str) -> str | None:
    """Return the common prefix that `key` falls under, or None."""
    at = key.find(delimiter, len(prefix)) if delimiter else -1
    return None if at < 0 else key[: at + len(delimiter)]


def successor(prefix: str) -> str | None:
    """Return the smallest text behind everything that starts with `prefix`; None when there is none."""
    head = prefix.rstrip("\U0010ffff")
    if not head:
        return None
    code = ord(head[-1]) + 1
    # Surrogates are no characters of UTF-8, so the next one after U+D7FF is U+E000.
    return head[:-1] + chr(0xE000 if 0xD800 <= code <= 0xDFFF else code)


def token(last: str) -> str:
    """Return the continuation token that stands for `last`."""
    return base64.urlsafe_b64encode(last.encode()).decode()


def from_token(text: str) -> str:
    """Return the key a continuation token stands for; `InvalidArgument` when it is not one of ours."""
    try:
        return base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        message = "The continuation token provided is incorrect."
        raise ApiError("InvalidArgument", message, ArgumentName="continuation-token", ArgumentValue=text) from None
