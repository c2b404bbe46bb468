"""Signed links: what a reviewer is sent. Pure.

A link's text has lower-case letters and digits 2 to 7 only (base32), so URL, JSON, HTML, Markdown, mail and chat carry
it unchanged and nothing clips its end (case C43). It names a review, a seat, what may be done and until when; it never
holds a callback token, and knowing it decides nothing until somebody sends a form (case C44).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from enum import Enum
from typing import Any

from functions.review.errors import LinkExpired, LinkForged
from functions.review.keys import Keys
from functions.review.model import ReviewId

__all__ = ["EVERYTHING", "LOOK_ONLY", "Link", "Links", "Scope"]

_SIGNATURE = 32
_LONGEST = 2000


class Scope(str, Enum):
    """What a link may do besides showing the review."""

    APPROVE = "a"
    REJECT = "r"
    MORE_INFO = "m"
    REASSIGN = "s"


EVERYTHING = frozenset(Scope)
LOOK_ONLY: frozenset[Scope] = frozenset()


@dataclass(frozen=True)
class Link:
    """What a link says. `seat` and `generation` name its holder, `expires_s` is in seconds since 1970."""

    review: ReviewId
    seat: int
    generation: int
    scope: frozenset[Scope]
    expires_s: int


class Links:
    """Makes and reads links. Any key of the list is good for reading, the newest one signs."""

    def __init__(self, keys: Keys) -> None:
        from itsdangerous import Signer

        # itsdangerous wants the newest key last.
        self._signer = Signer(
            list(reversed(keys.derived("link"))),
            salt=b"review-link-1",
            key_derivation="hmac",
            digest_method=hashlib.sha256,
        )

    def make(self, link: Link) -> str:
        """The link's text, the last segment of its address."""
        payload = _pack(link)
        signature = self._signer.get_signature(payload)
        return _text(payload + base64.urlsafe_b64decode(signature + b"="))

    def read(self, text: str, now_s: int) -> Link:
        """The link of `text`. Raises `LinkForged` unless it is exactly as it was made, `LinkExpired` after its time."""
        data = _data(text)
        payload, signature = data[:-_SIGNATURE], data[-_SIGNATURE:]
        if not self._signer.verify_signature(payload, base64.urlsafe_b64encode(signature).rstrip(b"=")):
            raise LinkForged("the link is not one of ours, or was changed on its way")
        link = _unpack(payload)
        if now_s >= link.expires_s:
            raise LinkExpired(link.expires_s)
        return link


def _text(data: bytes) -> str:
    return base64.b32encode(data).decode().rstrip("=").lower()


def _data(text: str) -> bytes:
    """The bytes of a link's text. Only the one way of writing them counts: no capitals, no stray bits at the end."""
    try:
        data = base64.b32decode(text.upper() + "=" * (-len(text) % 8)) if len(text) <= _LONGEST else b""
    except (ValueError, binascii.Error):
        data = b""
    if len(data) <= _SIGNATURE or _text(data) != text:
        raise LinkForged("the link is not one of ours, or was cut off on its way")
    return data


def _pack(link: Link) -> bytes:
    scope = "".join(sorted(one.value for one in link.scope))
    where = link.review
    fields = [where.task_id, where.workflow, where.step, link.seat, link.generation, scope, link.expires_s]
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def _unpack(payload: bytes) -> Link:
    fields: list[Any] = json.loads(payload)
    task_id, workflow, step, seat, generation, scope, expires_s = fields
    return Link(
        ReviewId(task_id, workflow, step), seat, generation, frozenset(Scope(letter) for letter in scope), expires_s
    )
