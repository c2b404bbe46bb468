"""What undoes a reservation, a payment and a shipment.

Each is recorded before its effect, when the shop's id is not known yet, and completed with the id once it is. Without
an id the shop is given the key the effect was asked for with: it then undoes what came under that key, and refuses what
may still come.
"""

from __future__ import annotations

from typing import Any

from functions.orders.shop import Shop
from functions.settings import current
from ledger import Compensation, CompensationContext, JsonValue

__all__ = ["cancel_shipment", "order_actions", "refund", "release_stock"]


def release_stock(order: str, reservation: str = "") -> Compensation:
    """Put the reserved pieces back."""
    return _compensation("release_stock", order, "reservation", reservation)


def refund(order: str, payment: str = "") -> Compensation:
    """Pay the money back."""
    return _compensation("refund", order, "payment", payment)


def cancel_shipment(order: str, shipment: str = "") -> Compensation:
    """Call the parcel back. Without an id all open shipments of the order are cancelled."""
    return _compensation("cancel_shipment", order, "shipment", shipment)


def order_actions() -> dict[str, Any]:
    """The action of each compensation, by name. Raises what `Shop.post` raises."""
    return {"release_stock": _released, "refund": _refunded, "cancel_shipment": _cancelled}


def _compensation(name: str, order: str, kind: str, made: str) -> Compensation:
    return Compensation(name, {"order": order, **({kind: made} if made else {})})


def _released(context: CompensationContext) -> JsonValue:
    return _shop(context).post("releases", _by_key(context, "reservation"), context.idempotency_key)


def _refunded(context: CompensationContext) -> JsonValue:
    return _shop(context).post("refunds", _by_key(context, "payment"), context.idempotency_key)


def _cancelled(context: CompensationContext) -> JsonValue:
    """The carrier takes no key, and needs none: what is cancelled stays cancelled."""
    return _shop(context).post("carrier/cancellations", _arguments(context))


def _shop(context: CompensationContext) -> Shop:
    return Shop.open(current(), context)


def _by_key(context: CompensationContext, kind: str) -> dict[str, Any]:
    known = _arguments(context)
    return known if kind in known else {**known, "key": context.forward_key}


def _arguments(context: CompensationContext) -> dict[str, Any]:
    """What was recorded: the order's number and, once it was known, the id of what was made."""
    given = context.arguments
    return dict(given) if isinstance(given, dict) else {}
