"""What a signed request claims, before it is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """A signature as sent, with what is needed to check it.

    `signed_ms` is when it was made (headers), `expires` and `expires_ms` when it ends (presigned URLs; None
    otherwise), all in milliseconds since the epoch except the text `expires`. `compute` turns a secret into the
    signature it should be.
    """

    access_key_id: str
    signature: str
    string_to_sign: bytes
    compute: Callable[[str], str]
    presigned: bool = False
    signed_ms: int = 0
    expires: str = ""
    expires_ms: int | None = None
