"""CreateShipment: has the parcel sent, once, by a carrier that takes no idempotency key.

A second request would be a second parcel. So before any second try the carrier is asked what it has for the order; when
it cannot say, a person does.
"""

from __future__ import annotations

from typing import Any

from functions.orders.models import OrderEvent
from functions.orders.shop import Shop, named
from functions.orders.undo import cancel_shipment
from functions.step import Call, step
from ledger import EffectKind, Probe, ProbeVerdict

__all__ = ["handler"]


def _shipped(call: Call[OrderEvent]) -> Probe:
    order = call.event.task.task_id
    answer = Shop.open(call.settings, call.context).shipment(order)
    return Probe.applied(_result(str(answer.result))) if answer.verdict is ProbeVerdict.APPLIED else answer


@step(
    OrderEvent,
    kind=EffectKind.PROBED,
    probe=_shipped,
    compensation=lambda call: cancel_shipment(call.event.task.task_id),
)
def handler(call: Call[OrderEvent]) -> dict[str, Any]:
    """Answers with `task.shipment`. Raises `OrderRefused` (undeliverable), `UncertainOutcome` when nobody can tell
    whether an earlier attempt shipped, and what `Shop.post` raises."""
    order = call.event.task
    body = {"order": order.task_id, "address": order.address}
    return _result(named(Shop.open(call.settings, call.context).post("carrier/shipments", body)))


def _result(shipment: str) -> dict[str, Any]:
    return {"task": {"shipment": shipment}}
