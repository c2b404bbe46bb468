"""What undoes what: the compensations that steps record, by name, and the actions that carry them out.

An action may run more than once and may find nothing to undo; both are fine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from functions.errors import SystemFault
from functions.models import PayloadRef
from functions.orders.undo import order_actions
from functions.payloads import Payloads
from functions.review import Desk, ReviewId, ReviewUnknown, State
from ledger import Compensation, CompensationContext, JsonValue

__all__ = ["actions", "end_review", "notice_sent", "remove_objects", "remove_result"]

A = TypeVar("A")


def remove_objects(*keys: str) -> Compensation:
    """Remove objects that belong to one step alone."""
    return Compensation("remove_objects", {"keys": list(keys)})


def remove_result(key: str, sha256: str) -> Compensation:
    """Remove the saved result if it still is what this task saved."""
    return Compensation("remove_result", {"key": key, "sha256": sha256})


def end_review(workflow: str, step: str) -> Compensation:
    """Withdraw a review that nobody has decided, so that no link counts any more. A decided one stays on record."""
    return Compensation("end_review", {"workflow": workflow, "step": step})


def notice_sent(kind: str, sender: str) -> Compensation:
    """A notice cannot be called back: recorded as irreversible, with what is known of it."""
    return Compensation("notice_sent", {"notice": kind, "sender": sender}, reversible=False)


def actions(
    payloads: Callable[[], Payloads] = Payloads.open,
) -> Mapping[str, Callable[[CompensationContext], JsonValue]]:
    """The action of each reversible compensation. `payloads` is opened when the first one runs."""

    def removed_objects(context: CompensationContext) -> JsonValue:
        bucket = payloads().bucket
        keys = _argument(context, "keys", list)
        for key in keys:
            bucket.remove(str(key))
        return {"removed": len(keys)}

    def removed_result(context: CompensationContext) -> JsonValue:
        store = payloads()
        found = store.find(_argument(context, "key", str))
        return {"removed": found is not None and _remove_if(store, found, _argument(context, "sha256", str))}

    def ended_review(context: CompensationContext) -> JsonValue:
        where = ReviewId(context.task_id, _argument(context, "workflow", str), _argument(context, "step", str))
        try:
            return {"review": Desk.open().close(where, State.WITHDRAWN, "the task was undone").state.value}
        except ReviewUnknown:
            return {"review": "never opened"}

    def withdrawn_review(context: CompensationContext) -> JsonValue:
        # Recorded by steps of before reviews were entries of the ledger.
        bucket = payloads().bucket
        kept = bucket.listing(_argument(context, "folder", str))
        for info in kept:
            bucket.remove(info.key)
        return {"withdrawn": len(kept)}

    return {
        "remove_objects": removed_objects,
        "remove_result": removed_result,
        "end_review": ended_review,
        "withdraw_review": withdrawn_review,
        **order_actions(),
    }


def _remove_if(store: Payloads, found: PayloadRef, sha256: str) -> bool:
    return found.sha256 == sha256 and store.remove(found)


def _argument(context: CompensationContext, name: str, kind: type[A]) -> A:
    arguments: Any = context.arguments
    value = arguments.get(name) if isinstance(arguments, dict) else None
    if not isinstance(value, kind):
        raise SystemFault(f"the compensation of {context.step} was recorded without {name}", effect_applied=False)
    return value
