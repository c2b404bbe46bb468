"""order_saga.yaml broken off at each event of its tasks and gone on with: calls are repeated, effects are not."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from flow_kit import START_MS, Flows
from order_kit import Buyer

from local_sim.clock import VirtualClock
from local_sim.engine import HistoryEvent
from local_sim.runner import Observer, RunResult, resume_run
from scripts.shop import Store


class PowerCut(Exception):
    """Stands for the end of the process."""


class CutAt(Observer):
    """Cuts the power at the n-th history event."""

    def __init__(self, number: int) -> None:
        self.left = number

    def on_history(self, execution: str, event: HistoryEvent) -> None:
        self.left -= 1
        if self.left == 0:
            raise PowerCut


def cut(buyer: Buyer, data: Path, number: int) -> RunResult:
    with pytest.raises(PowerCut):
        buyer.flows.run(
            "order_saga", buyer.order(), clock=VirtualClock(START_MS), data_dir=data, observer=CutAt(number)
        )
    return resume_run(buyer.flows.project, data_dir=data, cloud=buyer.flows.cloud)


@pytest.fixture
def buyers(flows: Flows) -> Callable[[], Buyer]:
    assert flows.cloud.environment["SHOP_ENDPOINT"]
    return lambda: Buyer(flows, "t-" + uuid.uuid4().hex[:10], Store(flows.cloud.folder / "outside/shop/shop.sqlite3"))


@pytest.mark.parametrize(
    ("place", "end", "effects", "undone"),
    [
        ("", "Completed", ["reserve", "charge", "ship"], []),
        ("carrier/shipments", "Cancelled", ["reserve", "charge", "refund", "release"], ["Charge", "ReserveStock"]),
    ],
    ids=["shipped", "undeliverable"],
)
def test_cut_at_any_event_of_a_task_it_ends_as_the_uncut_one(
    buyers: Callable[[], Buyer], tmp_path: Path, place: str, end: str, effects: list[str], undone: list[str]
) -> None:
    whole = buyers()
    if place:
        whole.fault(place, "refuse", times=9)
    path = whole.buy()
    assert path[-1] == end
    assert whole.result is not None
    tasks = [number for number, event in enumerate(whole.result.history, 1) if event.type.startswith("Task")]
    assert len(tasks) >= 8
    for number in tasks:
        buyer = buyers()
        if place:
            buyer.fault(place, "refuse", times=9)
        result = cut(buyer, tmp_path / str(number), number)
        assert (list(result.path[1:]), buyer.effects(), buyer.undone()) == (path, effects, undone), number
        assert (buyer.states(), result.output["outcome"]) == (whole.states(), whole.output["outcome"]), number
        buyer.store.close()
    whole.store.close()
