"""How plain scalars are read.

The YAML 1.2 core schema with exact integers (A26), and where YAML 1.1 would read otherwise.
"""

from __future__ import annotations

import math
import re
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A JSON value: None, bool, int of any size, finite float, str, list or dict with str keys."""

_WORDS: dict[str, Json] = {"": None, "~": None}
_WORDS.update(dict.fromkeys(("null", "Null", "NULL")))
_WORDS.update(dict.fromkeys(("true", "True", "TRUE"), True))
_WORDS.update(dict.fromkeys(("false", "False", "FALSE"), False))

_INT = re.compile(r"[-+]?[0-9]+\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_HEX = re.compile(r"0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NOT_JSON = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")
_MAYBE_NUMBER = frozenset("0123456789+-.")

_WORDS_11 = frozenset(
    variant for word in ("y", "n", "yes", "no", "on", "off") for variant in (word, word.capitalize(), word.upper())
)
_DIFFERENT_11 = (
    ("an octal number", re.compile(r"[-+]?0[0-7_]+\Z")),
    ("a number in base 60", re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z")),
    (
        "a date",
        re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9:.]+[ \t]*(?:Z|[-+0-9:]*))?\Z"),
    ),
    (
        "a number with underscores",
        re.compile(r"[-+]?(?:[0-9][0-9_]*_[0-9_]*(?:\.[0-9_]*)?|0x[0-9a-fA-F_]*_[0-9a-fA-F_]*)\Z"),
    ),
    ("a binary number", re.compile(r"[-+]?0b[01_]+\Z")),
)
_TEXT_11 = (
    re.compile(r"0o[0-7]+\Z"),
    re.compile(r"[-+]?0[0-9]*[89][0-9]*\Z"),
    re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?[eE][0-9]+\Z"),
    re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+\Z"),
)


class BadScalar(ValueError):
    """A scalar that is no JSON value."""


def read_plain(text: str) -> Json:
    """Return the value of a plain scalar. Raises BadScalar for numbers JSON cannot hold."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _MAYBE_NUMBER:
        return text
    if _INT.match(text):
        return _integer(text, 10)
    if _FLOAT.match(text):
        return _float(text)
    if _OCTAL.match(text) or _HEX.match(text):
        return _integer(text[2:], 8 if text[1] == "o" else 16)
    if _NOT_JSON.match(text):
        raise BadScalar(f"{text} is no JSON number")
    return text


def _integer(text: str, base: int) -> int:
    try:
        return int(text, base)
    except ValueError:
        raise BadScalar(f"a number of {len(text)} digits is too long") from None


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise BadScalar(f"{text[:40]} is out of range")
    return number


def reading_of_yaml_11(text: str) -> str:
    """Say how YAML 1.1 reads a plain scalar when that differs from YAML 1.2 (A26); empty when both agree."""
    if text in _WORDS_11:
        return "a boolean"
    if text[:1] not in _MAYBE_NUMBER or not text:
        return ""
    for kind, pattern in _DIFFERENT_11:
        if pattern.match(text):
            return kind
    return "a text" if any(pattern.match(text) for pattern in _TEXT_11) else ""


TAGS: dict[str, type | tuple[type, ...]] = {
    "tag:yaml.org,2002:str": str,
    "tag:yaml.org,2002:int": int,
    "tag:yaml.org,2002:float": (int, float),
    "tag:yaml.org,2002:bool": bool,
    "tag:yaml.org,2002:null": type(None),
}
"""The scalar tags of the core schema and the types their values have."""


def read_tagged(text: str, tag: str) -> Json:
    """Return the value of a scalar with a core tag. Raises BadScalar when the text does not fit the tag."""
    if tag in ("tag:yaml.org,2002:str", "!"):
        return text
    value = read_plain(text)
    wanted = TAGS[tag]
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise BadScalar(f"{text[:40]!r} is not of the type {tag.rsplit(':', 1)[1]}")
    return value * 1.0 if tag.endswith("float") and isinstance(value, int) else value
