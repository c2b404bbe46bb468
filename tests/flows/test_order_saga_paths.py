"""order_saga.yaml, path by path: states entered, calls made, what happened at the shop, what the ledger says."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flow_kit import Flows, answers
from order_kit import ASKED, MAIN, Buyer

from ledger import CompensationContext, Ledger
from local_sim.clock import RealClock, VirtualClock
from local_sim.engine.events import Status
from local_sim.runner import Decision, resume_run
from scripts.shop import Store

DONE = [*MAIN, "Completed"]
UNDONE = ["Compensate", "Cancelled"]
SOLD = ["reserve", "charge", "ship"]


@pytest.fixture
def buyer(flows: Flows, task_id: str) -> Iterator[Buyer]:
    assert flows.cloud.environment["SHOP_ENDPOINT"]
    store = Store(flows.cloud.folder / "outside/shop/shop.sqlite3")
    flows.settings["STEPKEEPER_SHOP_TIMEOUT"] = "5"
    yield Buyer(flows, task_id, store)
    store.close()


def quick(buyer: Buyer) -> None:
    """Let the shop count as away after 0.8 s."""
    buyer.flows.settings["STEPKEEPER_SHOP_TIMEOUT"] = "0.8"


def test_an_order_is_reserved_charged_and_shipped_once(buyer: Buyer) -> None:
    assert buyer.buy() == DONE
    assert (buyer.result.status, buyer.output["outcome"]) == (Status.SUCCEEDED, "completed")  # type: ignore[union-attr]
    assert buyer.calls == {"accept-order": 1, "reserve-stock": 1, "charge": 1, "create-shipment": 1}
    assert (buyer.effects(), buyer.available()) == (SOLD, 3)
    assert buyer.states() == dict.fromkeys(MAIN, "done")
    task = buyer.output["task"]
    assert [task[name].split("-")[0] for name in ("reservation", "payment", "shipment")] == [
        *("reservation", "payment", "shipment")
    ]


def test_each_undoing_is_recorded_with_the_order_and_finds_the_shops_id_in_the_result(buyer: Buyer) -> None:
    buyer.buy()
    kinds = {row.step: row.kind.value for row in buyer.flows.rows(buyer.number)}
    assert kinds == {**dict.fromkeys(MAIN[1:3], "idempotent"), "AcceptOrder": "local", "CreateShipment": "probed"}
    assert recorded(buyer) == {
        "CreateShipment": ("cancel_shipment", buyer.output["task"]["shipment"]),
        "Charge": ("refund", buyer.output["task"]["payment"]),
        "ReserveStock": ("release_stock", buyer.output["task"]["reservation"]),
    }


def test_the_same_order_again_replays_and_buys_nothing_twice(buyer: Buyer) -> None:
    first = (buyer.buy(), buyer.output)
    assert (buyer.buy(), buyer.output) == first
    assert buyer.effects() == SOLD


def test_another_order_under_the_same_number_goes_to_a_person(buyer: Buyer) -> None:
    buyer.buy()
    assert buyer.buy("abandon", amount=1) == ["AcceptOrder", *ASKED, "Abandoned"]
    assert buyer.effects() == SOLD
    assert "ResultConflict" in buyer.problems()[0]


@pytest.mark.parametrize(
    "bad",
    [{"lines": []}, {"amount": 0}, {"amount": 1.5}, {"currency": "yuan"}, {"address": ""}, {"gift": True}],
    ids=str,
)
def test_what_is_no_order_fails_before_anything_is_done(buyer: Buyer, bad: dict[str, Any]) -> None:
    assert buyer.buy(**bad) == ["AcceptOrder", "InvalidOrder"]
    assert (buyer.result.status, buyer.result.error) == (Status.FAILED, "InvalidOrder")  # type: ignore[union-attr]
    assert (buyer.effects(), buyer.flows.rows(buyer.number)) == ([], [])


def test_out_of_stock_has_nothing_to_undo(buyer: Buyer) -> None:
    buyer.store.set_stock(buyer.sku, 1)
    assert buyer.buy() == ["AcceptOrder", "ReserveStock", *UNDONE]
    assert (buyer.result.status, buyer.output["outcome"]) == (Status.SUCCEEDED, "out_of_stock")  # type: ignore[union-attr]
    assert (buyer.output["undone"], buyer.effects(), buyer.available()) == ({"nothing_to_undo": 2}, [], 1)
    assert buyer.calls["reserve-stock"] == 1, "a refusal is not tried again"
    assert (buyer.output["error"]["code"], buyer.problems()) == ("OrderRefused", [])


def test_a_declined_card_puts_the_stock_back(buyer: Buyer) -> None:
    buyer.fault("payments", "refuse")
    assert buyer.buy() == ["AcceptOrder", "ReserveStock", "Charge", *UNDONE]
    assert buyer.output["outcome"] == "declined"
    assert (buyer.effects(), buyer.available(), buyer.undone()) == (["reserve", "release"], 5, ["ReserveStock"])
    assert buyer.states()["Charge"] == "tombstone", "a charge that comes late is refused"


def test_an_address_nobody_delivers_to_gives_the_money_and_the_stock_back(buyer: Buyer) -> None:
    buyer.fault("carrier/shipments", "refuse")
    assert buyer.buy() == [*MAIN, *UNDONE]
    assert (buyer.result.status, buyer.output["outcome"]) == (Status.SUCCEEDED, "undeliverable")  # type: ignore[union-attr]
    assert buyer.effects() == ["reserve", "charge", "refund", "release"]
    assert (buyer.undone(), buyer.available()) == (["Charge", "ReserveStock"], 5)
    assert buyer.output["undone"] == {"compensated": 2, "nothing_to_undo": 2}
    # Case C05: both ids that earlier steps made reach their undoing.
    task = buyer.output["task"]
    assert asked(buyer, "Charge") == ["refunds", {"order": buyer.number, "payment": task["payment"]}]
    assert asked(buyer, "ReserveStock") == ["releases", {"order": buyer.number, "reservation": task["reservation"]}]


@pytest.mark.parametrize("place", ["reservations", "payments"])
@pytest.mark.parametrize("kind", ["drop", "error", "lose", "busy", "late"])
def test_a_lost_answer_of_the_shop_is_asked_for_again_under_the_same_key(buyer: Buyer, place: str, kind: str) -> None:
    if kind == "late":
        quick(buyer)
    buyer.fault(place, kind, times=2, delay_ms=1300)
    assert buyer.buy() == DONE
    assert buyer.effects() == SOLD
    step = {"reservations": "ReserveStock", "payments": "Charge"}[place]
    assert (buyer.row(step).attempt, buyer.row(step).state) == (3, "done")


@pytest.mark.parametrize("kind", ["late", "drop", "error"])
def test_charged_and_the_shipment_timed_out_but_was_shipped_goes_on(buyer: Buyer, kind: str) -> None:
    if kind == "late":
        quick(buyer)
    buyer.fault("carrier/shipments", kind, delay_ms=1300)
    assert buyer.buy() == DONE
    assert (buyer.effects(), buyer.calls["create-shipment"]) == (SOLD, 2)
    assert changes_of(buyer, "CreateShipment") == ["claimed", "uncertain", "claimed", "done"]
    assert recorded(buyer)["CreateShipment"][1] == buyer.output["task"]["shipment"]


@pytest.mark.parametrize("kind", ["lose", "busy"])
def test_charged_and_the_shipment_timed_out_and_was_not_shipped_ships_once(buyer: Buyer, kind: str) -> None:
    buyer.fault("carrier/shipments", kind)
    assert buyer.buy() == DONE
    assert (buyer.effects(), buyer.calls["create-shipment"]) == (SOLD, 2)


def cannot_tell(buyer: Buyer, kind: str) -> None:
    """The carrier's answer is lost, and when it is asked it does not know."""
    buyer.fault("carrier/shipments", kind)
    buyer.fault("carrier/shipments", "unknown")


