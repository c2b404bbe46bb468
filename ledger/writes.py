"""Every write the ledger can send, built by pure functions. A write is one conditional change of one row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ledger.canonical_json import canonical
from ledger.keys import RowKey, StepKey
from ledger.model import Compensation, EffectKind, State
from ledger.records import (
    FORWARD,
    Cell,
    Lane,
    StepRecord,
    StoredRow,
    encode_compensation,
    transition_column,
)

_ERROR_CHARACTERS = 2000
_OPENED, _CLOSED = 0, 1


@dataclass(frozen=True)
class Write:
    """One conditional write. `expect` None: the row must not exist; else all these columns must be equal.

    `proof` names the column whose value is unique to this very write. Reading it back settles whether the write
    landed, whatever the store answered (rule 3 of the reference page ledger-design.md).
    """

    row: RowKey
    columns: Mapping[str, Cell]
    expect: Mapping[str, Cell] | None
    proof: str

    def landed(self, stored: StoredRow | None) -> bool:
        """Tell whether the row as read bears this write's mark."""
        return stored is not None and stored.columns.get(self.proof) == self.columns[self.proof]

    def possible(self, stored: StoredRow | None) -> bool:
        """Tell whether the write's condition holds on the row as read, so that sending it (again) makes sense."""
        if self.expect is None or stored is None:
            return self.expect is None and stored is None
        return all(stored.columns.get(name) == value for name, value in self.expect.items())


@dataclass(frozen=True)
class Moment:
    """What a pure decision needs from outside: the time, and fresh random names for the write it may build."""

    now_ms: int
    token: str
    write_id: str
    quiet_ms: int = 0


@dataclass(frozen=True)
class Grant:
    """Ownership of one half of a row: only this token and epoch can finish it."""

    key: StepKey
    lane: Lane
    token: str
    epoch: int
    attempt: int
    kind: EffectKind
    lease_ms: int
    doubt: bool

    @property
    def side_effect_id(self) -> str:
        """The idempotency key of this half."""
        return self.key.side_effect_id(self.lane.direction)


@dataclass(frozen=True)
class Intent:
    """What a caller wants of one half of a row."""

    key: StepKey
    lane: Lane
    kind: EffectKind
    lease_ms: int
    fingerprint: str = ""
    compensation: Compensation | None = None


def first_claim(intent: Intent, moment: Moment) -> tuple[Write, Grant]:
    """Claim a step nobody has touched: PutRow, the row must not exist. The compensation rides in the same write."""
    grant = _grant(intent, moment, epoch=1, attempt=1, doubt=False)
    columns = {
        **_claim_columns(intent, grant, moment),
        "fingerprint": intent.fingerprint,
        "started_ms": moment.now_ms,
        **_compensation_columns(intent.compensation),
    }
    return _write(intent.key, columns, None, 1, _OPENED, _change("", FORWARD.claimed, FORWARD, 1, moment)), grant


def next_claim(record: StepRecord, intent: Intent, moment: Moment, *, doubt: bool) -> tuple[Write, Grant]:
    """Claim a half of an existing row: the next attempt, or a take-over. The epoch rises and fences the old owner."""
    half = record.lane(intent.lane)
    attempt = (half.attempt if half else 0) + 1
    grant = _grant(intent, moment, epoch=record.epoch + 1, attempt=attempt, doubt=doubt)
    columns: dict[str, Cell] = {
        **_claim_columns(intent, grant, moment),
        f"{intent.lane.prefix}error": "",
        f"{intent.lane.prefix}error_type": "",
    }
    if half is None:
        columns[f"{intent.lane.prefix}started_ms"] = moment.now_ms
    if intent.lane is FORWARD and record.compensation is None:
        columns.update(_compensation_columns(intent.compensation))
    change = _change(record.state.value, intent.lane.claimed, intent.lane, attempt, moment)
    return _write(record.key, columns, as_read(record), grant.epoch, _OPENED, change), grant


def complete(grant: Grant, result: Mapping[str, Cell], moment: Moment) -> Write:
    """Finish with a stored result (`result` or `result_ref`, unprefixed)."""
    prefix = grant.lane.prefix
    columns: dict[str, Cell] = {
        "state": grant.lane.done.value,
        f"{prefix}finished_ms": moment.now_ms,
        f"{prefix}doubt": False,
        **{prefix + name: value for name, value in result.items()},
    }
    change = _change(grant.lane.claimed.value, grant.lane.done, grant.lane, grant.attempt, moment)
    return _write(grant.key, columns, owned(grant), grant.epoch, _CLOSED, change)


