"""Plain text, Markdown and HTML: encodings and tidy text."""

from __future__ import annotations

import codecs
import re
import unicodedata
from html.parser import HTMLParser

from functions.errors import InvalidInput

__all__ = ["decode", "html_text", "tidy"]

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{2,40})""", re.IGNORECASE)
_BLOCKS_TEXT = (
    "address article aside blockquote br caption dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 "
    "header hr li main nav ol p pre section table tr ul"
)
_BLOCKS = tuple(_BLOCKS_TEXT.split())
_VOID_TEXT = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_TEXT.split())
_DEEPEST = 4_000
_UNSEEN = ("script", "style", "noscript", "template", "head", "svg", "iframe", "object")


def decode(data: bytes, name: str) -> str:
    """`data` as text: by its byte-order mark, else UTF-8, UTF-16 without a mark, else GB18030 (which holds GBK)."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _strict(data, encoding, name)
    try:
        return _printable(data.decode("utf-8"), name)
    except (UnicodeDecodeError, InvalidInput):
        pass
    wide = _utf16_by_zeros(data)
    return _strict(data, wide or "gb18030", name)


def html_text(data: bytes, name: str) -> str:
    """What a browser would show of a page, one line per block. Scripts, styles and the head are left out."""
    from bs4 import BeautifulSoup, Comment

    declared = _CHARSET.search(data[:2048])
    page = _declared(data, declared.group(1).decode(), name) if declared else decode(data, name)
    _refuse_deep(page, name)
    soup = BeautifulSoup(page, "html.parser")
    for unseen in soup(_UNSEEN):
        unseen.decompose()
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for text in soup.find_all(string=True):
        # Line breaks of the source are blanks to a reader; only blocks make lines.
        text.replace_with(re.sub(r"\s+", " ", str(text)))
    for block in soup(_BLOCKS):
        block.insert_before("\n")
        block.append("\n")
    return soup.get_text()


class _Depth(HTMLParser):
    """Counts how deep open elements lie in each other, as a parser that closes nothing by itself sees it."""

    deepest = 0
    _now = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in _VOID:
            self._now += 1
            self.deepest = max(self.deepest, self._now)

    def handle_endtag(self, tag: str) -> None:
        self._now = max(0, self._now - 1)


def _refuse_deep(page: str, name: str) -> None:
    """Refuse nesting that costs the tree builder quadratic time; whole legacy pages of unclosed `<p>` still pass."""
    depth = _Depth()
    depth.feed(page)
    if depth.deepest > _DEEPEST:
        reason = "nested too deeply"
        raise InvalidInput(f"{name} nests more than {_DEEPEST} elements in each other", path="document", reason=reason)


def tidy(text: str) -> str:
    """`text` with one kind of line end, no trailing blanks, no empty lines in a row and no control characters."""
    text = (
        text.replace("\r\n", "\n")
        .replace("\r", "\n")
        .replace("\f", "\n")
        .replace("\u2028", "\n")
        .replace("\u2029", "\n")
    )
    text = "".join(char for char in text if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs", "Cn"))
    lines = [re.sub(r"[ \t\u00a0\u3000]+$", "", line) for line in text.replace("\u00a0", " ").split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _declared(data: bytes, charset: str, name: str) -> str:
    """By the page's own word, when it is true; pages often declare one encoding and are saved in another."""
    encoding = "gb18030" if charset.lower() in ("gb2312", "gbk", "gb18030") else charset
    try:
        return data.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        return decode(data, name)


def _strict(data: bytes, encoding: str, name: str) -> str:
    try:
        return _printable(data.decode(encoding), name)
    except UnicodeDecodeError as error:
        reason = "unknown encoding"
        raise InvalidInput(
            f"{name} is not text in UTF-8, UTF-16 or GB18030 (byte {error.start})", reason=reason
        ) from error


def _printable(text: str, name: str) -> str:
    """`text`, unless it is binary data that happens to decode: control characters other than line ends and tabs."""
    strange = sum(1 for char in text[:20_000] if char < " " and char not in "\t\n\r\f\x1a\x1b")
    if strange > min(len(text), 20_000) // 500:
        raise InvalidInput(f"{name} is binary data, not text", reason="not text")
    return text


def _utf16_by_zeros(data: bytes) -> str | None:
    """UTF-16 without a mark shows itself by zero bytes on one side of its pairs (ASCII blanks or digits)."""
    sample = data[:4000]
    if len(sample) < 4 or len(data) % 2:
        return None
    low, high = sample[0::2].count(0), sample[1::2].count(0)
    if high > len(sample) // 40 and high > 4 * low:
        return "utf-16-le"
    if low > len(sample) // 40 and low > 4 * high:
        return "utf-16-be"
    return None