def test_charged_and_nobody_can_tell_waits_for_a_person(buyer: Buyer) -> None:
    cannot_tell(buyer, "drop")
    assert buyer.buy("abandon") == [*MAIN, *ASKED, "Abandoned"]
    assert (buyer.effects(), buyer.states()["CreateShipment"]) == (SOLD, "uncertain")
    (problem,) = buyer.problems()
    assert "UncertainOutcome" in problem
    assert "cannot say" in problem
    assert (buyer.result.status, buyer.result.error) == (Status.FAILED, "Abandoned")  # type: ignore[union-attr]


def test_a_person_knows_it_was_shipped(buyer: Buyer) -> None:
    cannot_tell(buyer, "drop")
    given = {"decision": "retry", "applied": True, "by": "ann", "result": {"task": {"shipment": "shipment-x"}}}
    assert buyer.buy(given) == [*MAIN, *ASKED, "RouteRetry", "CreateShipment", "Completed"]
    assert (buyer.effects(), buyer.output["task"]["shipment"]) == (SOLD, "shipment-x")
    (settled,) = [change for change in Ledger.open().transitions(buyer.number) if change.by]
    assert (settled.step_name, settled.by) == ("CreateShipment", "ann")


def test_a_person_knows_it_was_not_shipped(buyer: Buyer) -> None:
    cannot_tell(buyer, "lose")
    given = {"decision": "retry", "applied": False, "by": "ann"}
    assert buyer.buy(given) == [*MAIN, *ASKED, "RouteRetry", "CreateShipment", "Completed"]
    assert buyer.effects() == SOLD


