"""How wide text is, roughly, and where to break it. No font is at hand; CJK characters count double (UAX 11)."""

from __future__ import annotations

import textwrap
import unicodedata

CHARACTER = 0.56
"""Width of a Latin character, in font sizes."""


def width_of(text: str, size: float) -> float:
    """Return a text's width in px at a font size; an estimate that errs on the wide side."""
    return sum(cells(char) for char in text) * size * CHARACTER


def cells(char: str) -> float:
    """Return the width of a character in Latin characters."""
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.8
    return 1.2 if char.isupper() else 1.0


def wrap(text: str, columns: int, lines: int) -> list[str]:
    """Break a text into at most `lines` lines of about `columns` Latin characters; what is left out becomes `…`."""
    found: list[str] = []
    for word in textwrap.wrap(" ".join(text.split()), columns, break_long_words=False) or [""]:
        found.extend(_break(word, columns))
    if len(found) > lines:
        found = [*found[: lines - 1], shorten(" ".join(found[lines - 1 :]), columns)]
    return found


def shorten(text: str, columns: int) -> str:
    """Return a text of at most about `columns` Latin characters."""
    flat = " ".join(text.split())
    pieces = _break(flat, columns)
    return flat if len(pieces) == 1 else f"{pieces[0].rstrip()}…"


def _break(text: str, columns: int) -> list[str]:
    """Cut a text by its width; words joined by - or _ break there when they can."""
    pieces, current, wide = [], "", 0.0
    for char in text:
        if wide + cells(char) > columns and current:
            at = max(current.rfind(mark) for mark in "-_./ ") + 1
            keep = at if at > len(current) // 2 else len(current)
            pieces.append(current[:keep])
            current = current[keep:]
            wide = sum(map(cells, current))
        current += char
        wide += cells(char)
    return [*pieces, current]
