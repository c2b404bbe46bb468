"""Who may use the console: foreign Host and Origin are refused, forms carry a token, a remote console has a login.

A page of another site can send requests to loopback from a browser, but it can neither read the console's pages, where
the forms' token stands, nor send them under this server's own name and origin. With a secret the server may have any
name: the cookie of the login goes to the name it was set for, and to no other.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
COOKIE = "local_sim_console"
LOGIN_PATH = "/console/login"
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Decides on requests. `hosts` are names besides loopback's; a `secret` asks for a login first."""

    def __init__(self, hosts: Iterable[str] = (), secret: str | None = None) -> None:
        self._hosts = LOOPBACK | frozenset(host.lower() for host in hosts)
        self._secret = secret
        self.form_token = secrets.token_urlsafe(24)

    def refusal(self, request: Request) -> Response | None:
        """Return the answer that turns a request away; None lets it in."""
        host = host_of(request.headers.get("host", ""))
        if self._secret is None and host not in self._hosts:
            return PlainTextResponse("this host name is not served here", 403)
        origin = request.headers.get("origin")
        if origin is not None and host_of(origin.partition("://")[2]) not in {host, *self._hosts}:
            return PlainTextResponse("pages of other origins may not use the console", 403)
        if request.headers.get("sec-fetch-site") == "cross-site" and request.method != "GET":
            return PlainTextResponse("pages of other origins may not use the console", 403)
        public = request.url.path == LOGIN_PATH or request.url.path.startswith("/console/static/")
        if self._secret is not None and not public and not self._logged_in(request):
            return RedirectResponse(LOGIN_PATH, 303)
        return None

    def form_is_ours(self, token: object) -> bool:
        """Say whether a form was made by this server."""
        return isinstance(token, str) and hmac.compare_digest(token.encode(), self.form_token.encode())

    def login(self, given: object) -> str | None:
        """Return the cookie's value for the right secret, else None."""
        if self._secret is None or not isinstance(given, str):
            return None
        return self._cookie(self._secret) if hmac.compare_digest(given.encode(), self._secret.encode()) else None

    def _logged_in(self, request: Request) -> bool:
        return hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), self._cookie(self._secret or "").encode())

    def _cookie(self, secret: str) -> str:
        return hmac.new(secret.encode(), f"console {self.form_token}".encode(), hashlib.sha256).hexdigest()


def host_of(text: str) -> str:
    """Return the host of `host:port`, lower-case; an IPv6 address keeps its brackets."""
    text = text.strip().lower().rstrip("/")
    if text.startswith("["):
        return text.partition("]")[0] + "]"
    return text.partition(":")[0]
