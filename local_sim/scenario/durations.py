"""Durations as people write them."""

from __future__ import annotations

import re

from .errors import BadScenario

_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_TEXT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*")


def seconds_of(duration: float | str) -> float:
    """Return seconds for a number of seconds or a text such as `500ms`, `3s`, `1h30m`, `7d`. Raises BadScenario."""
    if isinstance(duration, int | float) and not isinstance(duration, bool):
        if duration < 0 or duration != duration or duration == float("inf"):
            raise BadScenario(f"a duration is a number of seconds from 0, not {duration!r}")
        return float(duration)
    text = str(duration)
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = _TEXT.findall(text)
    if not parts or "".join(_TEXT.split(text)[::3]).strip():
        raise BadScenario(f"a duration is written like 500ms, 3s, 1h30m or 7d, not {duration!r}")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
