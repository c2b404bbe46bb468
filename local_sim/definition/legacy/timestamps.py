"""RFC 3339 in full (C14): offsets, any number of fraction digits, lower-case letters, a leap second."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_FORM = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,30}))?(?:([Zz])|([+-])(\d\d):(\d\d))?", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class BadTimestamp(ValueError):
    """A text that is no moment in time; the message says why."""


def parse_timestamp(text: str) -> int:
    """Return milliseconds since the epoch, fractions of a millisecond rounded up. Raises BadTimestamp."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise BadTimestamp(f"{text[:60]!r} is no RFC 3339 time, such as 2026-01-31T08:00:00Z")
    year, month, day, hour, minute, second = (int(match[group]) for group in range(1, 7))
    if not match[8] and not match[9]:
        raise BadTimestamp(f"{text[:60]!r} has no time zone; add Z or an offset such as +08:00")
    offset = timedelta()
    if match[9]:
        hours, minutes = int(match[10]), int(match[11])
        if hours > 23 or minutes > 59:
            raise BadTimestamp(f"{text[:60]!r} has an impossible offset")
        offset = timedelta(hours=hours, minutes=minutes) * (-1 if match[9] == "-" else 1)
    leap = second == 60
    try:
        moment = datetime(year, month, day, hour, minute, 59 if leap else second, tzinfo=timezone.utc)
    except ValueError as error:
        raise BadTimestamp(f"{text[:60]!r}: {error}") from None
    fraction = (match[7] or "").ljust(4, "0")
    milliseconds = int(fraction[:3]) + (1 if int(fraction[3:]) else 0)
    whole = (moment - _EPOCH) // timedelta(milliseconds=1) - offset // timedelta(milliseconds=1)
    return whole + (1000 if leap else 0) + milliseconds