@pytest.mark.parametrize("kind", ["drop", "lose"])
def test_a_bare_retry_asks_the_carrier_again(buyer: Buyer, kind: str) -> None:
    cannot_tell(buyer, kind)
    assert buyer.buy("retry") == [*MAIN, *ASKED, "RouteRetry", "CreateShipment", "Completed"]
    assert buyer.effects() == SOLD


def test_undoing_needs_to_know_whether_it_was_shipped(buyer: Buyer) -> None:
    cannot_tell(buyer, "drop")
    decisions = ["compensate", {"decision": "compensate", "applied": True, "by": "ann"}]
    again = ["ManualReview", "RecordDecision", "CountHandovers"]
    assert buyer.buy(*decisions) == [*MAIN, *again, *ASKED, *UNDONE]
    assert buyer.output["outcome"] == "compensated"
    assert buyer.effects() == [*SOLD, "cancel", "refund", "release"]
    assert buyer.undone() == ["CreateShipment", "Charge", "ReserveStock"]
    assert any("applied" in problem for problem in buyer.problems())


def test_what_a_person_says_was_not_shipped_is_not_cancelled(buyer: Buyer) -> None:
    cannot_tell(buyer, "lose")
    assert buyer.buy({"decision": "compensate", "applied": False, "by": "ann"}) == [*MAIN, *ASKED, *UNDONE]
    assert buyer.effects() == ["reserve", "charge", "refund", "release"]


def test_a_request_the_carrier_still_works_on_is_never_sent_again(buyer: Buyer) -> None:
    quick(buyer)
    buyer.fault("carrier/shipments", "slow", delay_ms=4000)

    def ask(waiting: Any) -> Decision:
        until = time.monotonic() + 20
        while "ship" not in buyer.effects() and time.monotonic() < until:
            time.sleep(0.02)
        return answers("retry")[0]

    assert buyer.buy(ask=ask) == [*MAIN, *ASKED, "RouteRetry", "CreateShipment", "Completed"]
    assert (buyer.effects(), buyer.calls["create-shipment"]) == (SOLD, 4)
    assert "still works" in buyer.problems()[0]


def test_a_carrier_that_stays_away_leaves_it_open_until_a_person_says(buyer: Buyer) -> None:
    buyer.fault("carrier/shipments", "drop")
    buyer.fault("carrier/shipments", "busy", times=2)
    decisions = ["compensate", {"decision": "compensate", "applied": True, "by": "ann"}]
    assert buyer.buy(*decisions) == [*MAIN, *ASKED, "Compensate", *ASKED, *UNDONE]
    assert buyer.effects() == [*SOLD, "cancel", "refund", "release"]
    first, second = buyer.problems()
    assert ("TemporaryUpstreamError" in first, "UncertainOutcome" in second) == (True, True)


def test_nobody_decides_and_nothing_is_undone(buyer: Buyer) -> None:
    cannot_tell(buyer, "drop")
    clock = VirtualClock(1_700_000_000_000)
    result = buyer.flows.run("order_saga", buyer.order(), clock=clock)
    assert result.path[-2:] == ("ManualReview", "Abandoned")
    assert clock.now_ms() - 1_700_000_000_000 >= 604_800_000
    assert buyer.effects() == SOLD


@pytest.mark.parametrize("kind", ["drop", "error", "lose", "busy"])
@pytest.mark.parametrize("place", ["refunds", "releases"])
def test_a_lost_answer_while_undoing_undoes_once(buyer: Buyer, place: str, kind: str) -> None:
    buyer.fault("carrier/shipments", "refuse")
    buyer.fault(place, kind, times=2)
    assert buyer.buy() == [*MAIN, *UNDONE]
    assert buyer.calls["compensate"] == 3
    assert buyer.effects() == ["reserve", "charge", "refund", "release"]
    assert (buyer.undone(), buyer.available()) == (["Charge", "ReserveStock"], 5)


