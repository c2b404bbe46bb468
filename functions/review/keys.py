"""The secret keys of reviews, newest first, and what is derived from them for each purpose.

Rotation: put the new key in front; what was made with an older one still counts while that one stays in the list.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field

from functions.review.errors import ReviewKeysMissing
from functions.settings import Settings

__all__ = ["Keys"]

SHORTEST = 32
"""Characters of a key: 128 bits when it is hexadecimal."""


@dataclass(frozen=True)
class Keys:
    """At least one key, the newest first."""

    secrets: tuple[bytes, ...] = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Keys:
        """Keys from a text with commas. Raises `ReviewKeysMissing` for none, and for one that is too short."""
        found = tuple(part.strip().encode() for part in text.split(",") if part.strip())
        if not found:
            raise ReviewKeysMissing("STEPKEEPER_REVIEW_KEYS is not set: reviews need a key for links and tokens")
        if any(len(secret) < SHORTEST for secret in found):
            raise ReviewKeysMissing(f"a key in STEPKEEPER_REVIEW_KEYS has fewer than {SHORTEST} characters")
        return cls(found)

    @classmethod
    def of(cls, settings: Settings) -> Keys:
        """The keys of the settings."""
        return cls.parse(settings.review_keys.get_secret_value())

    def derived(self, purpose: str) -> tuple[bytes, ...]:
        """32 bytes for `purpose` from each key, so that no key does two jobs."""
        message = f"stepkeeper review {purpose}".encode()
        return tuple(hmac.new(secret, message, hashlib.sha256).digest() for secret in self.secrets)
