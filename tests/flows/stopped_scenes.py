"""Every shipped step and every shipped compensation as a scene: what has to be there before, and the call itself."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stopped_kit import Json, Scene, Stage, Stopped

from functions.errors import StepkeeperError

DOCUMENT_FLOW, ORDER_FLOW = "content_review-1", "order_saga-1"
TEXT = "# 合同\n\n甲方每月支付 48,000 元。The provider deletes all documents within thirty days.\n"
APPROVED = {"decision": "approved"}
SKU = "tea"


def _event(step: str, **more: Any) -> Json:
    return {"step": step, "attempt": 1, **more}


def _loose(step: str, flow: str, task_id: str, **more: Any) -> Json:
    return _event(step, workflow=flow, execution=f"run-{task_id}", task={"task_id": task_id}, **more)


def _nothing(stage: Stage, task_id: str) -> str:
    return task_id


def _validate(stage: Stage, task_id: str) -> Json:
    given = {"task_id": task_id, "document": {"inline": TEXT, "name": "合同.md"}}
    return dict(stage.call("validate_input", _event("ValidateInput", workflow=DOCUMENT_FLOW, task=given))["task"])


def _material(stage: Stage, task: Json) -> Json:
    return dict(stage.call("prepare_material", _event("PrepareMaterial", task=task, review={}))["task"])


def _draft(stage: Stage, task: Json) -> Json:
    return dict(stage.call("generate_draft", _event("GenerateDraft", task=task))["task"])


def _review(stage: Stage, task: Json) -> Json:
    stage.call("request_review", _event("HumanReview", task=task, token="token-1"))
    return task


def _save(stage: Stage, task: Json) -> Json:
    return dict(stage.call("save_result", _event("SaveResult", task=task, review=APPROVED))["task"])


def _check(stage: Stage, task: Json) -> Json:
    answer = stage.call("check_existing_result", _event("CheckExistingResult", task=task))
    assert answer["verdict"] == "same"
    return answer


def _notify(stage: Stage, task: Json) -> Json:
    stage.call("notify", _event("Notify", task=task))
    return task


def _correct(stage: Stage, task_id: str) -> Json:
    error = {"code": "InvalidInput", "detail": "no text"}
    return stage.call("request_correction", _loose("NeedInput", DOCUMENT_FLOW, task_id, error=error, token="token-2"))


def _hand_over(stage: Stage, task_id: str) -> Json:
    error = {"code": "SystemFault", "detail": "broken"}
    failed = {"failed_step": "SaveResult", "failed_attempt": 1}
    event = _loose("ManualReview", DOCUMENT_FLOW, task_id, error=error, token="token-9", **failed)
    return stage.call("hand_over", event)


def _accept(stage: Stage, task_id: str) -> Json:
    lines = [{"sku": SKU, "quantity": 2}]
    order = {"lines": lines, "amount": 100, "currency": "CNY", "method": "card-1", "address": "Hangzhou"}
    event = _event("AcceptOrder", workflow=ORDER_FLOW, task={"task_id": task_id, **order})
    return dict(stage.call("accept_order", event)["task"])


def _order(name: str, step: str) -> Callable[[Stage, Json], Json]:
    return lambda stage, task: dict(stage.call(name, _event(step, task=task))["task"])


_reserve = _order("reserve_stock", "ReserveStock")
_charge = _order("charge", "Charge")
_ship = _order("create_shipment", "CreateShipment")


def _undo(flow: str) -> Callable[[Stage, Json], Json]:
    def act(stage: Stage, task: Json) -> Json:
        return stage.call("compensate", _loose("Compensate", flow, task["task_id"], outcome="cancelled"))

    return act


def _chain(*acts: Callable[[Stage, Any], Any]) -> Callable[[Stage, Any], Any]:
    def act(stage: Stage, given: Any) -> Any:
        for each in acts:
            given = each(stage, given)
        return given

    return act


def _stopped_after(kind: str, act: Callable[[Stage, Json], Any]) -> Callable[[Stage, Json], Json]:
    """Run an act in a process that ends right after its request of a kind: the effect is there, nobody was told."""

    def stopped(stage: Stage, task: Json) -> Json:
        gate = stage.wires.gate
        for number in range(20):
            stage.process((number, "after"))
            with contextlib.suppress(Stopped):
                act(stage, task)
            if gate.sent[-1] == kind:
                stage.process()
                return task
        raise AssertionError(f"no {kind} among {gate.sent}")

    return stopped


def _shipped_unseen(stage: Stage, task: Json) -> Json:
    """The carrier's answer is lost, and the step uncertain."""
    from scripts.shop import Fault, FaultKind

    stage.store.switch(Fault("carrier/shipments", FaultKind.DROP, 1, task["task_id"]))
    with contextlib.suppress(StepkeeperError):
        _ship(stage, task)
    return task


