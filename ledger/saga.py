"""Unwinding: the recorded compensations of a task, in the reverse order of completion, each exactly once."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ledger.canonical_json import JsonValue
from ledger.claims import Claims, Granted
from ledger.context import CompensationContext
from ledger.errors import (
    CompensationFailed,
    LedgerError,
    LedgerMisconfigured,
    LedgerRetryable,
    LedgerUnavailable,
    OutcomeUncertain,
    ProbeMissing,
    UnknownCompensation,
    UnknownSavepoint,
)
from ledger.keys import UNWIND_PREFIX, StepKey, check_part, check_task_id, step_entry_prefix, step_key
from ledger.model import EffectKind, Probe, State
from ledger.protocol import Replay, UndoStatus, undo_order
from ledger.records import UNDO, StepRecord, decode_step
from ledger.results import Results
from ledger.steps import StepRunner
from ledger.store import Column, TableStore
from ledger.writes import Intent

Action = Callable[[CompensationContext], JsonValue]
UndoProbe = Callable[[CompensationContext], Probe]
_MOST_THREADS = 8
_SETTLED = frozenset({State.COMPENSATED, State.IRREVERSIBLE, State.TOMBSTONE, State.CARRIED})
_INCOMPLETE = frozenset({UndoStatus.FAILED, UndoStatus.UNCERTAIN, UndoStatus.NOT_REACHED})


@dataclass(frozen=True)
class UndoneStep:
    """What became of one step. `known` is what is recorded about an irreversible effect; `error` why it failed."""

    step: str
    status: UndoStatus
    known: JsonValue = None
    error: BaseException | None = None


@dataclass(frozen=True)
class SagaReport:
    """Every step an unwind looked at, in the order of undoing. Irreversible effects never count as undone."""

    task_id: str
    workflow_version: str
    steps: tuple[UndoneStep, ...]

    @property
    def complete(self) -> bool:
        """Tell whether nothing is left to do (irreversible effects cannot be undone and do not count)."""
        return not any(step.status in _INCOMPLETE for step in self.steps)

    def with_status(self, status: UndoStatus) -> tuple[UndoneStep, ...]:
        """Return the steps with one status."""
        return tuple(step for step in self.steps if step.status is status)


@dataclass(frozen=True)
class _Undo:
    """One step to be undone; `record` None: it never ran."""

    key: StepKey
    record: StepRecord | None


class Saga:
    """The compensations of one task under one workflow version. Made by `Ledger.saga`."""

    def __init__(
        self,
        task_id: str,
        workflow_version: str,
        *,
        store: TableStore,
        claims: Claims,
        runner: StepRunner,
        results: Results,
    ) -> None:
        check_task_id(task_id)
        check_part("workflow_version", workflow_version)
        self.task_id, self.workflow_version = task_id, workflow_version
        self._store, self._claims, self._runner, self._results = store, claims, runner, results

    def compensate(
        self,
        actions: Mapping[str, Action],
        *,
        steps: Collection[str] | None = None,
        back_to: str | None = None,
        continue_on_error: bool = False,
        parallel: bool = False,
        probes: Mapping[str, UndoProbe] | None = None,
    ) -> SagaReport:
        """Undo all steps, those named in `steps`, or those after the savepoint `back_to`.

        `actions` maps the recorded names to what undoes them. A step of `steps` that never ran gets a tombstone, which
        refuses it when it comes late. Raises `UnknownCompensation`, `UnknownSavepoint` and `ProbeMissing` before
        anything is undone; `CompensationFailed` with the report when a step failed or is uncertain, whatever the
        switches say, so an unfinished unwind never looks finished; `StepBusy`, `LedgerUnavailable` to call again. A
        repeat resumes where this call stopped. `parallel` and `continue_on_error`: see the table in docs/ledger.md.
        """
        plan = self._plan(steps, back_to)
        self._check_actions(plan, actions, probes or {})
        undo = _Unwind(self, actions, probes or {})
        if parallel:
            outcome = undo.all_at_once(plan, stop=not continue_on_error)
        else:
            outcome = undo.one_by_one(plan, stop=not continue_on_error)
        report = SagaReport(self.task_id, self.workflow_version, tuple(outcome))
        self._note_repeats(report)
        for step in report.steps:
            if step.error is not None:
                raise CompensationFailed(step.step, step.error, report) from step.error
        return report

    def _note_repeats(self, report: SagaReport) -> None:
        """Keep how many steps were skipped as repeats, for the figures. Nothing is written when none was."""
        skipped = len(report.with_status(UndoStatus.SKIPPED_REPEAT))
        if not skipped:
            return
        moment = self._claims.moment()
        # A random entry per unwind: writing it twice is harmless, and no two unwinds share one.
        key = [("task_id", self.task_id), ("entry", f"{UNWIND_PREFIX}{moment.write_id}")]
        with contextlib.suppress(LedgerUnavailable):
            self._store.put(self._store.table, key, {"skipped": skipped, "at_ms": moment.now_ms})

    def undo(self, undo: _Undo, actions: Mapping[str, Action], probes: Mapping[str, UndoProbe]) -> UndoneStep:
        """Undo one step. Raises only what concerns the whole unwind (busy, unavailable, misconfigured)."""
        step, compensation = undo.key.step, undo.record.compensation if undo.record else None
        known = compensation.arguments if compensation else None
        try:
            return UndoneStep(step, self._attempt(undo, actions, probes), known)
        except OutcomeUncertain as error:
            return UndoneStep(step, UndoStatus.UNCERTAIN, known, error)
        except (LedgerRetryable, LedgerMisconfigured):
            raise
        except Exception as error:  # noqa: BLE001
            return UndoneStep(step, UndoStatus.FAILED, known, error)

    def _attempt(self, undo: _Undo, actions: Mapping[str, Action], probes: Mapping[str, UndoProbe]) -> UndoStatus:
        kind = undo.record.compensation.kind if undo.record and undo.record.compensation else EffectKind.IDEMPOTENT
        intent = Intent(undo.key, UNDO, kind, self._runner.lease_ms(None))
        acquired = self._claims.acquire(intent, undo.record)
        if isinstance(acquired, Replay):
            return UndoStatus.SKIPPED_REPEAT
        if not isinstance(acquired, Granted):
            return acquired.status
        record = acquired.record
        if record is None or record.compensation is None:
            raise LedgerError(f"step {undo.key.step!r} was claimed for undoing without a compensation")
        compensation = record.compensation
        context = CompensationContext(acquired.claim, record, compensation, self._results)
        if compensation.name not in actions:
            raise UnknownCompensation(compensation.name, undo.key.step, tuple(sorted(actions)))
        self._runner.execute(acquired, context, actions[compensation.name], probes.get(compensation.name))
        return UndoStatus.COMPENSATED

    def _plan(self, steps: Collection[str] | None, back_to: str | None) -> list[_Undo]:
        records = undo_order(self._records())
        if back_to is not None:
            records = _after(records, back_to)
        if steps is None:
            return [_Undo(record.key, record) for record in records]
        wanted = list(dict.fromkeys(steps))
        found = {record.key.step for record in records}
        missing = [step_key(self.task_id, self.workflow_version, step) for step in wanted if step not in found]
        chosen = [_Undo(record.key, record) for record in records if record.key.step in wanted]
        return [_Undo(key, None) for key in missing] + chosen

    def _records(self) -> list[StepRecord]:
        prefix = step_entry_prefix(self.workflow_version)
        # "0" is the character after "/": the end of everything that begins with the prefix.
        rows = self._store.scan(self.task_id, Column(prefix, prefix[:-1] + "0"))
        return [decode_step(row) for row in rows]

    @staticmethod
    def _check_actions(plan: list[_Undo], actions: Mapping[str, Action], probes: Mapping[str, UndoProbe]) -> None:
        for undo in plan:
            compensation = undo.record.compensation if undo.record else None
            if compensation is None or undo.record is None or not _may_run(undo.record):
                continue
            if compensation.name not in actions:
                raise UnknownCompensation(compensation.name, undo.key.step, tuple(sorted(actions)))
            if compensation.kind is EffectKind.PROBED and compensation.name not in probes:
                raise ProbeMissing(undo.key.step)


class _Unwind:
    """The order in which the steps of a plan are undone, and what happens after a failure."""

    def __init__(self, saga: Saga, actions: Mapping[str, Action], probes: Mapping[str, UndoProbe]) -> None:
        self._saga, self._actions, self._probes = saga, actions, probes
        self._failed = threading.Event()

    def one_by_one(self, plan: list[_Undo], *, stop: bool) -> list[UndoneStep]:
        return [self._next(undo, stop) for undo in plan]

    def all_at_once(self, plan: list[_Undo], *, stop: bool) -> list[UndoneStep]:
        with ThreadPoolExecutor(max_workers=min(_MOST_THREADS, len(plan) or 1)) as pool:
            running = [pool.submit(self._next, undo, stop) for undo in plan]
        return [future.result() for future in running]

    def _next(self, undo: _Undo, stop: bool) -> UndoneStep:
        if stop and self._failed.is_set():
            return UndoneStep(undo.key.step, UndoStatus.NOT_REACHED)
        done = self._saga.undo(undo, self._actions, self._probes)
        if done.error is not None:
            self._failed.set()
        return done


def _may_run(record: StepRecord) -> bool:
    """Tell whether undoing this row may have to run its action."""
    if record.state in _SETTLED or record.compensation is None or not record.compensation.reversible:
        return False
    return record.state is not State.FAILED or record.forward.doubt


def _after(records: list[StepRecord], savepoint: str) -> list[StepRecord]:
    """Return the records that lie before `savepoint` in the order of undoing: those that completed after it."""
    for position, record in enumerate(records):
        if record.key.step == savepoint and record.forward.completed:
            return records[:position]
    raise UnknownSavepoint(savepoint)
