"""The shop and its carrier, as a client: every answer is a result or a typed error.

The shop takes idempotency keys and gives a repeat the first answer. The carrier takes none; it can be asked what it has
for an order. Addresses and answers are described where the small shop of the offline runs is: `scripts/shop/app.py`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from functions.errors import OrderRefused, ResultConflict, StepkeeperError, SystemFault, TemporaryUpstreamError
from functions.settings import Settings
from functions.web import Peer, Reply, exchange
from ledger import Probe, StepContext

__all__ = ["Shop", "named"]

_PEER = Peer("shop", "SHOP_ENDPOINT")
_REFUSALS = (402, 409, 410, 422)


@dataclass(frozen=True)
class Shop:
    """The shop at `endpoint`. `timeout` (s) is never longer than the claim that the call is made under."""

    endpoint: str
    api_key: str
    timeout: float

    @classmethod
    def open(cls, settings: Settings, context: StepContext | None) -> Shop:
        """The shop of the settings. Raises `SystemFault` without an address."""
        if not settings.shop_endpoint:
            raise SystemFault("SHOP_ENDPOINT is not set: where is the shop?", effect_applied=False)
        left = settings.shop_timeout if context is None else context.remaining_seconds
        # Connecting, sending and waiting each take at most this long; together they stay within the claim.
        timeout = max(0.05, min(settings.shop_timeout, left / 3))
        return cls(settings.shop_endpoint.rstrip("/"), settings.shop_api_key.get_secret_value(), timeout)

    def post(self, path: str, body: dict[str, Any], key: str = "") -> dict[str, Any]:
        """POST and return the answer's object. `key` is the idempotency key, "" where none is taken.

        Raises `OrderRefused` (a business reason: nothing was done), `ResultConflict` (the key came with another body
        before), `TemporaryUpstreamError`, `SystemFault` (anything else).
        """
        headers = {"Content-Type": "application/json; charset=utf-8", **({"Idempotency-Key": key} if key else {})}
        content = json.dumps(body, ensure_ascii=False, sort_keys=True).encode()
        return _object(self._send("POST", path, content, headers), key)

    def shipment(self, order: str) -> Probe:
        """Whether the carrier has a shipment for the order: applied (with its id), not applied, or nobody can tell.

        Raises `TemporaryUpstreamError` while the carrier still works on a request, or is away: ask again later.
        """
        reply = self._send("GET", f"carrier/shipments?order={quote(order, safe='')}", None, {})
        if reply.status == 202:
            raise TemporaryUpstreamError("the carrier still works on the order", upstream=_PEER.name, status=202)
        found = reply.body.get("shipments") if reply.status == 200 and isinstance(reply.body, dict) else None
        if not isinstance(found, list):
            return Probe.cannot_tell(f"the carrier cannot say whether the order is shipped: {_said(reply)}")
        if not found:
            return Probe.not_applied()
        if len(found) > 1:
            return Probe.cannot_tell(f"the carrier has {len(found)} shipments for the order")
        return Probe.applied(named(found[0]))

    def _send(self, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> Reply:
        if self.api_key:
            headers = {**headers, "Authorization": f"Bearer {self.api_key}"}
        url = f"{self.endpoint}/{path}"
        return exchange(_PEER, method, url, content=content, headers=headers, timeout=self.timeout)


def named(thing: Any) -> str:
    """The id of a reservation, payment or shipment. Raises `TemporaryUpstreamError`: it was made, ask again for it."""
    found = thing.get("id") if isinstance(thing, dict) else None
    if not isinstance(found, str) or not found:
        raise TemporaryUpstreamError("the shop's answer names no id", upstream=_PEER.name)
    return found


def _object(reply: Reply, key: str) -> dict[str, Any]:
    if 200 <= reply.status < 300:
        if not isinstance(reply.body, dict):
            raise TemporaryUpstreamError("the shop's answer is not a JSON object", upstream=_PEER.name)
        return reply.body
    raise _refusal(reply, key)


def _refusal(reply: Reply, key: str) -> StepkeeperError:
    reason = reply.body.get("error") if isinstance(reply.body, dict) else None
    if reason == "key_reused":
        return ResultConflict(f"the shop knows the key with another request: {_said(reply)}", key=key)
    if reply.status in _REFUSALS and isinstance(reason, str):
        return OrderRefused(f"the shop refused: {_said(reply)}", reason=reason, status=reply.status)
    return SystemFault(f"the shop answered {_said(reply)}", effect_applied=False, status=reply.status)


def _said(reply: Reply) -> str:
    body = reply.body if isinstance(reply.body, dict) else {}
    words = [str(body[name]) for name in ("error", "message") if body.get(name)]
    return ": ".join([*words][:2]) + f" (status {reply.status})" if words else f"status {reply.status}"
