"""RecordDecision: writes down what a person decided about a task that stands still, and settles what was uncertain."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict

from functions.errors import InvalidInput
from functions.models import DecisionEvent, PinnedTask
from functions.step import Call, lap, step
from ledger import EffectKind, Ledger, StepRow, Versions

__all__ = ["handler"]


class _Pinned(PinnedTask):
    """The id and the pins of any flow's task."""

    model_config = ConfigDict(extra="ignore")


@step(
    DecisionEvent,
    task_of=lambda call: (call.event.task_id, call.event.workflow),
    compared=lambda call: call.event.answer.model_dump(),
)
def handler(call: Call[DecisionEvent]) -> dict[str, Any]:
    """Answers `decision`. Raises `InvalidInput` for a bare `retry` or `compensate` of a step whose effect is
    uncertain: only a person can say whether it happened, and has to (`applied`). A `retry` of a step that can be
    probed needs no `applied`: the other side is asked again."""
    answer = call.event.answer
    ledger = Ledger.open()
    if answer.decision != "abandon":
        _settle(call.event, ledger)
    if answer.accept_versions:
        _accept_versions(call, ledger)
    return {"decision": answer.decision, "by": answer.by, "reason": answer.reason}


def _settle(event: DecisionEvent, ledger: Ledger) -> None:
    row = _uncertain(event, ledger.rows(event.task_id))
    if row is None:
        return
    answer = event.answer
    if answer.applied is None and answer.decision == "retry" and row.kind is EffectKind.PROBED:
        return  # the other side is asked again
    if answer.applied is None:
        raise InvalidInput(
            f"{row.step} is uncertain ({row.error or 'nobody knows whether it took effect'}): "
            f"say applied true or false; look for key {row.side_effect_id} on the other side",
            path="answer.applied",
            reason="missing",
        )
    result = {"task": {}, "settled_by": answer.by, **(answer.result or {})} if answer.applied else None
    ledger.resolve(
        event.task_id,
        event.workflow,
        row.step,
        applied=answer.applied,
        result=result,
        by=answer.by or "unnamed",
        reason=answer.reason or f"decided {answer.decision}",
    )


def _uncertain(event: DecisionEvent, rows: list[StepRow]) -> StepRow | None:
    """The step that a person has to settle: the failed one, or the one that a failed Compensate stopped at."""
    wanted = lap(event.failed_step, event.failed_attempt)
    mine = [row for row in rows if row.workflow_version == event.workflow and row.direction == "forward"]
    if any(row.step == wanted for row in mine):
        mine = [row for row in mine if row.step == wanted]
    return next((row for row in mine if row.state == "uncertain"), None)


def _accept_versions(call: Call[DecisionEvent], ledger: Ledger) -> None:
    """Pin the task to what is deployed now; the record says who wanted it."""
    try:
        task = _Pinned.model_validate(call.event.task)
    except ValueError as error:
        raise InvalidInput("a task without pins has no versions to accept", path="answer.accept_versions") from error
    settings, answer = call.settings, call.event.answer
    versions = Versions(task.versions.workflow, settings.function_version, settings.prompt_version, task.versions.input)
    ledger.repin(task.task_id, versions, f"accepted by {answer.by or 'unnamed'}: {answer.reason or 'no reason given'}")
