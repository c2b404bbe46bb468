"""A shipped step's process is killed (SIGKILL) after its effect, before its completion; the next call makes it good."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from flow_kit import ROOT, Flows
from order_kit import Buyer

from scripts.shop import Store

# A worker of one call. Given "kill", it ends itself as kill -9 does when the completion is about to be sent.
WORKER = """\
import json, os, signal, sys
from functions.entry import fc_handlers
from ledger.store import TableStore

handler, event, how = sys.argv[1:]
send = TableStore._put_or_update

def until_completion(self, write):
    if write.columns.get("state") in ("done", "compensated"):
        os.kill(os.getpid(), signal.SIGKILL)
    send(self, write)

if how == "kill":
    TableStore._put_or_update = until_completion
print("answer " + getattr(fc_handlers, handler)(event.encode(), None))
"""


class Killed:
    """An order's handlers, each called in a child that is killed first, and then here."""

    def __init__(self, buyer: Buyer) -> None:
        self.buyer, self.task = buyer, dict(buyer.order())

    def event(self, step: str, **more: Any) -> str:
        return json.dumps({"step": step, "attempt": 1, "task": self.task, **more}, ensure_ascii=False)

    def here(self, handler: str, step: str, **more: Any) -> dict[str, Any]:
        from functions.entry import fc_handlers

        answer = dict(json.loads(getattr(fc_handlers, handler)(self.event(step, **more).encode(), None)))
        self.task = answer.get("task", self.task)
        return answer

    def killed(self, handler: str, step: str, **more: Any) -> None:
        """Call it in a process that dies with the effect done and the completion unsent."""
        command = [sys.executable, "-c", WORKER, handler, self.event(step, **more), "kill"]
        died = subprocess.run(command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, timeout=120)
        assert died.returncode == -signal.SIGKILL, died.stderr
        assert "answer" not in died.stdout


@pytest.fixture
def order(flows: Flows, task_id: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Killed]:
    monkeypatch.setenv("STEPKEEPER_LEASE_SECONDS", "1.5")
    store = Store(flows.cloud.folder / "outside/shop/shop.sqlite3")
    yield Killed(Buyer(flows, task_id, store))
    store.close()


FLOW = "order_saga-1"
EFFECTS = {"reserve_stock": "reserve", "charge": "charge", "create_shipment": "ship"}
STEPS = {"reserve_stock": "ReserveStock", "charge": "Charge", "create_shipment": "CreateShipment"}


@pytest.mark.timeout(300)
def test_killed_between_effect_and_completion_each_step_and_undoing_takes_effect_once(order: Killed) -> None:
    order.here("accept_order", "AcceptOrder", workflow=FLOW)
    wanted: list[str] = []
    for handler, step in STEPS.items():
        wanted.append(EFFECTS[handler])
        order.killed(handler, step)
        assert (order.buyer.effects(), order.buyer.row(step).state) == (wanted, "claimed")
        order.here(handler, step)
        assert (order.buyer.effects(), order.buyer.row(step).state) == (wanted, "done")
        assert order.buyer.row(step).attempt == 2
    undo: dict[str, Any] = {"workflow": FLOW, "execution": f"run-{order.buyer.number}", "outcome": "cancelled"}
    order.killed("compensate", "Compensate", **undo)
    assert order.buyer.effects() == [*wanted, "cancel"]
    assert order.buyer.row("CreateShipment", "compensate").state == "claimed"
    order.here("compensate", "Compensate", **undo)
    assert order.buyer.effects() == [*wanted, "cancel", "refund", "release"]
    assert order.buyer.undone() == ["CreateShipment", "Charge", "ReserveStock"]