def give_up(grant: Grant, error: BaseException, moment: Moment, *, to: State, doubt: bool) -> Write:
    """Finish without a result: `to` is the lane's failed or uncertain state."""
    prefix, error_type = grant.lane.prefix, type(error).__name__
    columns: dict[str, Cell] = {
        "state": to.value,
        f"{prefix}finished_ms": moment.now_ms,
        f"{prefix}doubt": doubt,
        f"{prefix}error_type": error_type,
        f"{prefix}error": _text(str(error)),
    }
    change = _change(grant.lane.claimed.value, to, grant.lane, grant.attempt, moment, error_type=error_type)
    return _write(grant.key, columns, owned(grant), grant.epoch, _CLOSED, change)


def park(record: StepRecord, lane: Lane, reason: str, moment: Moment) -> Write:
    """Record that the outcome of a vanished attempt is unknown. The epoch rises and fences the vanished worker."""
    half = record.lane(lane)
    columns: dict[str, Cell] = {
        "state": lane.uncertain.value,
        "token": moment.token,
        "epoch": record.epoch + 1,
        f"{lane.prefix}doubt": True,
        f"{lane.prefix}error_type": "OutcomeUncertain",
        f"{lane.prefix}error": reason,
    }
    change = _change(
        record.state.value, lane.uncertain, lane, half.attempt if half else 0, moment, error_type="OutcomeUncertain"
    )
    return _write(record.key, columns, as_read(record), record.epoch + 1, _CLOSED, change)


def tombstone(key: StepKey, record: StepRecord | None, moment: Moment) -> Write:
    """Close a step that left nothing to undo, so that a late step is refused (case C37)."""
    return _close(key, record, State.TOMBSTONE, moment)


def irreversible(record: StepRecord, moment: Moment) -> Write:
    """Record that an effect cannot be undone."""
    return _close(record.key, record, State.IRREVERSIBLE, moment)


def settle_by_person(
    record: StepRecord, lane: Lane, result: Mapping[str, Cell] | None, by: str, reason: str, moment: Moment
) -> Write:
    """A person says what happened: `result` given means applied, None means it did not happen."""
    half, epoch = record.lane(lane), record.epoch + 1
    to = lane.failed if result is None else lane.done
    columns: dict[str, Cell] = {
        "state": to.value,
        "token": moment.token,
        "epoch": epoch,
        f"{lane.prefix}doubt": False,
        f"{lane.prefix}finished_ms": moment.now_ms,
        **{lane.prefix + name: value for name, value in (result or {}).items()},
    }
    change = _change(record.state.value, to, lane, half.attempt if half else 0, moment, by=by, reason=_text(reason))
    return _write(record.key, columns, as_read(record), epoch, _CLOSED, change)


@dataclass(frozen=True)
class Note:
    """Who wanted a change, and why."""

    by: str
    reason: str


def carry_out(record: StepRecord, to_version: str, note: Note, moment: Moment) -> Write:
    """Close a done step that lies under another workflow version from now on."""
    epoch = record.epoch + 1
    columns: dict[str, Cell] = {
        "state": State.CARRIED.value,
        "token": moment.token,
        "epoch": epoch,
        "carried_to": to_version,
    }
    change = _noted(record.state.value, State.CARRIED, record.forward.attempt, note, moment)
    return _write(record.key, columns, as_read(record), epoch, _CLOSED, change)


def carry_in(
    record: StepRecord, target: StepRecord | None, key: StepKey, result: Mapping[str, Cell], note: Note, moment: Moment
) -> Write:
    """Make the done step under `key` that `record` was elsewhere; `target` is its own row, closed when it left."""
    epoch = target.epoch + 1 if target else 1
    half, origin = record.forward, record.key.origin or record.key.workflow_version
    columns: dict[str, Cell] = {
        "state": State.DONE.value,
        "token": moment.token,
        "epoch": epoch,
        "rev": target.revision if target else 0,
        "fingerprint": record.fingerprint,
        "attempt": half.attempt,
        "kind": half.kind.value,
        "doubt": False,
        "started_ms": half.started_ms,
        "finished_ms": half.finished_ms or moment.now_ms,
        "origin": "" if origin == key.workflow_version else origin,
        "carried_from": record.key.workflow_version,
        "carried_to": "",
        **_compensation_columns(record.compensation),
        **result,
    }
    change = _noted(target.state.value if target else "", State.DONE, half.attempt, note, moment)
    return _write(key, columns, as_read(target) if target else None, epoch, _CLOSED, change)