def _decide(stage: Stage, task: Json) -> Json:
    answer = {"decision": "retry", "applied": True, "by": "li", "reason": "looked", "result": {"task": {}}}
    failed = {"failed_step": "CreateShipment", "failed_attempt": 1}
    return stage.call("record_decision", _loose("RecordDecision", ORDER_FLOW, task["task_id"], answer=answer, **failed))


@dataclass(frozen=True)
class Wanted:
    """What must have happened outside when a scene is over, and how many points of two stops in a row are tried."""

    shop: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    objects: int = 0
    pairs: int = 10


_drafted = _chain(_validate, _material, _draft)
_saved = _chain(_drafted, _review, _save)
_reserved = _chain(_accept, _reserve)
_charged = _chain(_reserved, _charge)

SCENES: dict[Scene, Wanted] = {
    Scene("ValidateInput", _nothing, _validate): Wanted(objects=1),
    Scene("PrepareMaterial", _validate, _material): Wanted(objects=2),
    Scene("GenerateDraft", _chain(_validate, _material), _draft): Wanted(objects=3),
    Scene("HumanReview", _drafted, _review): Wanted(notices=("review_requested",), objects=3),
    Scene("SaveResult", _drafted, _save): Wanted(objects=4),
    Scene("CheckExistingResult", _saved, _check): Wanted(notices=("review_requested",), objects=4, pairs=0),
    Scene("Notify", _chain(_drafted, _save), _notify): Wanted(notices=("result_saved",), objects=4),
    Scene("NeedInput", _nothing, _correct): Wanted(notices=("correction_needed",), objects=1),
    Scene("ManualReview", _nothing, _hand_over): Wanted(notices=("handed_over",), objects=2),
    Scene("RecordDecision", _chain(_charged, _shipped_unseen), _decide): Wanted(("reserve", "charge", "ship")),
    Scene("AcceptOrder", _nothing, _accept): Wanted(),
    Scene("ReserveStock", _accept, _reserve): Wanted(("reserve",)),
    Scene("Charge", _reserved, _charge): Wanted(("reserve", "charge")),
    Scene("CreateShipment", _charged, _ship): Wanted(("reserve", "charge", "ship")),
    Scene("undo ValidateInput", _validate, _undo(DOCUMENT_FLOW)): Wanted(),
    Scene("undo a drafted document", _drafted, _undo(DOCUMENT_FLOW)): Wanted(),
    Scene("undo HumanReview", _chain(_drafted, _review), _undo(DOCUMENT_FLOW)): Wanted(notices=("review_requested",)),
    Scene("undo Notify and SaveResult", _chain(_saved, _notify), _undo(DOCUMENT_FLOW)): Wanted(
        pairs=5, notices=("result_saved", "review_requested")
    ),
    Scene("undo ReserveStock", _reserved, _undo(ORDER_FLOW)): Wanted(("reserve", "release")),
    Scene("undo Charge", _charged, _undo(ORDER_FLOW)): Wanted(("reserve", "charge", "refund", "release")),
    Scene("undo CreateShipment", _chain(_charged, _ship), _undo(ORDER_FLOW)): Wanted(
        ("reserve", "charge", "ship", "cancel", "refund", "release")
    ),
    Scene(
        "undo a reservation nobody heard of",
        _chain(_accept, _stopped_after("shop POST reservations", _reserve)),
        _undo(ORDER_FLOW),
    ): Wanted(("reserve", "release")),
    Scene(
        "undo a payment nobody heard of",
        _chain(_reserved, _stopped_after("shop POST payments", _charge)),
        _undo(ORDER_FLOW),
    ): Wanted(("reserve", "charge", "refund", "release")),
}
