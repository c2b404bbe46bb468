"""JSON values as expressions see them: their types, when two are equal, and how they look as text."""

from __future__ import annotations

import json
import math
from typing import Any, TypeAlias

from .errors import EvaluationError

Json: TypeAlias = Any
"""A JSON value: None, bool, int of any size, finite float, str, list or dict with str keys."""

_TYPE_NAMES = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "text",
    list: "array",
    dict: "object",
}


def type_name(value: Json) -> str:
    """Return the JSON type of a value: null, boolean, number, text, array or object."""
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def json_equal(left: Json, right: Json) -> bool:
    """Say whether two JSON values are equal at every depth. Unlike `==`, true is not 1; 1 and 1.0 are equal."""
    return bool(identity(left) == identity(right))


def identity(value: Json) -> Any:
    """Return something hashable that is equal for equal JSON values and only for those."""
    kind = type(value)
    if kind is bool:
        return ("boolean", value)
    if kind is list:
        return ("array", tuple(identity(item) for item in value))
    if kind is dict:
        return ("object", frozenset((key, identity(item)) for key, item in value.items()))
    return value


def text_of(value: Json) -> str:
    """Return how `format` writes a value: text as it is, anything else as compact JSON."""
    if type(value) is str:
        return value
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise EvaluationError(f"{type_name(value)} cannot be written as text: {error}") from None


def parse_json(text: str) -> Json:
    """Parse JSON text strictly: no NaN, no numbers out of range, no half surrogate pairs, no key twice.

    Raises EvaluationError.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_no_duplicates)
        if "\\u" in text:
            text_of(value).encode()
    except EvaluationError:
        raise
    except UnicodeEncodeError:
        raise EvaluationError("not valid JSON: half of a surrogate pair") from None
    except RecursionError:
        raise EvaluationError("JSON nested too deep") from None
    except ValueError as error:
        raise EvaluationError(f"not valid JSON: {error}") from None
    return value


def _refuse_constant(name: str) -> None:
    raise EvaluationError(f"not valid JSON: {name}")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise EvaluationError(f"not valid JSON: number out of range: {text}")
    return number


def _no_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise EvaluationError(f"not valid JSON: key {twice!r} twice")
    return result
