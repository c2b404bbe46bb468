"""Which bucket names, keys and other words are allowed (OSS's naming pages; O02 for keys)."""

from __future__ import annotations

import re

from local_sim.services.oss.errors import ApiError

MAX_KEY_BYTES = 1023
BUCKET_ACLS = frozenset({"private", "public-read", "public-read-write"})
OBJECT_ACLS = BUCKET_ACLS | {"default"}
STORAGE_CLASSES = frozenset({"Standard", "IA", "Archive", "ColdArchive", "DeepColdArchive"})
REDUNDANCIES = frozenset({"LRS", "ZRS"})

_BUCKET = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")


def check_bucket(name: str) -> str:
    """Return `name`; `InvalidBucketName` unless it has 3 to 63 of a-z, 0-9 and inner hyphens."""
    if not _BUCKET.fullmatch(name):
        raise ApiError("InvalidBucketName", BucketName=name)
    return name


def check_key(key: str) -> str:
    """Return `key`; `InvalidObjectName` unless it has 1 to 1023 bytes of UTF-8. Every character is allowed (O02)."""
    if not 1 <= len(key.encode()) <= MAX_KEY_BYTES:
        raise ApiError("InvalidObjectName", f"The length of the object name must be 1 to {MAX_KEY_BYTES} bytes.")
    return key


def one_of(allowed: frozenset[str], value: str, argument: str) -> str:
    """Return `value` when it is among `allowed`, else raise `InvalidArgument` that names the argument."""
    if value not in allowed:
        raise ApiError("InvalidArgument", f"no such {argument}", ArgumentName=argument, ArgumentValue=value)
    return value


def integer(text: str, argument: str, low: int, high: int) -> int:
    """Return `text` as a whole number between `low` and `high`, else raise `InvalidArgument`."""
    # isdigit() takes other scripts' digits too, and int() reads signs, blanks and underscores: none of them is OSS's.
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and low <= int(text) <= high):
        message = f"{argument} must be a whole number from {low} to {high}."
        raise ApiError("InvalidArgument", message, ArgumentName=argument, ArgumentValue=text)
    return int(text)


def boolean(text: str, argument: str) -> bool:
    """Return whether `text` is `true`; `InvalidArgument` unless it is `true` or `false`, in any case."""
    if text.lower() not in {"true", "false"}:
        message = f"{argument} must be true or false."
        raise ApiError("InvalidArgument", message, ArgumentName=argument, ArgumentValue=text)
    return text.lower() == "true"