def renew(grant: Grant, revision: int, moment: Moment) -> Write:
    """Move the lease's end. Compare-and-set on the revision, so that a delayed renewal cannot shorten a lease."""
    return _edit(grant, revision, {"lease_until_ms": moment.now_ms + grant.lease_ms}, moment)


def recompensate(grant: Grant, revision: int, compensation: Compensation, moment: Moment) -> Write:
    """Replace the recorded compensation while holding the claim."""
    return _edit(grant, revision, _compensation_columns(compensation), moment)


def owned(grant: Grant) -> dict[str, Cell]:
    """The condition of every write of an owner."""
    return {"state": grant.lane.claimed.value, "token": grant.token, "epoch": grant.epoch}


def as_read(record: StepRecord) -> dict[str, Cell]:
    """The condition of every write of a newcomer: nothing changed since the row was read, not even a renewal."""
    return {"state": record.state.value, "token": record.token, "epoch": record.epoch, "rev": record.revision}


def _grant(intent: Intent, moment: Moment, *, epoch: int, attempt: int, doubt: bool) -> Grant:
    return Grant(intent.key, intent.lane, moment.token, epoch, attempt, intent.kind, intent.lease_ms, doubt)


def _claim_columns(intent: Intent, grant: Grant, moment: Moment) -> dict[str, Cell]:
    prefix = intent.lane.prefix
    return {
        "state": intent.lane.claimed.value,
        "token": grant.token,
        "epoch": grant.epoch,
        "rev": 0,
        "rev_id": moment.write_id,
        "lease_ms": intent.lease_ms,
        "lease_until_ms": moment.now_ms + intent.lease_ms,
        f"{prefix}attempt": grant.attempt,
        f"{prefix}kind": intent.kind.value,
        f"{prefix}doubt": grant.doubt,
    }


def _compensation_columns(compensation: Compensation | None) -> dict[str, Cell]:
    return {} if compensation is None else {"comp": encode_compensation(compensation)}


def _close(key: StepKey, record: StepRecord | None, to: State, moment: Moment) -> Write:
    epoch = record.epoch + 1 if record else 1
    columns: dict[str, Cell] = {"state": to.value, "token": moment.token, "epoch": epoch}
    if record is None:
        columns.update({"rev": 0, "started_ms": moment.now_ms})
    attempt = record.forward.attempt if record else 0
    change = _change(record.state.value if record else "", to, FORWARD, attempt, moment)
    return _write(key, columns, as_read(record) if record else None, epoch, _CLOSED, change)


def _edit(grant: Grant, revision: int, columns: Mapping[str, Cell], moment: Moment) -> Write:
    return Write(
        row=grant.key.row,
        columns={**columns, "rev": revision + 1, "rev_id": moment.write_id},
        expect={**owned(grant), "rev": revision},
        proof="rev_id",
    )


def _noted(before: str, after: State, attempt: int, note: Note, moment: Moment) -> dict[str, str | int]:
    return _change(before, after, FORWARD, attempt, moment, by=note.by, reason=_text(note.reason))


def _change(before: str, after: State, lane: Lane, attempt: int, moment: Moment, **more: str) -> dict[str, str | int]:
    return {
        "w": moment.write_id,
        "from": before,
        "to": after.value,
        "direction": lane.direction.value,
        "attempt": attempt,
        **{name: value for name, value in more.items() if value},
    }


def _write(
    key: StepKey,
    columns: Mapping[str, Cell],
    expect: Mapping[str, Cell] | None,
    epoch: int,
    part: int,
    change: Mapping[str, str | int],
) -> Write:
    proof = transition_column(epoch, part)
    return Write(key.row, {**columns, proof: canonical(dict(change))}, expect, proof)


def _text(text: str) -> str:
    return text[:_ERROR_CHARACTERS].encode("utf-8", "replace").decode()
