"""ReserveStock: sets the ordered pieces aside, once."""

from __future__ import annotations

from typing import Any

from functions.orders.models import OrderEvent
from functions.orders.shop import Shop, named
from functions.orders.undo import release_stock
from functions.step import Call, step
from ledger import EffectKind

__all__ = ["handler"]


@step(
    OrderEvent,
    kind=EffectKind.IDEMPOTENT,
    compensation=lambda call: release_stock(call.event.task.task_id),
)
def handler(call: Call[OrderEvent]) -> dict[str, Any]:
    """Answers with `task.reservation`. Raises `OrderRefused` (out_of_stock) and what `Shop.post` raises."""
    order = call.event.task
    body = {"order": order.task_id, "lines": [line.model_dump() for line in order.lines]}
    made = named(Shop.open(call.settings, call.context).post("reservations", body, call.key))
    return {"task": {"reservation": made}}
