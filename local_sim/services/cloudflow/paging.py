"""Paging tokens: opaque text that says after which key the next page begins, so that insertions shift nothing."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .errors import InvalidArgument

_Item = TypeVar("_Item")


def make_token(*key: str | int) -> str:
    """Return the token of a page that begins after `key`."""
    return base64.urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode().rstrip("=")


def read_token(token: str | None, *kinds: type) -> tuple[Any, ...] | None:
    """Return the key inside `token`, its parts of the given kinds; None for no token. Raises InvalidArgument."""
    if not token:
        return None
    try:
        padded = token + "=" * (-len(token) % 4)
        key = json.loads(base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise InvalidArgument("Parameter 'NextToken' was not made by this service.", "NextToken") from error
    if not isinstance(key, list) or [type(part) for part in key] != list(kinds):
        raise InvalidArgument("Parameter 'NextToken' belongs to another listing.", "NextToken")
    return tuple(key)


def cut_page(
    found: Sequence[_Item], limit: int, key: Callable[[_Item], tuple[str | int, ...]]
) -> tuple[Sequence[_Item], str | None]:
    """Return the first `limit` of `found`, which holds one more when there is more, and the next token or None."""
    page = found[:limit]
    return page, make_token(*key(page[-1])) if len(found) > limit else None
