"""The order as it travels through `order_saga`, and the events of its handlers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from functions.models import Event, PinnedEvent, PinnedTask, TaskId, Version

__all__ = ["AcceptEvent", "Order", "OrderEvent", "OrderInput", "OrderLine"]

Sku = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=128)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Amount = Annotated[int, Field(ge=1, le=10**12, strict=True)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
Address = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class OrderLine(BaseModel):
    """So many pieces of an article."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sku: Sku
    quantity: Annotated[int, Field(ge=1, le=100_000, strict=True)]


Lines = Annotated[tuple[OrderLine, ...], Field(min_length=1, max_length=100)]


class OrderInput(BaseModel):
    """What the flow is started with. `task_id` is the order's number, `amount` counts the currency's smallest unit.

    `method` is the payment service's name for the card; a card number has no place in a flow.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_id: TaskId
    lines: Lines
    amount: Amount
    currency: Currency
    method: Name
    address: Address


class Order(PinnedTask):
    """The order's control data. Later steps fill in what the shop called the things they made."""

    lines: Lines
    amount: Amount
    currency: Currency
    method: Name
    address: Address
    reservation: Id | None = None
    payment: Id | None = None
    shipment: Id | None = None


class AcceptEvent(Event):
    """Event of `accept_order`. `task` is whatever the caller sent."""

    workflow: Version
    task: OrderInput


class OrderEvent(PinnedEvent):
    """Event of every later handler of an order."""

    task: Order

    def compared(self) -> Any:
        """The order as the customer gave it, not what earlier steps found out (cases C31, C32)."""
        mine = {"versions", "reservation", "payment", "shipment"}
        return self.task.model_dump(mode="json", exclude=mine)
