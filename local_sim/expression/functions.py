"""The built-in functions (language page 8).

Each takes the scope and its evaluated arguments and raises EvaluationError on wrong types (A08).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .errors import EvaluationError
from .scope import Scope
from .signatures import HASH_ALGORITHMS
from .values import Json, identity, parse_json, text_of, type_name

_PYTHON_TYPES: dict[str, type] = {"array": list, "object": dict, "text": str, "whole number": int}
# Far above the 64 KiB a state may hand on; keeps one expression from filling the memory.
_MAX_TEXT = 4 * 1024 * 1024
_HASHES = dict(zip(HASH_ALGORITHMS, ("md5", "sha1", "sha256", "sha512"), strict=True))


def _want(function: str, value: Json, *kinds: str) -> Any:
    """Return `value` when it is of one of the kinds; a boolean is no number."""
    if any(type(value) is _PYTHON_TYPES[kind] for kind in kinds):
        return value
    seen = "number with a fraction" if type(value) is float else type_name(value)
    raise EvaluationError(f"{function} wants {' or '.join(kinds)}, got {seen}")


def _array_contains(scope: Scope, array: Json, value: Json) -> Json:
    wanted = identity(value)
    return any(identity(item) == wanted for item in _want("arrayContains", array, "array"))


def _array_unique(scope: Scope, array: Json) -> Json:
    first: dict[Any, Json] = {}
    for item in _want("arrayUnique", array, "array"):
        first.setdefault(identity(item), item)
    return list(first.values())


def _format(scope: Scope, template: Json, *values: Json) -> Json:
    pieces = _want("format", template, "text").split("{}")
    if len(pieces) != len(values) + 1:
        raise EvaluationError(f"format has {len(pieces) - 1} place(s) {{}} for {len(values)} value(s)")
    written = [pieces[0]]
    size = 0
    for value, piece in zip(values, pieces[1:], strict=True):
        written += (text_of(value), piece)
        size += len(written[-2])
        if size > _MAX_TEXT:
            raise EvaluationError(f"format: the text is longer than {_MAX_TEXT} characters")
    return "".join(written)


def _from_base64(scope: Scope, text: Json) -> Json:
    import base64

    try:
        return base64.b64decode(_want("fromBase64", text, "text"), validate=True).decode()
    except UnicodeDecodeError:
        raise EvaluationError("fromBase64: the bytes are not UTF-8 text") from None
    except ValueError as error:
        raise EvaluationError(f"fromBase64: not Base64: {error}") from None


def _get(scope: Scope, container: Json, key: Json) -> Json:
    if type(container) is dict:
        if _want("get of an object", key, "text") in container:
            return container[key]
        raise EvaluationError(f"get: there is no key {key!r}")
    _want("get", container, "array", "object")
    index = _want("get of an array", key, "whole number")
    if 0 <= index < len(container):
        return container[index]
    raise EvaluationError(f"get: there is no index {index}; the array has {len(container)} item(s)")


def _hash(scope: Scope, text: Json, algorithm: Json) -> Json:
    import hashlib

    name = _HASHES.get(_want("hash", algorithm, "text"))
    if name is None:
        raise EvaluationError(f"hash: unknown algorithm {algorithm!r}; there are {', '.join(HASH_ALGORITHMS)}")
    return hashlib.new(name, _want("hash", text, "text").encode(), usedforsecurity=False).hexdigest()


def _int_add(scope: Scope, first: Json, second: Json) -> Json:
    return _want("intAdd", first, "whole number") + _want("intAdd", second, "whole number")


def _json_merge(scope: Scope, first: Json, second: Json) -> Json:
    return {**_want("jsonMerge", first, "object"), **_want("jsonMerge", second, "object")}


def _length(scope: Scope, value: Json) -> Json:
    return len(_want("length", value, "array", "object", "text"))


def _map_keys(scope: Scope, value: Json) -> Json:
    return list(_want("mapKeys", value, "object"))


def _map_values(scope: Scope, value: Json) -> Json:
    return list(_want("mapValues", value, "object").values())


def _random_int(scope: Scope, low: Json, high: Json) -> Json:
    if _want("randomInt", low, "whole number") > _want("randomInt", high, "whole number"):
        raise EvaluationError(f"randomInt: {low} is above {high}")
    return _source(scope, "randomInt").randint(low, high)


def _uuid(scope: Scope) -> Json:
    return _source(scope, "uuid").uuid()


def _source(scope: Scope, function: str) -> Any:
    if scope.random is None:
        raise EvaluationError(f"{function}: there is no source of random values here")
    return scope.random


@functools.lru_cache(maxsize=256)
def _pattern(pattern: str) -> Any:
    # RE2, the syntax of the service's own language: no look-around, no back-references, linear time on any text.
    import re2

    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def _regex_match_string(scope: Scope, text: Json, pattern: Json) -> Json:
    import re2

    _want("regexMatchString", text, "text")
    try:
        compiled = _pattern(_want("regexMatchString", pattern, "text"))
    except re2.error as error:
        reason = error.args[0] if error.args else "not a pattern"
        said = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        raise EvaluationError(f"regexMatchString: {said}") from None
    return compiled.search(text) is not None


def _split(scope: Scope, text: Json, separator: Json) -> Json:
    if not _want("split", separator, "text"):
        raise EvaluationError("split: the separator is empty")
    return _want("split", text, "text").split(separator)


def _string_to_json(scope: Scope, text: Json) -> Json:
    return parse_json(_want("stringToJson", text, "text"))


def _to_array(scope: Scope, *values: Json) -> Json:
    return list(values)


FUNCTIONS: dict[str, Callable[..., Json]] = {
    "arrayContains": _array_contains,
    "arrayUnique": _array_unique,
    "format": _format,
    "fromBase64": _from_base64,
    "get": _get,
    "hash": _hash,
    "intAdd": _int_add,
    "jsonMerge": _json_merge,
    "length": _length,
    "mapKeys": _map_keys,
    "mapValues": _map_values,
    "randomInt": _random_int,
    "regexMatchString": _regex_match_string,
    "split": _split,
    "stringToJson": _string_to_json,
    "toArray": _to_array,
    "uuid": _uuid,
}
