"""Text into headings and sentences, and sentences into terms; Chinese and English, without word lists to download."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Sentence", "is_chinese", "sentences", "terms"]

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN = re.compile(f"[{_CJK}]")
_HAN_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*[A-Za-z]|\d[\d.,:/%-]*\d|\d")
_END = re.compile(r"(?<=[。！？!?])[”’」』）)\"']*\s*|(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9\u3400-\u9fff])")
_SHORT = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|Mr|Mrs|Ms|Dr|Prof|Inc|Ltd|Co|No|Art|Sec|Fig|approx)|\b[A-Z])\.$")
_BULLET = re.compile(
    r"^\s*(?:[-*+•·◦▪]|\(?[0-9]{1,3}[.)、]|[（(][一二三四五六七八九十]+[)）]|[一二三四五六七八九十]+、)\s*"
)
_TABLE_RULE = re.compile(r"^[\s|:+=-]+$")
_STOP_TEXT = (
    "a about above after again all also an and any are as at be because been before being below between both "
    "but by can could did do does doing down during each few for from further had has have having he her here "
    "hers him his how i if in into is it its itself just may me might more most must my no nor not of off on "
    "once only or other our out over own per same shall she should so some such than that the their them then "
    "there these they this those through to too under until up upon us very was we were what when where which "
    "while who whom why will with within without would you your"
)
_STOP = frozenset(_STOP_TEXT.split())
_STOP_HAN_TEXT = (
    "的一 一个 我们 他们 你们 这个 那个 以及 或者 但是 因为 所以 如果 可以 不是 "
    "没有 就是 进行 对于 关于 由于 并且 而且 其中 之间 之后 之前 同时 其他 这些 "
    "那些 什么 如何 为了 根据 通过 应当 需要 已经 还是 还有 不会 不能"
)
_STOP_HAN = frozenset(_STOP_HAN_TEXT.split())


@dataclass(frozen=True)
class Sentence:
    """A sentence, the heading it stands under ("" at the top), and its place in the text, from 0."""

    text: str
    heading: str
    place: int


def is_chinese(text: str) -> bool:
    """Whether a reader would call `text` Chinese: a Han character stands for about three letters of a word."""
    sample = text[:20_000]
    return len(_HAN.findall(sample)) * 3 > sum(1 for char in sample if char.isascii() and char.isalpha())


def sentences(text: str) -> list[Sentence]:
    """The sentences of a Markdown-like text in order. Code, table rules and headings are not sentences."""
    found: list[Sentence] = []
    heading = ""
    for is_heading, block in _blocks(text):
        if is_heading:
            heading = block
            continue
        found += [Sentence(part, heading, len(found) + at) for at, part in enumerate(_split(block))]
    return found


def terms(text: str) -> list[str]:
    """What a sentence is about: English words without the common ones, and pairs of Han characters."""
    words = [word.lower().strip("'’-") for word in _WORD.findall(text)]
    found = [_stem(word) for word in words if word not in _STOP and (len(word) > 1 or word.isdigit())]
    for run in _HAN_RUN.findall(text):
        pairs = [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]
        found += [pair for pair in pairs if pair not in _STOP_HAN and "的" not in pair and "了" not in pair]
    return found


def _stem(word: str) -> str:
    """Plural and singular count as one term. Crude on purpose: both sides of a comparison are treated alike."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _blocks(text: str) -> Iterator[tuple[bool, str]]:
    """(is a heading, text) of each block: wrapped lines are joined, list items and table rows stand alone."""
    held: list[str] = []
    fenced = False
    for line in [*text.split("\n"), ""]:
        fenced ^= line.lstrip().startswith("```")
        bare = line.strip().strip("|").strip()
        heading = re.match(r"^#{1,6}\s+(.*?)\s*#*$", line.strip())
        starts = not bare or heading or _BULLET.match(line) or line.lstrip().startswith("|")
        if (starts or fenced) and held:
            yield False, _join(held)
            held = []
        if fenced or not bare or bare.startswith("```") or _TABLE_RULE.match(line):
            continue
        if heading:
            yield True, heading.group(1)
        else:
            held.append(_BULLET.sub("", bare).replace("|", " "))


def _join(lines: list[str]) -> str:
    """Wrapped lines as one: with a blank between Latin words, without one between Han characters."""
    whole = lines[0]
    for line in lines[1:]:
        glue = "" if _HAN.match(whole[-1:]) or _HAN.match(line[:1]) or whole[-1:] in "，。；：、！？" else " "
        whole += glue + line
    return re.sub(r"(\*\*|__|`)", "", re.sub(r"\s+", " ", whole)).strip()


def _split(block: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for end in _END.finditer(block):
        piece = block[start : end.end()].strip()
        if _SHORT.search(block[start : end.start()].rstrip()):
            continue
        if piece:
            parts.append(piece)
        start = end.end()
    tail = block[start:].strip()
    return [part for part in [*parts, tail] if any(char.isalnum() for char in part)]
