"""Times on the wire: UTC with milliseconds, `2019-01-01T01:01:01.001Z` (cloudflow-api page, section 5.2)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def format_ms(at_ms: int) -> str:
    """Return the wire's text of `at_ms`, milliseconds since the epoch."""
    moment = _EPOCH + timedelta(milliseconds=at_ms)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def parse_ms(text: str) -> int:
    """Return milliseconds since the epoch of an RFC 3339 time; raises ValueError for anything else."""
    # fromisoformat of 3.10 knows neither a final Z nor fractions of other than three or six digits.
    head, dot, rest = text.strip().upper().replace("Z", "+00:00").partition(".")
    fraction = ""
    if dot:
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        if not digits:
            raise ValueError(f"not an RFC 3339 time: {text!r}")
        fraction, head = digits[:6].ljust(6, "0"), head + rest[len(digits) :]
    moment = datetime.fromisoformat(head)
    if moment.tzinfo is None:
        raise ValueError(f"no time zone in {text!r}")
    whole = (moment - _EPOCH) // timedelta(milliseconds=1)
    return whole + int(fraction or "0") // 1000