def test_an_undoing_that_fails_stops_there_and_a_person_has_it_go_on(buyer: Buyer) -> None:
    buyer.fault("carrier/shipments", "refuse")
    buyer.fault("refunds", "busy", times=3)

    def ask(waiting: Any) -> Decision:
        assert buyer.effects() == ["reserve", "charge"], "the stock is not released before the money is back"
        return answers("retry")[0]

    assert buyer.buy(ask=ask) == [*MAIN, "Compensate", *ASKED, "RouteRetry", *UNDONE]
    assert buyer.output["outcome"] == "undeliverable"
    assert buyer.effects() == ["reserve", "charge", "refund", "release"]


def test_a_parcel_that_has_left_goes_to_a_person(buyer: Buyer) -> None:
    cannot_tell(buyer, "drop")
    buyer.fault("carrier/cancellations", "refuse")
    given = {"decision": "compensate", "applied": True, "by": "ann"}
    assert buyer.buy(given, "abandon") == [*MAIN, *ASKED, "Compensate", *ASKED, "Abandoned"]
    assert (buyer.effects(), buyer.states()["CreateShipment"]) == (SOLD, "compensation_failed")
    assert any("already_left" in problem for problem in buyer.problems())


def test_a_charge_given_up_in_doubt_is_undone_by_its_key(buyer: Buyer) -> None:
    buyer.fault("payments", "drop", times=3)
    assert buyer.buy("compensate") == ["AcceptOrder", "ReserveStock", "Charge", *ASKED, *UNDONE]
    assert buyer.effects() == ["reserve", "charge", "refund", "release"]
    assert buyer.undone() == ["Charge", "ReserveStock"]


def test_a_charge_that_never_came_is_closed_by_its_key_so_that_it_cannot_come_late(buyer: Buyer) -> None:
    buyer.fault("payments", "lose", times=3)
    assert buyer.buy("compensate") == ["AcceptOrder", "ReserveStock", "Charge", *ASKED, *UNDONE]
    assert buyer.effects() == ["reserve", "release"]
    closed = buyer.store.request(buyer.row("Charge").side_effect_id)
    assert closed is not None
    assert (closed[1].status, closed[1].body["error"]) == (409, "closed")


def test_new_versions_stop_the_order_until_they_are_accepted(buyer: Buyer, tmp_path: Path) -> None:
    cannot_tell(buyer, "lose")
    result = buyer.flows.run("order_saga", buyer.order(), data_dir=tmp_path, clock=RealClock())
    assert result.waiting[0].state == "ManualReview"
    buyer.flows.settings["STEPKEEPER_FUNCTION_VERSION"] = "2"
    accepted = {"decision": "retry", "accept_versions": True, "by": "ann", "reason": "compatible"}
    done = resume_run(
        buyer.flows.project, data_dir=tmp_path, cloud=buyer.flows.cloud, decisions=answers("retry", accepted)
    )
    assert list(done.path[5:]) == [
        *[*ASKED, "RouteRetry", "CreateShipment"],
        *[*ASKED, "RouteRetry", "CreateShipment", "Completed"],
    ]
    assert buyer.effects() == SOLD


def changes_of(buyer: Buyer, step: str) -> list[str]:
    return [change.to_status for change in Ledger.open().transitions(buyer.number) if change.step_name == step]


def asked(buyer: Buyer, step: str) -> Any:
    """What the shop was asked when a step was undone."""
    found = buyer.store.request(buyer.row(step, "compensate").side_effect_id)
    assert found is not None
    return json.loads(found[0])


def recorded(buyer: Buyer) -> dict[str, tuple[str, Any]]:
    """The undoing of each step: its name and the shop's id, seen by unwinding with actions that only look."""
    seen: dict[str, tuple[str, Any]] = {}

    def look(context: CompensationContext) -> None:
        assert context.arguments == {"order": buyer.number}
        (made,) = context.result["task"].values()  # type: ignore[index, call-overload, union-attr]
        seen[context.step] = (context.name, made)

    names = ("release_stock", "refund", "cancel_shipment")
    Ledger.open().saga(buyer.number, "order_saga-1").compensate(dict.fromkeys(names, look))
    return seen
