"""Orders for order_saga, and the shop they are placed at: its faults, its stock and what really happened there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from flow_kit import Flows

from local_sim.runner import RunResult
from scripts.shop import Fault, FaultKind, Store

MAIN = ["AcceptOrder", "ReserveStock", "Charge", "CreateShipment"]
ASKED = ["ManualReview", "RecordDecision", "RouteDecision"]


@dataclass
class Buyer:
    """One order. The shop's file is read and armed directly, beside the running shop."""

    flows: Flows
    number: str
    store: Store
    pieces: int = 5
    result: RunResult | None = field(default=None)

    def __post_init__(self) -> None:
        self.store.set_stock(self.sku, self.pieces)

    @property
    def sku(self) -> str:
        return f"sku-{self.number}"

    def order(self, **more: Any) -> dict[str, Any]:
        given = {"lines": [{"sku": self.sku, "quantity": 2}], "amount": 19_900, "currency": "CNY"}
        return {"task_id": self.number, **given, "method": "card-1", "address": "杭州市西湖区 1 号", **more}

    def fault(self, place: str, kind: str, times: int = 1, delay_ms: int = 0) -> None:
        self.store.switch(Fault(place, FaultKind(kind), times, self.number, delay_ms))

    def buy(self, *decisions: Any, ask: Any = None, **more: Any) -> list[str]:
        """Run the flow; returns the states entered after Begin."""
        from flow_kit import answers

        reports = answers(*(("ManualReview", decision) for decision in decisions))
        self.result = self.flows.run("order_saga", self.order(**more), reports, ask=ask)
        assert self.result.path[0] == "Begin"
        return list(self.result.path[1:])

    @property
    def output(self) -> Any:
        assert self.result is not None
        return self.result.output

    @property
    def calls(self) -> dict[str, int]:
        assert self.result is not None
        return {name.removeprefix("stepkeeper-"): count for name, count in self.result.calls.items()}

    def effects(self) -> list[str]:
        """What happened at the shop, in order."""
        return [effect.kind for effect in self.store.effects(self.number)]

    def available(self) -> int:
        return self.store.stock(self.sku)

    def states(self) -> dict[str, str]:
        """State of each step of the order itself."""
        return {step: state for step, state in self.flows.states(self.number).items() if step in MAIN}

    def undone(self) -> list[str]:
        """Steps in the order in which their undoing ended."""
        from ledger import Ledger

        changes = Ledger.open().transitions(self.number)
        return [change.step_name for change in changes if change.to_status == "compensated"]

    def row(self, step: str, direction: str = "forward") -> Any:
        (found,) = [row for row in self.flows.rows(self.number) if row.step == step and row.direction == direction]
        return found

    def problems(self) -> list[str]:
        """What people were told, notice by notice in order of sending."""
        lines = [line for notice in self.flows.notices(self.number, "handed_over") for line in notice["lines"]]
        return sorted(line for line in lines if line.startswith("Error: "))
