"""From an expression's text to tokens with columns."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from .errors import ExpressionSyntaxError
from .values import Json

_SPACE = re.compile(r"[ \t\r\n]+")
_NUMBER = re.compile(r"(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_NAME = re.compile(r"[^\W\d]\w*")
_KEY = re.compile(r"\w+(?:-\w+)*")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_OPERATOR = re.compile(r"&&|\|\||[=!<>]=|[<>!\-(),\[\]{}:]")
_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_MISTAKES = {
    "=": 'write "==" to compare',
    "&": 'write "&&"',
    "|": 'write "||"',
    ">>": "there is no shift operator",
    "<<": "there is no shift operator",
    "+": "there is no arithmetic; use intAdd(a, b), or format() to join texts",
    "*": "there is no arithmetic",
    "/": "there is no arithmetic",
    "%": "there is no arithmetic",
    "?": "there is no conditional operator; use a Choice state",
}


class Token(NamedTuple):
    """One token. `kind` is path, name, number, text, an operator's own text, or end; `column` counts from 1."""

    kind: str
    value: Json
    column: int
    detail: str = ""


class Lexer:
    """Cuts one expression into tokens; the last one is of kind `end`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def tokens(self) -> list[Token]:
        """Return all tokens. Raises ExpressionSyntaxError with the column of the first character that fits nothing."""
        found: list[Token] = []
        while True:
            if space := _SPACE.match(self._text, self._at):
                self._at = space.end()
            if self._at >= len(self._text):
                found.append(Token("end", None, len(self._text) + 1))
                return found
            found.append(self._next())

    def _fail(self, message: str, at: int, fix: str = "") -> ExpressionSyntaxError:
        return ExpressionSyntaxError(message, self._text, at + 1, fix)

    def _next(self) -> Token:
        text, start = self._text, self._at
        first = text[start]
        if first == "$":
            return self._path()
        if first in "\"'`":
            return self._quoted(first)
        if match := _NUMBER.match(text, start):
            return self._number(match)
        if match := _NAME.match(text, start):
            self._at = match.end()
            return Token("name", match.group(), start + 1)
        two = text[start : start + 2]
        if (match := _OPERATOR.match(text, start)) and two not in (">>", "<<"):
            self._at = match.end()
            return Token(match.group(), None, start + 1)
        wrong = two if two in _MISTAKES else first
        raise self._fail(f"unknown operator {wrong!r}", start, _MISTAKES.get(wrong, ""))

    def _number(self, match: re.Match[str]) -> Token:
        start, end = match.span()
        following = self._text[end : end + 1]
        if following and (following.isalnum() or following in "._"):
            raise self._fail("not a number as JSON writes it", start, "write 12, 12.5 or 1e3; quote it if it is text")
        self._at = end
        text = match.group()
        if match.group(1) or match.group(2):
            number = float(text)
            if not math.isfinite(number):
                raise self._fail("number out of range", start)
            return Token("number", number, start + 1)
        try:
            return Token("number", int(text), start + 1)
        except ValueError:
            raise self._fail("number with too many digits", start) from None

    def _path(self) -> Token:
        text, start = self._text, self._at
        root = _NAME.match(text, start + 1)
        if root is None:
            raise self._fail("'$' without a name", start, "write $Input, $Output, $Context, $Global or $Item")
        self._at = root.end()
        steps: list[str | int] = []
        detail = ""
        while text[self._at : self._at + 1] in (".", "["):
            step, odd = self._key() if text[self._at] == "." else self._bracket()
            steps.append(step)
            detail = detail or odd
        return Token("path", ("$" + root.group(), tuple(steps)), start + 1, detail)

    def _key(self) -> tuple[str, str]:
        match = _KEY.match(self._text, self._at + 1)
        if match is None:
            raise self._fail(
                "a key is missing after '.'",
                self._at,
                'wildcards and filters do not exist; write ["key"] for other keys',
            )
        self._at = match.end()
        key = match.group()
        return key, "hyphen" if "-" in key else ""

    def _bracket(self) -> tuple[str | int, str]:
        text, start = self._text, self._at
        self._at += 1
        if text[self._at : self._at + 1] in ('"', "'") and self._at < len(text):
            step: str | int = self._quoted(text[self._at]).value
            odd = "bracket"
        else:
            match = _INDEX.match(text, self._at)
            if match is None:
                raise self._fail(
                    "an index is a whole number from 0",
                    self._at,
                    "slices, wildcards, filters and negative indices do not exist",
                )
            self._at = match.end()
            step, odd = int(match.group()), ""
        if text[self._at : self._at + 1] != "]":
            raise self._fail("']' is missing", self._at if self._at < len(text) else start)
        self._at += 1
        return step, odd

    def _quoted(self, quote: str) -> Token:
        start = self._at
        if quote == "`":
            end = self._text.find("`", start + 1)
            if end < 0:
                raise self._fail("text without its closing quote", start)
            self._at = end + 1
            return Token("text", self._text[start + 1 : end], start + 1, quote)
        return Token("text", self._unescape(quote, start), start + 1, quote)

    def _unescape(self, quote: str, start: int) -> str:
        text, at, parts = self._text, start + 1, []
        while True:
            stop = re.compile(rf"[{quote}\\]").search(text, at)
            if stop is None:
                raise self._fail("text without its closing quote", start)
            parts.append(text[at : stop.start()])
            at = stop.end()
            if stop.group() == quote:
                self._at = at
                return self._joined("".join(parts), start)
            code = text[at : at + 1]
            if code == "u" and (digits := _HEX4.match(text, at + 1)):
                parts.append(chr(int(digits.group(), 16)))
                at = digits.end()
            elif code in _ESCAPES and code:
                parts.append(_ESCAPES[code])
                at += 1
            else:
                raise self._fail(
                    f"unknown escape \\{code}",
                    stop.start(),
                    "double the backslash, or use back-quotes, where it is an ordinary character",
                )

    def _joined(self, value: str, start: int) -> str:
        """Join surrogate pairs written as two escapes; half a pair is no text."""
        if not any("\ud800" <= char <= "\udfff" for char in value):
            return value
        try:
            return value.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise self._fail("half of a surrogate pair", start) from None
