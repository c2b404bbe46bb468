"""What stands between a request and a decision: the form's own token, the site it was sent from, and a rate limit."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from functions.review.keys import Keys
from functions.review.web.envelope import Request

__all__ = ["HEADERS", "Allowance", "FormTokens", "foreign"]

FORM_SECONDS = 6 * 3600
"""How long a form may lie open."""
HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex, nofollow",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class FormTokens:
    """CSRF tokens: made for one link when its form is shown, good for `FORM_SECONDS`.

    There is no session and no cookie, so a foreign site has nothing to ride on: it would have to know the link. The
    token adds that a decision comes from a form that this page has shown.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys.derived("form")

    def make(self, link: str, now_s: int) -> str:
        """The token of a form for `link`."""
        return f"{now_s:x}-{_mac(self._keys[0], link, now_s)}"

    def good(self, token: str, link: str, now_s: int) -> bool:
        """Whether the token was made for `link`, and lately enough."""
        head, _, mac = token.partition("-")
        try:
            made = int(head, 16)
        except ValueError:
            return False
        if head != f"{made:x}" or not made <= now_s < made + FORM_SECONDS:
            return False
        return any(hmac.compare_digest(_mac(key, link, made).encode(), mac.encode()) for key in self._keys)


def foreign(request: Request) -> bool:
    """Whether a browser says that the form was sent from another site. `Origin` says nothing here: without a referrer
    browsers send `null`."""
    return request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")


@dataclass
class _Bucket:
    left: float
    at_ms: int


class Allowance:
    """At most `burst` at once and `per_minute` in the long run for each name; of the last `most` names.

    It lives in the memory of one instance (assumption V06): several instances allow several times as much. It slows
    down guessing and hammering; what decides is signed and conditional, whatever comes through.
    """

    def __init__(self, burst: int, per_minute: int, most: int = 4096) -> None:
        self._burst, self._rate, self._most = burst, per_minute / 60_000, most
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._lock = threading.Lock()

    def wait_s(self, name: str, now_ms: int) -> int:
        """Take one; 0 when there was one, else the seconds until there is."""
        with self._lock:
            bucket = self._buckets.pop(name, None) or _Bucket(self._burst, now_ms)
            bucket.left = min(self._burst, bucket.left + max(0, now_ms - bucket.at_ms) * self._rate)
            bucket.at_ms = now_ms
            self._buckets[name] = bucket
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
            if bucket.left >= 1:
                bucket.left -= 1
                return 0
            return int((1 - bucket.left) / self._rate / 1000) + 1


def _mac(key: bytes, link: str, made_s: int) -> str:
    return hmac.new(key, f"{made_s:x} {link}".encode(), hashlib.sha256).hexdigest()[:40]
