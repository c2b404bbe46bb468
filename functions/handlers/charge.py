"""Charge: takes the money, once."""

from __future__ import annotations

from typing import Any

from functions.orders.models import OrderEvent
from functions.orders.shop import Shop, named
from functions.orders.undo import refund
from functions.step import Call, step
from ledger import EffectKind

__all__ = ["handler"]


@step(
    OrderEvent,
    kind=EffectKind.IDEMPOTENT,
    compensation=lambda call: refund(call.event.task.task_id),
)
def handler(call: Call[OrderEvent]) -> dict[str, Any]:
    """Answers with `task.payment`. Raises `OrderRefused` (declined) and what `Shop.post` raises."""
    order = call.event.task
    body = {"order": order.task_id, "amount": order.amount, "currency": order.currency, "method": order.method}
    made = named(Shop.open(call.settings, call.context).post("payments", body, call.key))
    return {"task": {"payment": made}}
