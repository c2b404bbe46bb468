"""Conditional headers and byte ranges, as pure functions of what is stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from local_sim.services.oss.errors import ApiError

_RANGE = re.compile(r"bytes=(\d{0,19})-(\d{0,19})", re.ASCII)


@dataclass(frozen=True)
class Span:
    """Bytes `start` up to but not including `stop`."""

    start: int
    stop: int


def check_read(headers: Mapping[str, str], etag: str, modified_ms: int, prefix: str = "") -> None:
    """Check If-Match, If-None-Match, If-Modified-Since and If-Unmodified-Since against the stored object.

    `prefix` is put before the names (`x-oss-copy-source-`). Raises `PreconditionFailed` (412) or `NotModified` (304).
    """
    details = (("ETag", f'"{etag}"'), ("Last-Modified", http_date(modified_ms)))
    match, none_match = headers.get(f"{prefix}if-match"), headers.get(f"{prefix}if-none-match")
    if match is not None and not _matches(match, etag):
        raise ApiError("PreconditionFailed", Condition="If-Match")
    since = _seconds(headers.get(f"{prefix}if-unmodified-since"))
    if since is not None and modified_ms // 1000 > since:
        raise ApiError("PreconditionFailed", Condition="If-Unmodified-Since")
    if none_match is not None and _matches(none_match, etag):
        raise ApiError("NotModified", headers=details)
    since = _seconds(headers.get(f"{prefix}if-modified-since"))
    # RFC 9110, 13.1.3: an If-None-Match that did not match outranks If-Modified-Since.
    if none_match is None and since is not None and modified_ms // 1000 <= since:
        raise ApiError("NotModified", headers=details)


def _matches(header: str, etag: str) -> bool:
    return any(candidate.strip().strip('"') in {"*", etag} for candidate in header.split(","))


def _seconds(header: str | None) -> int | None:
    """Return an HTTP date in seconds; None when it is absent or no date, which RFC 9110 says to ignore."""
    if header is None:
        return None
    try:
        return int(parsedate_to_datetime(header).timestamp())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def parse_range(header: str | None, size: int) -> Span | None:
    """Return the span a Range header asks for, or None for the whole object.

    A header that is no single byte range is ignored, as OSS documents; a start behind the end is `InvalidRange` (O05).
    """
    found = _RANGE.fullmatch(header.strip()) if header is not None else None
    if not found or found[0] == "bytes=-":
        return None
    first, last = found[1], found[2]
    if first and last and int(last) < int(first):
        return None
    start = int(first) if first else max(0, size - int(last))
    stop = min(size, int(last) + 1) if first and last else size
    if start >= size:
        raise ApiError("InvalidRange", headers=(("Content-Range", f"bytes */{size}"),), ActualObjectSize=size)
    return Span(start, stop)


def http_date(at_ms: int) -> str:
    """Return a time as HTTP writes it: `Tue, 30 Sep 2025 10:00:00 GMT`."""
    moment = datetime.fromtimestamp(at_ms // 1000, timezone.utc)
    day = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[moment.weekday()]
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    return f"{day}, {moment:%d} {months[moment.month - 1]} {moment:%Y %H:%M:%S} GMT"


def iso_date(at_ms: int) -> str:
    """Return a time as OSS's XML writes it: `2025-09-30T10:00:00.000Z`."""
    return f"{datetime.fromtimestamp(at_ms // 1000, timezone.utc):%Y-%m-%dT%H:%M:%S}.000Z"
