"""Numbers and times as people read them."""

from __future__ import annotations

from datetime import datetime, timezone


def duration(milliseconds: float) -> str:
    """Return `250 ms`, `3.2 s`, `4 min 10 s`, `2 h 5 min`, `3 d 4 h`."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    for size, unit, below, small in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            whole, rest = divmod(int(seconds), size)
            part = rest // below
            return f"{whole} {unit} {part} {small}" if part else f"{whole} {unit}"
    return f"{seconds:.0f} s"


def moment(time_ms: int) -> str:
    """Return a time in UTC, `2026-01-31 09:30:00`."""
    return f"{datetime.fromtimestamp(time_ms / 1000, timezone.utc):%Y-%m-%d %H:%M:%S}"


def iso(time_ms: int) -> str:
    """Return a time as the `datetime` attribute wants it."""
    return f"{datetime.fromtimestamp(time_ms / 1000, timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
