"""How big a value is on the wire: UTF-8 bytes of compact JSON, which is what the 64 KiB limits count (C54)."""

from __future__ import annotations

import json

from .events import Json
from .faults import RUNTIME_ERROR, StateFailure

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_SMALL_KEYS = 16
_SMALL_INT = 10**18


def json_bytes(value: Json, max_depth: int) -> int:
    """Return the value's size in bytes. Raises StateFailure for what is no JSON, or nested too deep (A60)."""
    try:
        text = _encode(value)
        size = len(text) if text.isascii() else len(text.encode())
    except RecursionError:
        raise _too_deep(max_depth) from None
    except (TypeError, ValueError) as error:
        raise StateFailure(RUNTIME_ERROR, f"not a JSON value: {error}") from None
    if text.count("{") + text.count("[") > max_depth and depth(value) > max_depth:
        raise _too_deep(max_depth)
    return size


def surely_fits(value: Json, limit: int) -> bool:
    """Say whether a small flat object is below the limit without writing it out; False means: measure it.

    Sound because every bound used is one from above: a character takes at most 6 bytes (an escape), a small whole
    number 20.
    """
    if type(value) is not dict or len(value) > _SMALL_KEYS:
        return False
    total = 2
    for key, item in value.items():
        kind = type(item)
        if kind is str:
            # Half a surrogate pair cannot be written at all; only ASCII text is certain to be free of it.
            if not item.isascii():
                return False
            total += 6 * len(item) + 8
        elif (kind is int and -_SMALL_INT < item < _SMALL_INT) or kind is bool or item is None:
            total += 28
        else:
            return False
        if not key.isascii():
            return False
        total += 6 * len(key)
    return total <= limit


def depth(value: Json) -> int:
    """Return how deep arrays and objects are nested: 0 for a scalar, 1 for `{}`. Uses no recursion."""
    found = 0
    level = [value]
    while level := [item for item in level if type(item) is dict or type(item) is list]:
        found += 1
        level = [inner for item in level for inner in (item.values() if type(item) is dict else item)]
    return found


def _too_deep(max_depth: int) -> StateFailure:
    return StateFailure(RUNTIME_ERROR, f"a value is nested deeper than {max_depth} levels")
