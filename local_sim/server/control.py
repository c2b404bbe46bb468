"""The control endpoint below `/_local/`: status, faults, stop. Only for who can read the server's token file.

A web page must not reach it through a browser: besides the token, a foreign Host or any foreign Origin is refused.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any

from local_sim.services.asgi import Receive, Reply, Scope, Send, read_body, send_reply
from local_sim.services.errors import InvalidFaultRule
from local_sim.services.faults import FaultKind, FaultRule, Faults

TOKEN_HEADER = "x-local-sim-token"  # noqa: S105 - a header's name
_BODY_BYTES = 64 * 1024
_SERVICES = frozenset({"fnf", "fc", "ots", "oss", "*"})
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


class ControlApp:
    """Answers `GET status`, `GET faults`, `POST faults`, `POST faults/clear`, `POST stop` with JSON.

    `hosts` are the names besides loopback's that the server may be addressed by; `status` makes the status document.
    """

    def __init__(
        self,
        token: str,
        faults: Faults,
        *,
        hosts: frozenset[str],
        status: Callable[[], Mapping[str, Any]],
        stop: Callable[[], None],
    ) -> None:
        self._token = token
        self._faults = faults
        self._hosts = _LOOPBACK | hosts
        self._status = status
        self._stop = stop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        body = await read_body(receive, _BODY_BYTES)
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(headers)
        if refusal:
            status, document = 403, {"error": refusal}
        elif body is None:
            status, document = 413, {"error": f"the body has more than {_BODY_BYTES} bytes"}
        else:
            status, document = self._answer(scope["method"], scope["path"].rpartition("/_local/")[2], body)
        text = json.dumps(document).encode()
        await send_reply(send, Reply(status, ((b"content-type", b"application/json"),), text))

    def _refusal(self, headers: Mapping[str, str]) -> str:
        if _host_of(headers.get("host", "")) not in self._hosts:
            return "this host name is not served"
        origin = headers.get("origin")
        if origin is not None and _host_of(origin.partition("://")[2]) not in self._hosts:
            return "pages of other origins are not served"
        if not hmac.compare_digest(headers.get(TOKEN_HEADER, "").encode(), self._token.encode()):
            return f"the header {TOKEN_HEADER} does not hold this server's token"
        return ""

    def _answer(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
        if (method, path) == ("GET", "status"):
            return 200, dict(self._status())
        if (method, path) == ("GET", "faults"):
            return 200, self._list()
        if (method, path) == ("POST", "faults"):
            return self._add(body)
        if (method, path) == ("POST", "faults/clear"):
            self._faults.clear()
            return 200, {}
        if (method, path) == ("POST", "stop"):
            self._stop()
            return 200, {}
        return 404, {"error": f"{method} {path} is not known here"}

    def _list(self) -> dict[str, Any]:
        hits = [hit.rule for hit in self._faults.hits]
        return {
            "faults": [
                {**_shown(rule), "id": number, "hits": hits.count(number)}
                for number, rule in self._faults.rules.items()
            ]
        }

    def _add(self, body: bytes) -> tuple[int, dict[str, Any]]:
        try:
            given = json.loads(body)
            rule = FaultRule(**{**given, "kind": FaultKind(given["kind"])})
            if rule.service not in _SERVICES:
                raise InvalidFaultRule("service", f"{rule.service!r} is none of {', '.join(sorted(_SERVICES))}")
        except InvalidFaultRule as error:
            return 400, {"error": str(error)}
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            kinds = ", ".join(kind.value for kind in FaultKind)
            return 400, {"error": f"not a fault rule ({error}); it needs service, api and kind, one of {kinds}"}
        return 200, {"id": self._faults.add(rule)}


def _shown(rule: FaultRule) -> dict[str, Any]:
    return {
        "service": rule.service,
        "api": rule.api,
        "kind": rule.kind.value,
        "rate": rule.rate,
        "times": rule.times,
        "seed": rule.seed,
        "delay_ms": rule.delay_ms,
        "code": rule.code,
    }


def _host_of(text: str) -> str:
    """Return the host of `host:port`, lower-case; an IPv6 address keeps its brackets."""
    text = text.strip().lower().removeprefix("http://").rstrip("/")
    if text.startswith("["):
        return text.partition("]")[0] + "]"
    return text.partition(":")[0]
