"""The shop's business: what each request does, and how a repeat gets the first answer. No HTTP here."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from scripts.shop.store import Answer, Store, Thing

__all__ = ["BadRequest", "Desk"]

Body = dict[str, Any]


class BadRequest(ValueError):
    """A body that lacks something. The text says what; nothing is kept under the key."""


class Desk:
    """Reservations, payments and their undoing take an idempotency key; shipments (the carrier's) do not.

    Undoing names what it undoes by its id or by the `key` it was asked for with. A key that nobody used is closed:
    the request that comes late under it is refused.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.keyed: dict[str, Callable[[Body, str, bool], Answer]] = {
            "reservations": self._reserve,
            "releases": self._release,
            "payments": self._charge,
            "refunds": self._refund,
        }
        self.unkeyed: dict[str, Callable[[Body, bool], Answer]] = {
            "carrier/shipments": self._ship,
            "carrier/cancellations": self._cancel,
        }

    def once(self, place: str, key: str, body: Body, *, refuse: bool = False) -> Answer:
        """Do what is asked unless the key was used; then give the first answer. 422 for another body under the key."""
        if not key:
            raise BadRequest("the header Idempotency-Key is missing")
        asked = json.dumps([place, body], sort_keys=True)
        with self._store.transaction():
            found = self._store.request(key)
            if found is not None:
                first, answer = found
                return answer if first in (asked, "") else _no(422, "key_reused", "this key came with another body")
            answer = self.keyed[place](body, key, refuse)
            self._store.keep(key, asked, answer)
        return answer

    def at_once(self, place: str, body: Body, *, refuse: bool = False) -> Answer:
        """Do what is asked of the carrier, every time it is asked."""
        with self._store.transaction():
            return self.unkeyed[place](body, refuse)

    def shipments(self, order: str) -> Answer:
        """What the carrier knows of an order: 200 with the open shipments, or 202 while a request is in progress."""
        if self._store.arriving(order):
            return Answer(202, {"order": order, "in_progress": True})
        found = [thing for thing in self._store.things("shipment", order=order) if thing.state == "open"]
        return Answer(200, {"order": order, "shipments": [_shown(thing) for thing in found]})

    def _reserve(self, body: Body, key: str, refuse: bool) -> Answer:
        order = _text(body, "order")
        lines = _lines(body)
        short = [sku for sku, quantity in lines.items() if self._store.stock(sku) < quantity]
        if short or refuse:
            return _no(409, "out_of_stock", f"not enough of {', '.join(short) or 'everything'}")
        self._move(lines, -1)
        return self._made("reservation", "reserve", order, key, lines)

    def _release(self, body: Body, key: str, refuse: bool) -> Answer:
        thing = self._named(body, "reservation")
        if thing is not None and thing.state == "open":
            self._move(thing.detail, 1)
        return self._undone(thing, "released", "release")

    def _charge(self, body: Body, key: str, refuse: bool) -> Answer:
        order, amount = _text(body, "order"), _whole(body, "amount")
        detail = {"amount": amount, "currency": _text(body, "currency"), "method": _text(body, "method")}
        if refuse:
            return _no(402, "declined", "the card was declined")
        return self._made("payment", "charge", order, key, detail)

    def _refund(self, body: Body, key: str, refuse: bool) -> Answer:
        return self._undone(self._named(body, "payment"), "refunded", "refund")

    def _ship(self, body: Body, refuse: bool) -> Answer:
        order, address = _text(body, "order"), _text(body, "address")
        self._store.arrived(order)
        if refuse:
            return _no(422, "undeliverable", "the carrier does not deliver to this address")
        return self._made("shipment", "ship", order, "", {"address": address})

    def _cancel(self, body: Body, refuse: bool) -> Answer:
        if refuse:
            return _no(409, "already_left", "the parcel has left the house")
        if "shipment" in body:
            found = [self._by_id(body, "shipment")]
        else:
            found = self._store.things("shipment", order=_text(body, "order"))
        still = [thing for thing in found if thing.state == "open"]
        for thing in still:
            self._undone(thing, "cancelled", "cancel")
        return Answer(200, {"cancelled": [thing.id for thing in still]})

    def _made(self, kind: str, effect: str, order: str, key: str, detail: Any) -> Answer:
        thing = self._store.add(kind, order, key, detail)
        self._store.happened(effect, order)
        return Answer(201, _shown(thing))

    def _undone(self, thing: Thing | None, state: str, effect: str) -> Answer:
        if thing is None:
            return Answer(200, {"undone": False})
        if thing.state == "open":
            self._store.settle(thing, state)
            self._store.happened(effect, thing.order)
        return Answer(200, {"undone": True, "id": thing.id})

    def _named(self, body: Body, kind: str) -> Thing | None:
        if kind in body:
            return self._by_id(body, kind)
        key = _text(body, "key")
        if self._store.request(key) is None:
            self._store.keep(key, "", _no(409, "closed", "this request was undone before it came"))
        return next(iter(self._store.things(kind, key=key)), None)

    def _by_id(self, body: Body, kind: str) -> Thing:
        name, _, number = _text(body, kind).rpartition("-")
        found = self._store.things(kind, number=int(number)) if name == kind and number.isdecimal() else []
        if not found:
            raise BadRequest(f"there is no {kind} {body[kind]}")
        return found[0]

    def _move(self, lines: dict[str, int], sign: int) -> None:
        for sku, quantity in lines.items():
            self._store.set_stock(sku, self._store.stock(sku) + sign * quantity)


def _no(status: int, error: str, message: str) -> Answer:
    return Answer(status, {"error": error, "message": message})


def _shown(thing: Thing) -> Body:
    return {"id": thing.id, "order": thing.order, "state": thing.state}


def _text(body: Body, name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise BadRequest(f"{name} must be a text that is not empty")
    return value


def _whole(body: Body, name: str) -> int:
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise BadRequest(f"{name} must be a whole number above 0")
    return value


def _lines(body: Body) -> dict[str, int]:
    """Pieces by article; an article that stands in two lines is added up."""
    given = body.get("lines")
    if not isinstance(given, list) or not given or not all(isinstance(line, dict) for line in given):
        raise BadRequest("lines must be a list of objects")
    pieces: dict[str, int] = {}
    for line in given:
        sku = _text(line, "sku")
        pieces[sku] = pieces.get(sku, 0) + _whole(line, "quantity")
    return pieces
