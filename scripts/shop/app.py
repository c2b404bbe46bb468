"""The shop over HTTP, as a plain ASGI app. Bodies are JSON objects.

| request | body | answer |
| --- | --- | --- |
| `POST /reservations` | order, lines: [{sku, quantity}] | 201 reservation; 409 out_of_stock |
| `POST /releases` | reservation (id), else key | 200 undone: true or false |
| `POST /payments` | order, amount (smallest unit), currency, method | 201 payment; 402 declined |
| `POST /refunds` | payment (id), else key | 200 undone: true or false |
| `GET /requests/KEY` | | what was answered under an idempotency key; 404 |
| `POST /carrier/shipments` | order, address | 201 shipment; 422 undeliverable |
| `POST /carrier/cancellations` | shipment (id), else order | 200 cancelled: [ids]; 409 already_left |
| `GET /carrier/shipments?order=N` | | 200 shipments: [...]; 202 in progress; 409 unknown |
| `GET /stock/SKU`, `PUT /stock/SKU` | available | 200 sku, available |
| `GET /effects?order=N` | | 200 effects: [kind, ...] in order |
| `POST /faults`, `DELETE /faults` | place, kind, times, order, delay_ms | 204 |

The first four take `Idempotency-Key` and give a repeat the first answer, refusals included; the same key with another
body is 422. The carrier takes no key: every shipment asked for is shipped.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from scripts.shop.desk import BadRequest, Desk
from scripts.shop.store import Answer, Fault, FaultKind, Store

__all__ = ["ShopApp", "create_app"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
_MAX_BODY = 1 << 20
_UNDOES = {"release": "reserve", "refund": "charge", "cancel": "ship"}
_NOT_FOUND = Answer(404, {"error": "not_found", "message": "there is nothing here"})
_BUSY = Answer(503, {"error": "busy", "message": "come again"})
_BROKEN = Answer(500, {"error": "internal", "message": "something broke"})
_UNKNOWN = Answer(409, {"error": "unknown", "message": "nobody knows; ask the carrier's desk"})


def create_app(folder: Path) -> ShopApp:
    """Return the shop whose file lies in `folder`."""
    return ShopApp(Store(folder / "shop.sqlite3"))


class ShopApp:
    """The ASGI app; `close` closes its file."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._desk = Desk(store)
        # What was in progress when an earlier process died was never applied: applying is one transaction.
        store.arrived()

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def effects(self) -> list[dict[str, Any]]:
        """What really happened, oldest first, as `local-sim explore` judges it: an undoing names what it took back."""
        return [
            {"name": one.kind, "subject": one.order, "undoes": _UNDOES.get(one.kind, "")}
            for one in self._store.effects()
        ]

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        data = await _read(receive)
        try:
            answer = await self._answer(scope, data)
        except BadRequest as error:
            answer = Answer(400, {"error": "bad_request", "message": str(error)})
        await (_cut(send) if answer is None else _reply(send, answer))

    async def _answer(self, scope: MutableMapping[str, Any], data: bytes) -> Answer | None:
        """The answer; None to break the connection."""
        method, place = scope["method"], scope["path"].strip("/")
        body = _object(data)
        order = str(body.get("order") or _query(scope, "order"))
        if place == "faults":
            return self._switch(method, body)
        fault = self._store.strike(place, order)
        if fault is None:
            return self._apply(method, place, scope, body)
        return await self._faulty(fault, lambda refuse: self._apply(method, place, scope, body, refuse=refuse), order)

    async def _faulty(self, fault: Fault, apply: Callable[[bool], Answer], order: str) -> Answer | None:
        kind = fault.kind
        if kind in (FaultKind.LOSE, FaultKind.BUSY, FaultKind.UNKNOWN):
            return {FaultKind.LOSE: None, FaultKind.BUSY: _BUSY, FaultKind.UNKNOWN: _UNKNOWN}[kind]
        if kind is FaultKind.SLOW:
            self._store.arrive(order)
            await asyncio.sleep(fault.delay_ms / 1000)
        answer = apply(kind is FaultKind.REFUSE)
        if kind is FaultKind.LATE:
            await asyncio.sleep(fault.delay_ms / 1000)
        if kind is FaultKind.DROP:
            return None
        return _BROKEN if kind is FaultKind.ERROR else answer

    def _apply(
        self, method: str, place: str, scope: MutableMapping[str, Any], body: dict[str, Any], *, refuse: bool = False
    ) -> Answer:
        if method == "POST" and place in self._desk.keyed:
            return self._desk.once(place, _header(scope, b"idempotency-key"), body, refuse=refuse)
        if method == "POST" and place in self._desk.unkeyed:
            return self._desk.at_once(place, body, refuse=refuse)
        if method == "GET":
            return self._look(place, _query(scope, "order"))
        if method == "PUT" and place.startswith("stock/"):
            return self._stock(place.removeprefix("stock/"), body)
        return _NOT_FOUND

    def _look(self, place: str, order: str) -> Answer:
        if place == "carrier/shipments":
            return self._desk.shipments(order)
        if place == "effects":
            return Answer(200, {"effects": [effect.kind for effect in self._store.effects(order)]})
        kind, _, name = place.partition("/")
        if kind == "stock" and name:
            return Answer(200, {"sku": unquote(name), "available": self._store.stock(unquote(name))})
        found = self._store.request(unquote(name)) if kind == "requests" and name else None
        if found is None:
            return _NOT_FOUND
        return Answer(200, {"key": unquote(name), "status": found[1].status, "body": found[1].body})

    def _stock(self, name: str, body: dict[str, Any]) -> Answer:
        available = body.get("available")
        if isinstance(available, bool) or not isinstance(available, int) or available < 0:
            raise BadRequest("available must be a whole number")
        self._store.set_stock(unquote(name), available)
        return Answer(200, {"sku": unquote(name), "available": available})

    def _switch(self, method: str, body: dict[str, Any]) -> Answer:
        if method == "DELETE":
            self._store.switches_off()
        elif method == "POST":
            try:
                self._store.switch(Fault(**{**body, "kind": FaultKind(body.get("kind"))}))
            except (TypeError, ValueError) as error:
                raise BadRequest(f"not a fault: {error}") from None
        else:
            return _NOT_FOUND
        return Answer(204, {})


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data) if data else {}
    except ValueError:
        raise BadRequest("the body is not JSON") from None
    if not isinstance(value, dict):
        raise BadRequest("the body must be a JSON object")
    return value


def _query(scope: MutableMapping[str, Any], name: str) -> str:
    given = bytes(scope.get("query_string", b"")).decode()
    return parse_qs(given).get(name, [""])[0]


def _header(scope: MutableMapping[str, Any], name: bytes) -> str:
    found = [bytes(value) for given, value in scope["headers"] if given == name]
    return found[0].decode("latin-1") if found else ""


async def _read(receive: Receive) -> bytes:
    parts: list[bytes] = []
    more = True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = bool(message.get("more_body", False)) and sum(map(len, parts)) <= _MAX_BODY
    return b"".join(parts)


async def _reply(send: Send, answer: Answer) -> None:
    data = b"" if answer.status == 204 else json.dumps(answer.body, ensure_ascii=False).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": data})


async def _cut(send: Send) -> None:
    """An answer that promises a byte and ends without it: every ASGI server then closes the connection."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})
    await send({"type": "http.response.body", "body": b"", "more_body": True})
