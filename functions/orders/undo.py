"""What undoes a reservation, a payment and a shipment.

Each is recorded in the write that claims its step, when the shop's id is not known yet; the id is taken from the step's
own result, so nothing has to be written a second time. Without a result the shop is given the key the effect was asked
for with: it then undoes what came under that key, and refuses what may still come.
"""

from __future__ import annotations

from typing import Any

from functions.orders.shop import Shop
from functions.settings import current
from ledger import Compensation, CompensationContext, JsonValue

__all__ = ["cancel_shipment", "order_actions", "refund", "release_stock"]


def release_stock(order: str) -> Compensation:
    """Put the reserved pieces back."""
    return Compensation("release_stock", {"order": order})


def refund(order: str) -> Compensation:
    """Pay the money back."""
    return Compensation("refund", {"order": order})


def cancel_shipment(order: str) -> Compensation:
    """Call the parcel back. Without an id all open shipments of the order are cancelled."""
    return Compensation("cancel_shipment", {"order": order})


def order_actions() -> dict[str, Any]:
    """The action of each compensation, by name. Raises what `Shop.post` raises."""
    return {"release_stock": _released, "refund": _refunded, "cancel_shipment": _cancelled}


def _released(context: CompensationContext) -> JsonValue:
    return _shop(context).post("releases", _by_key(context, "reservation"), context.idempotency_key)


def _refunded(context: CompensationContext) -> JsonValue:
    return _shop(context).post("refunds", _by_key(context, "payment"), context.idempotency_key)


def _cancelled(context: CompensationContext) -> JsonValue:
    """The carrier takes no key, and needs none: what is cancelled stays cancelled."""
    return _shop(context).post("carrier/cancellations", _known(context, "shipment"))


def _shop(context: CompensationContext) -> Shop:
    return Shop.open(current(), context)


def _by_key(context: CompensationContext, kind: str) -> dict[str, Any]:
    known = _known(context, kind)
    return known if kind in known else {**known, "key": context.forward_key}


def _known(context: CompensationContext, kind: str) -> dict[str, Any]:
    """The order's number and, where the step left a result, the shop's id of what was made."""
    given, result = context.arguments, context.result
    known = dict(given) if isinstance(given, dict) else {}
    task = result.get("task") if isinstance(result, dict) else None
    made = task.get(kind) if isinstance(task, dict) else None
    return {**known, kind: made} if isinstance(made, str) and made else known
