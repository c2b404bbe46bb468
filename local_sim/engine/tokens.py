"""Callback tokens: base64 of `v1#<flow>#<execution>#<eventId>#<base64 of a 20-byte MAC>`.

The shape is the one seen in published samples (API page, section 7). The MAC is HMAC-SHA1 over everything before its
`#`, so a token can be checked without a table of tokens. A client treats it as opaque.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass

from .errors import BadTokenError

_VERSION = "v1"


@dataclass(frozen=True, slots=True)
class Token:
    """What a token says. `event_id` is the task's id: that of its TaskScheduled event."""

    flow: str
    execution: str
    event_id: int
    mac: bytes

    @property
    def signed(self) -> str:
        """The text that the MAC covers."""
        return f"{_VERSION}#{self.flow}#{self.execution}#{self.event_id}"


def make_token(secret: bytes, flow: str, execution: str, event_id: int) -> str:
    """Return the token of one attempt of a task: ASCII text that may hold `+`, `/` and `=`."""
    signed = f"{_VERSION}#{flow}#{execution}#{event_id}"
    mac = base64.b64encode(_mac(secret, signed)).decode()
    return base64.b64encode(f"{signed}#{mac}".encode()).decode()


def parse_token(token: str) -> Token:
    """Read a token without checking its MAC. Raises BadTokenError when it has not the shape of one."""
    try:
        text = base64.b64decode(token, validate=True).decode()
        head, event_id, mac_text = text.rsplit("#", 2)
        version, flow, execution = head.split("#", 2)
        mac = base64.b64decode(mac_text, validate=True)
    except (ValueError, binascii.Error):
        raise BadTokenError("the task token is malformed") from None
    if version != _VERSION or not (event_id.isascii() and event_id.isdigit()) or len(event_id) > 18 or len(mac) != 20:
        raise BadTokenError("the task token is malformed")
    return Token(flow, execution, int(event_id), mac)


def verify_token(token: str, secret: bytes) -> Token:
    """Read a token and check its MAC. Raises BadTokenError, whose `forged` is true when only the MAC is wrong."""
    parsed = parse_token(token)
    if not hmac.compare_digest(parsed.mac, _mac(secret, parsed.signed)):
        raise BadTokenError("the task token was not made here, or was changed on its way", forged=True)
    return parsed


def _mac(secret: bytes, text: str) -> bytes:
    # SHA-1 because the published token carries 20 bytes; as a MAC it is still sound.
    return hmac.new(secret, text.encode(), hashlib.sha1).digest()
