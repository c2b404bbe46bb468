"""Compensate: undoes the task's steps in the reverse order of completion. Each undoing is a ledger step of its own."""

from __future__ import annotations

from collections import Counter
from typing import Any

from functions.compensations import actions
from functions.models import CompensateEvent
from functions.step import Call, reading
from ledger import Ledger

__all__ = ["handler"]


@reading(CompensateEvent)
def handler(call: Call[CompensateEvent]) -> dict[str, Any]:
    """Answers `outcome` and how many steps ended how (`undone`). Raises `UncertainOutcome` while an effect is
    uncertain: what may not have happened is never undone. A repeat goes on where the last one stopped.
    """
    event = call.event
    report = Ledger.open().saga(event.task_id, event.workflow).compensate(actions())
    return {"outcome": event.outcome, "undone": dict(Counter(step.status.value for step in report.steps))}
