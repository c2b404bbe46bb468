"""A request to the API after routing, and what is answered; plus the few things all actions share."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from local_sim.services.timestamps import format_ms

from .errors import InvalidArgument

_Item = TypeVar("_Item")
_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Call:
    """A routed request. `function` and `item` are the names in the path; header names are lower-case."""

    action: str
    function: str = ""
    item: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    host: str = ""

    def text(self, name: str) -> str | None:
        """Return a query parameter; None when it is absent or empty."""
        return self.query.get(name) or None

    def limit(self, default: int = 20, most: int = _LIMIT) -> int:
        """Return the page size asked for. Raises InvalidArgument."""
        text = self.text("limit") or str(default)
        if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= 1):
            raise InvalidArgument(f"limit: must be a whole number from 1 to {most}", "limit")
        return min(int(text), most)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back: `document` becomes JSON unless `body` is given."""

    status: int = 200
    document: object = None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def content(self) -> bytes:
        """Return the bytes of the body."""
        if self.body is not None:
            return self.body
        if self.document is None:
            return b""
        return json.dumps(self.document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


class Outside(Protocol):
    """The time and fresh ids, given from outside so that tests can choose them."""

    def now_ms(self) -> int:
        """Return milliseconds since the epoch."""
        ...

    def new_id(self) -> str:
        """Return a fresh UUID."""
        ...


def iso(at_ms: int) -> str:
    """Return a time as the API spells it: UTC without a fraction, `2023-03-30T08:00:00Z`."""
    return format_ms(at_ms)[:19] + "Z"


def make_token(*key: str | int) -> str:
    """Return the token of a page that begins after `key`."""
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def read_token(token: str | None, *kinds: type) -> tuple[str | int, ...] | None:
    """Return the key inside `token`; None for no token. Raises InvalidArgument."""
    if not token:
        return None
    try:
        key = json.loads(base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise InvalidArgument("nextToken: was not made by this service", "nextToken") from error
    if not isinstance(key, list) or [type(part) for part in key] != list(kinds):
        raise InvalidArgument("nextToken: belongs to another listing", "nextToken")
    return tuple(key)


def page(
    call: Call, name: str, items: Sequence[_Item], key: Callable[[_Item], str], show: Callable[[_Item], object]
) -> Answer:
    """Return one page of `items`, which are in the order of the listing, with nextToken unless it is the last."""
    (after,) = read_token(call.text("nextToken"), str) or ("",)
    keys = [key(item) for item in items]
    start = keys.index(str(after)) + 1 if after in keys else 0
    limit = call.limit()
    shown = items[start : start + limit]
    document: dict[str, object] = {name: [show(item) for item in shown]}
    if start + limit < len(items):
        document["nextToken"] = make_token(key(shown[-1]))
    return Answer(document=document)
