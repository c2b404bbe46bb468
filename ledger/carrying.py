"""Carrying finished steps over to another workflow version, so that a migrated task does not run them again.

A step's key holds the workflow version, so under another version it would be a new step with a new effect. Carrying
closes the old row (`carried`) and makes a done row under the new version: two conditional writes a step, in this order,
so that at no moment two rows could be undone. A crash in between leaves a closed step; a repeat goes on from there. The
new row remembers the version its effect ran under (`origin`), because the effect's idempotency keys come from that one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ledger import writes
from ledger.canonical_json import JsonValue
from ledger.claims import Claims
from ledger.errors import CarryRefused
from ledger.keys import check_part, check_task_id, step_key
from ledger.model import State
from ledger.protocol import undo_order
from ledger.records import Cell, StepRecord, decode_step, encode_ref
from ledger.results import Results
from ledger.store import Column, TableStore

Rewrite = Callable[[JsonValue], JsonValue]
_STEPS = Column("step/", "step0")
_IN_DOUBT = "it may have taken effect without a result: settle it first"
_UNDONE = "the task is being undone: finish that under the old version"


@dataclass(frozen=True)
class CarryPlan:
    """What carrying does. `valid` steps keep their results, in the order of completion; `rerun` ones certainly did
    nothing and run under the new version; `blocked` maps a step to why nothing can be carried as long as it is so.
    """

    valid: tuple[str, ...]
    rerun: tuple[str, ...]
    blocked: Mapping[str, str] = field(default_factory=dict)


def plan_of_carry(records: list[StepRecord], before: str, after: str) -> CarryPlan:
    """Sort the steps that a task has under the workflow version `before`. Pure."""
    mine = [record for record in reversed(undo_order(records)) if record.key.workflow_version == before]
    there = {record.key.step: record for record in records if record.key.workflow_version == after}
    problems = {record.key.step: _problem(record, there.get(record.key.step), after) for record in mine}
    return CarryPlan(
        tuple(record.key.step for record in mine if record.state in (State.DONE, State.CARRIED)),
        tuple(record.key.step for record in mine if record.state is State.FAILED and not record.forward.doubt),
        {step: problem for step, problem in problems.items() if problem},
    )


def _problem(record: StepRecord, target: StepRecord | None, after: str) -> str:
    if record.state is State.FAILED and not record.forward.doubt:
        return _taken(record, target)
    if record.state in (State.CLAIMED, State.FAILED, State.UNCERTAIN):
        return _IN_DOUBT
    if record.state is State.CARRIED:
        return "" if record.carried_to == after else f"it was carried over to {record.carried_to}"
    if record.state is not State.DONE:
        return _UNDONE
    return _taken(record, target)


def _taken(record: StepRecord, target: StepRecord | None) -> str:
    """A row under the new version is in the way, unless the step came from there and goes back."""
    if target is None or (target.state is State.CARRIED and target.carried_to == record.key.workflow_version):
        return ""
    if target.fingerprint != record.fingerprint:
        return f"it is {target.state.value} under the new version with another input"
    return f"it is {target.state.value} under the new version"


class Carrying:
    """Carries the finished steps of tasks. Made by `Ledger`."""

    def __init__(self, store: TableStore, claims: Claims, results: Results) -> None:
        self._store, self._claims, self._results = store, claims, results

    def plan(self, task_id: str, before: str, after: str) -> CarryPlan:
        """Say what `carry` would do; nothing is written."""
        check_task_id(task_id)
        check_part("before", before)
        check_part("after", after)
        if before == after:
            return CarryPlan((), ())
        return plan_of_carry(self._records(task_id), before, after)

    def carry(self, task_id: str, before: str, after: str, reason: str, by: str, rewrite: Rewrite) -> CarryPlan:
        """Carry every finished step; see `Ledger.carry`."""
        check_part("reason", reason)
        check_part("by", by)
        while True:
            plan = self.plan(task_id, before, after)
            if plan.blocked:
                raise CarryRefused(task_id, plan.blocked)
            records = {(record.key.workflow_version, record.key.step): record for record in self._records(task_id)}
            note = writes.Note(by, reason)
            if all(self._move(records, before, after, step, note, rewrite) for step in plan.valid):
                return plan

    def _move(
        self,
        records: Mapping[tuple[str, str], StepRecord],
        before: str,
        after: str,
        step: str,
        note: writes.Note,
        rewrite: Rewrite,
    ) -> bool:
        """Close the old row, then make the new one. False when somebody else changed either: look again."""
        record, target = records[before, step], records.get((after, step))
        if record.state is State.DONE:
            result = self._result(record, rewrite)  # what cannot be read is not closed
            if not self._store.settle(writes.carry_out(record, after, note, self._claims.moment())).won:
                return False
        elif target is not None and target.state is not State.CARRIED:
            return True  # carried by an earlier call
        else:
            result = self._result(record, rewrite)
        key = step_key(record.key.task_id, after, step)
        return self._store.settle(writes.carry_in(record, target, key, result, note, self._claims.moment())).won

    def _result(self, record: StepRecord, rewrite: Rewrite) -> Mapping[str, Cell]:
        value = self._results.decode(record.forward)
        moved = rewrite(value)
        if moved != value:
            return self._results.encode(record.key.task_id, moved)
        if record.forward.result_ref is not None:
            return {"result_ref": encode_ref(record.forward.result_ref)}
        return {"result": record.forward.result or "null"}

    def _records(self, task_id: str) -> list[StepRecord]:
        return [decode_step(row) for row in self._store.scan(task_id, _STEPS)]
