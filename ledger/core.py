"""The ledger's front door."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ledger import writes
from ledger.blobs import BlobStore, default_blobs
from ledger.canonical_json import JsonValue
from ledger.carrying import Carrying, CarryPlan, Rewrite
from ledger.claims import Claims
from ledger.client import tablestore_client
from ledger.clock import Clock, RealClock
from ledger.context import StepContext
from ledger.entries import Entries
from ledger.errors import NotUncertain
from ledger.figures import TaskHistory
from ledger.keys import STEP_PREFIX, UNWIND_PREFIX, check_part, check_task_id, step_key
from ledger.lease import process_keeper
from ledger.model import Direction, Probe, StepRequest, StepResult, StepRow, Transition, Versions
from ledger.records import (
    FORWARD,
    UNDO,
    Lane,
    StepRecord,
    StoredRow,
    decode_step,
    decode_transitions,
    step_rows,
)
from ledger.results import Results
from ledger.saga import Saga
from ledger.settings import CredentialsSource, LedgerSettings, environment_credentials
from ledger.steps import StepRunner
from ledger.store import Column, TableStore
from ledger.tables import check_schema
from ledger.tasks import TaskEntry, TaskRecord, Tasks

# Everything that begins with "step/": "0" is the character after "/".
_STEPS = Column("step/", "step0")
_STEPS_AND_UNWINDS = Column("step/", "unwind0")
_opened: dict[tuple[int, LedgerSettings, CredentialsSource], Ledger] = {}
_opening = threading.Lock()


class Ledger:
    """The exactly-once record of steps and compensations. Thread-safe; `Ledger.open` is the usual way to get one.

    Every method may raise `LedgerUnavailable`, and at its first use `TableMissing`, `WrongSchemaVersion` or
    `NoPermission`.
    """

    def __init__(
        self,
        settings: LedgerSettings,
        client: Any,
        *,
        clock: Clock | None = None,
        blobs: BlobStore | None = None,
        jitter: random.Random | None = None,
    ) -> None:
        self.settings = settings
        self._clock = clock or RealClock()
        # An operation must end well before the lease it works under.
        deadline = min(settings.store_deadline_seconds, settings.lease_seconds * 2 / 3)
        self._store = TableStore(client, settings.table, self._clock, deadline, jitter)
        self._skew_ms = int(settings.max_clock_skew_seconds * 1000)
        self._claims = Claims(self._store, self._clock, settings.busy_wait, self._skew_ms, jitter)
        self._results = Results(blobs, settings.inline_limit_bytes)
        self._runner = StepRunner(self._claims, self._results, process_keeper(), settings.lease_seconds)
        self._carrying = Carrying(self._store, self._claims, self._results)
        self._tasks = Tasks(self._store, self._claims, settings)
        self._checked = False

    @classmethod
    def open(
        cls,
        settings: LedgerSettings | None = None,
        *,
        clock: Clock | None = None,
        blobs: BlobStore | None = None,
        credentials: CredentialsSource = environment_credentials,
    ) -> Ledger:
        """Open the ledger the settings (default: the environment's) name. Nothing is sent until the first use.

        The same settings give the same ledger within a process, unless `clock` or `blobs` are given. `blobs` defaults
        to the OSS bucket of the settings.
        """
        settings = settings or LedgerSettings()
        if clock is not None or blobs is not None:
            client = tablestore_client(settings, credentials)
            return cls(settings, client, clock=clock, blobs=blobs or default_blobs(settings, credentials))
        key = (os.getpid(), settings, credentials)
        with _opening:
            if key not in _opened:
                client = tablestore_client(settings, credentials)
                _opened[key] = cls(settings, client, blobs=default_blobs(settings, credentials))
            return _opened[key]

    def begin(self, task_id: str, versions: Versions) -> Versions:
        """Pin a task to `versions` and make it findable; returns the pins. Two writes, no read.

        The same again is quiet. Raises `VersionsDiffer` for others, `InvalidKey`.
        """
        self._ready()
        return self._tasks.begin(task_id, versions)

    def repin(self, task_id: str, versions: Versions, reason: str, *, by: str = "") -> Versions:
        """Migrate a task to other versions, leaving a migration record; returns the new pins.

        Finished steps keep their results. Raises `VersionsDiffer` (pinned None) when the task never began.
        """
        self._ready()
        return self._tasks.repin(task_id, versions, reason, by)

    def carry_plan(self, task_id: str, before: str, after: str) -> CarryPlan:
        """Say what `carry` from workflow version `before` to `after` would do; nothing is written."""
        self._ready()
        return self._carrying.plan(task_id, before, after)

    def carry(
        self,
        task_id: str,
        before: str,
        after: str,
        reason: str,
        *,
        by: str = "migration",
        rewrite: Rewrite = lambda value: value,
    ) -> CarryPlan:
        """Carry the finished steps of a task over to the workflow version `after`; `repin` is to follow.

        The steps replay there as they would have before, and are undone there, with the idempotency keys they had;
        under `before` they are closed. `rewrite` may change results that name the version. While the flow stands still
        only. Repeating it is quiet. Raises `CarryRefused` when steps are in doubt, being undone, or have a row there.
        """
        self._ready()
        return self._carrying.carry(task_id, before, after, reason, by, rewrite)

    def task(self, task_id: str) -> TaskRecord | None:
        """Return a task's pins and migrations; None when it never began."""
        self._ready()
        check_task_id(task_id)
        return self._tasks.task(task_id)

    def tasks(self, from_ms: int, to_ms: int) -> Iterator[TaskEntry]:
        """Yield the tasks begun in [from_ms, to_ms), ms since the epoch, in rough order of time."""
        self._ready()
        return self._tasks.between(from_ms, to_ms)

    def run(
        self,
        request: StepRequest,
        effect: Callable[[StepContext], JsonValue],
        *,
        probe: Callable[[StepContext], Probe] | None = None,
    ) -> StepResult:
        """Run `effect` unless the step's result is recorded already; then return the recorded one.

        A fresh step costs two writes; a repeat one write and one read. `probe` is needed for kind `probed`.

        Raises `StepBusy` (another worker, after waiting for it), `OutcomeUncertain`, `FingerprintDiffers`,
        `VersionsDiffer`, `StepClosed`, `ClaimLost`, `InvalidKey`, `NotJson`, `TooLarge`, `ProbeMissing`, and whatever
        the effect raises: with `effect_applied = False` on the exception the step may simply run again, otherwise what
        happens next depends on the kind (docs/ledger.md).
        """
        self._ready()
        if request.versions is not None:
            check_task_id(request.task_id)
            self._tasks.check(request.task_id, request.versions)
        return self._runner.run(request, effect, probe)

    @property
    def entries(self) -> Entries:
        """What else a task has beside its steps."""
        self._ready()
        return Entries(self._store, self._claims, self.settings.tasks_table)

    def saga(self, task_id: str, workflow_version: str) -> Saga:
        """Return what unwinds a task. Raises `InvalidKey`."""
        self._ready()
        return Saga(
            task_id,
            workflow_version,
            store=self._store,
            claims=self._claims,
            runner=self._runner,
            results=self._results,
        )

    def resolve(
        self,
        task_id: str,
        workflow_version: str,
        step: str,
        *,
        applied: bool,
        result: JsonValue = None,
        by: str,
        reason: str,
        direction: Direction = Direction.FORWARD,
    ) -> None:
        """A person settles an uncertain step (or, with `direction`, an uncertain compensation).

        `applied` True: it happened, `result` is its result. False: it did not and will not; the step may run again.
        Raises `NotUncertain`, `StepBusy` (its worker still lives, after waiting for it), `InvalidKey`, `NotJson`.
        """
        self._ready()
        check_part("by", by)
        check_part("reason", reason)
        lane = FORWARD if direction is Direction.FORWARD else UNDO
        key = step_key(task_id, workflow_version, step)
        columns = self._results.encode(task_id, result) if applied else None
        while True:
            record = _settleable(step, lane, self._claims.at_rest(key, lane))
            write = writes.settle_by_person(record, lane, columns, by, reason, self._claims.moment())
            if self._store.settle(write).won:
                return

    def rows(self, task_id: str) -> list[StepRow]:
        """Return every step and compensation of a task, in the order of first claim by the store's clock."""
        return _lines(self._stored(task_id))

    def transitions(self, task_id: str) -> list[Transition]:
        """Return every change of state of a task, oldest first by the store's clock."""
        return _changes(self._stored(task_id))

    def history(self, task_id: str) -> TaskHistory:
        """Return rows, transitions and skipped repeats of a task by one scan."""
        self._ready()
        check_task_id(task_id)
        stored = list(self._store.scan(task_id, _STEPS_AND_UNWINDS))
        steps = [row for row in stored if row.key.entry.startswith(STEP_PREFIX)]
        repeats = sum(int(row.columns["skipped"]) for row in stored if row.key.entry.startswith(UNWIND_PREFIX))
        return TaskHistory(task_id, tuple(_lines(steps)), tuple(_changes(steps)), repeats, _references(steps))

    def stored_result(
        self, task_id: str, workflow_version: str, step: str, value_of: Direction = Direction.FORWARD
    ) -> JsonValue:
        """Return the recorded result of a finished step; nothing runs. Raises `LookupError` when there is none."""
        self._ready()
        stored = self._store.read(step_key(task_id, workflow_version, step).row)
        record = None if stored is None else decode_step(stored)
        half = None if record is None else record.lane(FORWARD if value_of is Direction.FORWARD else UNDO)
        if half is None or not half.completed:
            raise LookupError(f"step {step!r} of task {task_id!r} has no recorded result")
        return self._results.decode(half)

    def _stored(self, task_id: str) -> list[StoredRow]:
        self._ready()
        check_task_id(task_id)
        return list(self._store.scan(task_id, _STEPS))

    def _ready(self) -> None:
        if not self._checked:
            check_schema(self._store)
            self._checked = True


def _lines(stored: list[StoredRow]) -> list[StepRow]:
    lines = [line for row in stored for line in step_rows(decode_step(row))]
    return [line for _, line in sorted(lines, key=lambda item: (item[0], item[1].started_ms))]


def _changes(stored: list[StoredRow]) -> list[Transition]:
    found = [change for row in stored for change in decode_transitions(row)]
    return sorted(found, key=lambda change: (change.timestamp, change.epoch))


def _references(stored: list[StoredRow]) -> frozenset[str]:
    records = [decode_step(row) for row in stored]
    halves = [half for record in records for half in (record.forward, record.undo) if half is not None]
    return frozenset(half.result_ref.uri for half in halves if half.result_ref is not None)


def _settleable(step: str, lane: Lane, record: StepRecord | None) -> StepRecord:
    if record is None or record.lane(lane) is None:
        raise NotUncertain(step, "not recorded")
    if record.state not in (lane.claimed, lane.uncertain):
        raise NotUncertain(step, record.state.value)
    return record
