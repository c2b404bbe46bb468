"""The names of the built-in functions and how many arguments each takes (language page 8). Nothing here runs."""

from __future__ import annotations

from typing import NamedTuple


class Signature(NamedTuple):
    """How a function is called; `maximum` None means any number. `source` is the page's key or an assumption id."""

    minimum: int
    maximum: int | None
    usage: str
    source: str


SIGNATURES: dict[str, Signature] = {
    "arrayContains": Signature(2, 2, "arrayContains(array, value)", "FUNC"),
    "arrayUnique": Signature(1, 1, "arrayUnique(array)", "FUNC"),
    "format": Signature(1, None, "format(template, value, ...)", "FUNC, A46"),
    "fromBase64": Signature(1, 1, "fromBase64(text)", "FUNC"),
    "get": Signature(2, 2, "get(container, key)", "FUNC, A38"),
    "hash": Signature(2, 2, "hash(text, algorithm)", "FUNC"),
    "intAdd": Signature(2, 2, "intAdd(a, b)", "FUNC, A41"),
    "jsonMerge": Signature(2, 2, "jsonMerge(first, second)", "FUNC"),
    "length": Signature(1, 1, "length(value)", "FUNC, A38"),
    "mapKeys": Signature(1, 1, "mapKeys(object)", "FUNC, A38"),
    "mapValues": Signature(1, 1, "mapValues(object)", "FUNC, A38"),
    "randomInt": Signature(2, 2, "randomInt(low, high)", "FUNC, A38, A41"),
    "regexMatchString": Signature(2, 2, "regexMatchString(text, pattern)", "FUNC, A38"),
    "split": Signature(2, 2, "split(text, separator)", "FUNC"),
    "stringToJson": Signature(1, 1, "stringToJson(text)", "FUNC"),
    "toArray": Signature(0, None, "toArray(value, ...)", "FUNC"),
    "uuid": Signature(0, 0, "uuid()", "IMS"),
}

ALIASES = {"fromJSON": "stringToJson"}
"""Other spellings the pages show."""

HASH_ALGORITHMS = ("MD5", "SHA-1", "SHA-256", "SHA-512")
"""The second argument of `hash`, spelled exactly so (FUNC)."""
