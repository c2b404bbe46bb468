"""Canonical JSON and the fingerprint of a step's input."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from ledger.errors import NotJson

JsonValue = None | bool | int | float | str | list[Any] | dict[str, Any]

_MAX_DEPTH = 200
_IDENTIFIER_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def canonical(value: object) -> str:
    """Return the one JSON text of `value`: keys sorted at every depth, no blanks, UTF-8 text unescaped.

    List order counts, dict order does not (case C29). Raises `NotJson` with the path for NaN, infinities, cycles,
    bytes, sets, non-string keys, lone surrogates and anything nested deeper than 200.
    """
    _check(value, "$", set(), 0)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def check_cell(value: object, path: str) -> None:
    """Raise `NotJson` unless `value` can be one column's: a bool, a 64-bit integer, a finite number or Unicode text."""
    if value is None or isinstance(value, list | tuple | dict):
        raise NotJson(path, f"a column cannot hold {type(value).__name__}")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise NotJson(path, "an integer of more than 64 bits")
    _check(value, path, set(), 0)


def fingerprint(value: object, ignore: Iterable[str] = (), json_text: Iterable[str] = ()) -> str:
    """Return the SHA-256 (hex) of the canonical form of `value`.

    `ignore` names fields that do not count, dotted for nested ones (`meta.sent_at`). `json_text` names string fields
    that hold JSON, which are parsed first so that spacing and key order inside them do not count (case C30); a field
    that does not parse counts as the text it is.
    """
    checked = json.loads(canonical(value))
    for path in ignore:
        _drop(checked, path.split("."))
    for path in json_text:
        _parse_text(checked, path.split("."))
    return hashlib.sha256(canonical(checked).encode()).hexdigest()


def _check(value: object, path: str, inside: set[int], depth: int) -> None:
    if value is None or isinstance(value, (bool, int)):
        return
    if isinstance(value, str):
        _check_text(value, path)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise NotJson(path, f"{value!r} is not a JSON number")
    elif isinstance(value, (list, tuple, Mapping)):
        _check_container(value, path, inside, depth)
    else:
        raise NotJson(path, f"a value of type {type(value).__name__}")


def _check_text(text: str, path: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotJson(path, "text with a lone surrogate cannot be written as UTF-8") from None


def _check_container(value: Any, path: str, inside: set[int], depth: int) -> None:
    if id(value) in inside:
        raise NotJson(path, "the value contains itself")
    if depth >= _MAX_DEPTH:
        raise NotJson(path, f"nested deeper than {_MAX_DEPTH}")
    if isinstance(value, Mapping) and not isinstance(value, dict):
        raise NotJson(path, f"a value of type {type(value).__name__}")
    inside.add(id(value))
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotJson(path, f"the key {key!r} is not text")
            _check_text(key, path)
            _check(item, f"{path}{_segment(key)}", inside, depth + 1)
    else:
        for index, item in enumerate(value):
            _check(item, f"{path}[{index}]", inside, depth + 1)
    inside.discard(id(value))


def _segment(key: str) -> str:
    return f".{key}" if key and _IDENTIFIER_CHARACTERS.issuperset(key) else f"[{key!r}]"


def _drop(value: Any, path: list[str]) -> None:
    holder = _holder(value, path)
    if holder is not None:
        holder.pop(path[-1], None)


def _parse_text(value: Any, path: list[str]) -> None:
    holder = _holder(value, path)
    if holder is None or not isinstance(holder.get(path[-1]), str):
        return
    try:
        parsed = json.loads(holder[path[-1]])
        canonical(parsed)
    except (ValueError, RecursionError, NotJson):
        return
    # Wrapped, so that parsed JSON never equals the same value given as a value.
    holder[path[-1]] = {"json": parsed}


def _holder(value: Any, path: list[str]) -> dict[str, Any] | None:
    for name in path[:-1]:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value if isinstance(value, dict) else None
