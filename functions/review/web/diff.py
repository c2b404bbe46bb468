"""Texts as lines to be shown, and what changed between two of them. Pure; everything stays plain text."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import category

__all__ = ["Line", "Piece", "changes", "clipped", "lines", "printable"]

_MOST_LINES = 2000
"""Lines beyond which a comparison would take long: then lines are compared whole."""
_ALIKE = 0.35
"""Two lines less alike than this are one that went and one that came, not one reworded."""
_HIDDEN = frozenset({"Cc", "Cf", "Cs"})
"""Controls, marks that turn the direction of writing, halves of pairs: they could make a text look like another."""
_WORD = re.compile(r"[A-Za-z0-9_]+|\s+|.", re.DOTALL)
_HEADING = re.compile(r"^(#{1,6})\s+")
_STRONG = re.compile(r"\*\*(.+?)\*\*")
_ITEM = re.compile(r"^(\s*)([-*+]|\d{1,3}[.)])\s+")


@dataclass(frozen=True)
class Piece:
    """A stretch of a line: `same`, `new` or `gone`."""

    kind: str
    text: str


@dataclass(frozen=True)
class Line:
    """A line: how it is set (`heading`, `item`, `text`, `blank`), how it changed (`same`, `new`, `gone`, `changed`),
    and its pieces."""

    look: str
    kind: str
    pieces: tuple[Piece, ...]


def lines(text: str) -> list[Line]:
    """A text that is shown as it is."""
    return [Line(_look(line), "same", (Piece("same", _shown(line)),)) for line in text.splitlines()]


def printable(text: str) -> str:
    """`text` without what does not print or would steer a terminal; line ends and tabs stay."""
    return "".join(one for one in text if one in "\n\t" or category(one) not in _HIDDEN)


def changes(before: str, after: str) -> list[Line]:
    """`after`, with what came in and what went marked, word by word where a line was reworded."""
    old, new = before.splitlines()[:_MOST_LINES], after.splitlines()[:_MOST_LINES]
    found: list[Line] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            found += lines("\n".join(new[c:d]) + "\n")
        else:
            found += _replaced(old[a:b], new[c:d])
    return found


def clipped(text: str, most_bytes: int) -> tuple[str, bool]:
    """`text` within `most_bytes` of UTF-8, cut at a line where it can be, and whether it was cut."""
    data = text.encode()
    if len(data) <= most_bytes:
        return text, False
    short = data[:most_bytes].decode(errors="ignore")
    head, found, _ = short.rpartition("\n")
    return (head if found and len(head) > len(short) // 2 else short), True


def _replaced(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    paired = min(len(old), len(new))
    for one, other in zip(old[:paired], new[:paired], strict=True):
        yield from _reworded(one, other)
    for line in old[paired:]:
        yield Line(_look(line), "gone", (Piece("gone", _shown(line)),))
    for line in new[paired:]:
        yield Line(_look(line), "new", (Piece("new", _shown(line)),))


def _reworded(old: str, new: str) -> Iterator[Line]:
    before, after = _WORD.findall(_shown(old)), _WORD.findall(_shown(new))
    words = difflib.SequenceMatcher(None, before, after, autojunk=False)
    if words.ratio() < _ALIKE:
        yield Line(_look(old), "gone", (Piece("gone", _shown(old)),))
        yield Line(_look(new), "new", (Piece("new", _shown(new)),))
        return
    yield Line(_look(new), "changed", tuple(_pieces(before, after, words.get_opcodes())))


def _pieces(before: list[str], after: list[str], changed: Sequence[tuple[str, int, int, int, int]]) -> Iterator[Piece]:
    for tag, a, b, c, d in changed:
        if tag == "equal":
            yield Piece("same", "".join(after[c:d]))
            continue
        if b > a:
            yield Piece("gone", "".join(before[a:b]))
        if d > c:
            yield Piece("new", "".join(after[c:d]))


def _look(line: str) -> str:
    if not line.strip():
        return "blank"
    if _HEADING.match(line):
        return "heading"
    return "item" if _ITEM.match(line) else "text"


def _shown(line: str) -> str:
    """The line without the marks that its look stands for, and without characters that would not print."""
    line = _STRONG.sub(r"\1", _HEADING.sub("", line))
    return printable(line)
