"""What undoes a reservation, a payment and a shipment.

Each is recorded before its effect, when the shop's id is not known yet, and completed with the id once it is. Without
an id the shop is given the key the effect was asked for with: it then undoes what came under that key, and refuses what
may still come.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    made = _known(context, "shipment")
    return _shop(context).post("carrier/cancellations", {"shipment": made} if made else {"order": _order(context)})


def _shop(context: CompensationContext) -> Shop:
    return Shop.open(current(), context)


def _by_key(context: CompensationContext, kind: str) -> dict[str, Any]:
    made = _known(context, kind)
    return {kind: made} if made else {"key": context.forward_key}


def _known(context: CompensationContext, kind: str) -> str:
    return str(_arguments(context).get(kind, ""))


def _order(context: CompensationContext) -> str:
    return str(_arguments(context)["order"])


def _arguments(context: CompensationContext) -> Mapping[str, Any]:
    given = context.arguments
    return given if isinstance(given, dict) else {}
