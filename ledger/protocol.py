"""The protocol: a row as read and what is wanted of it -> what to do. Pure; docs/ledger.md is its table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from ledger import writes
from ledger.errors import FingerprintDiffers, LedgerError, OutcomeUncertain, StepClosed
from ledger.model import EffectKind, State
from ledger.records import FORWARD, UNDO, Lane, LaneRecord, StepRecord
from ledger.writes import Grant, Intent, Moment, Write

_VANISHED = "its worker vanished after starting"


class UndoStatus(str, Enum):
    """What became of one step in an unwind."""

    COMPENSATED = "compensated"
    IRREVERSIBLE = "irreversible"
    NOTHING_TO_UNDO = "nothing_to_undo"
    SKIPPED_REPEAT = "skipped_repeat"
    FAILED = "failed"
    UNCERTAIN = "uncertain"
    NOT_REACHED = "not_reached"


@dataclass(frozen=True)
class Take:
    """Send `write`; if it lands, `grant` is ours. `probe_first`: ask the other side before running."""

    write: Write
    grant: Grant
    probe_first: bool = False


@dataclass(frozen=True)
class Replay:
    """The half is done; `record` has its result."""

    record: StepRecord


@dataclass(frozen=True)
class Wait:
    """A live worker holds the claim until `until_ms` of its clock."""

    until_ms: int


@dataclass(frozen=True)
class Park:
    """Send `write` to record an unknown outcome, then raise `error`."""

    write: Write
    error: LedgerError


@dataclass(frozen=True)
class Close:
    """Undo without running anything: send `write` (None: nothing to send) and report `status`."""

    write: Write | None
    status: UndoStatus


@dataclass(frozen=True)
class Refuse:
    """Raise `error`; nothing is written."""

    error: LedgerError


Decision = Take | Replay | Wait | Park | Close | Refuse


def decide(record: StepRecord | None, intent: Intent, moment: Moment, skew_ms: int) -> Decision:
    """Return what to do for `intent` on the row as read (None: no row).

    `skew_ms` bounds how far two workers' clocks may be apart. Safety never rests on it for keyed effects.
    """
    if intent.lane is FORWARD:
        return _decide_forward(record, intent, moment, skew_ms)
    return _decide_undo(record, intent, moment, skew_ms)


def gone(record: StepRecord, kind: EffectKind, moment: Moment, skew_ms: int, *, recorded: EffectKind) -> bool:
    """Tell whether the claim's owner may be taken for vanished.

    Two ways: its deadline has passed, or it was watched unchanged for a whole lease on the watcher's own monotonic
    clock. Where a too early take-over could do harm (the effect is not keyed), the deadline counts only once it is
    past by more than the greatest clock skew.
    """
    if record.lease_ms > 0 and moment.quiet_ms >= record.lease_ms:
        return True
    margin = 0 if kind.keyed and recorded.keyed else skew_ms
    return moment.now_ms >= record.lease_until_ms + margin


def _decide_forward(record: StepRecord | None, intent: Intent, moment: Moment, skew_ms: int) -> Decision:
    if record is None:
        return Take(*writes.first_claim(intent, moment))
    if record.fingerprint and record.fingerprint != intent.fingerprint:
        return Refuse(FingerprintDiffers(intent.key.step, record.fingerprint, intent.fingerprint))
    if record.state in _FORWARD_STATES:
        return _resume(record, record.forward, intent, moment, skew_ms)
    return Refuse(StepClosed(intent.key.step, record.state.value))


_FORWARD_STATES = frozenset({State.CLAIMED, State.DONE, State.FAILED, State.UNCERTAIN})
_UNDO_STATES = frozenset(
    {State.COMPENSATING, State.COMPENSATED, State.COMPENSATION_FAILED, State.COMPENSATION_UNCERTAIN}
)


def _resume(record: StepRecord, half: LaneRecord, intent: Intent, moment: Moment, skew_ms: int) -> Decision:
    lane = intent.lane
    if record.state is lane.done:
        return Replay(record)
    if record.state is lane.claimed and not gone(record, intent.kind, moment, skew_ms, recorded=half.kind):
        return Wait(record.lease_until_ms)
    if record.state is lane.failed and not half.doubt:
        return Take(*writes.next_claim(record, intent, moment, doubt=False))
    return _after_doubt(record, half, intent, moment)


def _after_doubt(record: StepRecord, half: LaneRecord, intent: Intent, moment: Moment) -> Decision:
    """An earlier attempt may have taken effect: what happens now depends on how the effect is declared."""
    if intent.kind is EffectKind.PROBED:
        return Take(*writes.next_claim(record, intent, moment, doubt=True), probe_first=True)
    if intent.kind.keyed and half.kind.keyed:
        return Take(*writes.next_claim(record, intent, moment, doubt=True))
    return _uncertain(record, half, intent.lane, moment)


def _uncertain(record: StepRecord, half: LaneRecord, lane: Lane, moment: Moment) -> Decision:
    reason = half.error or _VANISHED
    error = OutcomeUncertain(record.key.step, record.key.side_effect_id(lane.direction), reason)
    if record.state is lane.uncertain:
        return Refuse(error)
    return Park(writes.park(record, lane, reason, moment), error)


def _decide_undo(record: StepRecord | None, intent: Intent, moment: Moment, skew_ms: int) -> Decision:
    if record is None:
        return Close(writes.tombstone(intent.key, None, moment), UndoStatus.NOTHING_TO_UNDO)
    if record.state in _UNDO_STATES:
        return _resume(record, record.undo or _untouched(record), _undo_intent(record, intent), moment, skew_ms)
    if record.state in (State.TOMBSTONE, State.CARRIED):
        return Close(None, UndoStatus.SKIPPED_REPEAT)
    if record.state is State.IRREVERSIBLE:
        return Close(None, UndoStatus.IRREVERSIBLE)
    if record.state is State.DONE:
        return _undo_of_done(record, intent, moment)
    return _undo_of_unfinished(record, intent, moment, skew_ms)


def _undo_of_done(record: StepRecord, intent: Intent, moment: Moment) -> Decision:
    if record.compensation is None:
        return Close(None, UndoStatus.NOTHING_TO_UNDO)
    return _start_undo(record, intent, moment)


def _undo_of_unfinished(record: StepRecord, intent: Intent, moment: Moment, skew_ms: int) -> Decision:
    """Undo a step that is claimed, failed or uncertain. One that may be in flight unseen is never undone blindly."""
    half = record.forward
    if record.state is State.CLAIMED and not gone(record, half.kind, moment, skew_ms, recorded=half.kind):
        return Wait(record.lease_until_ms)
    if record.state is State.FAILED and not half.doubt:
        return Close(writes.tombstone(record.key, record, moment), UndoStatus.NOTHING_TO_UNDO)
    if not half.kind.keyed:
        return _uncertain(record, half, FORWARD, moment)
    if record.compensation is None:
        return Close(writes.tombstone(record.key, record, moment), UndoStatus.NOTHING_TO_UNDO)
    return _start_undo(record, intent, moment)


def _start_undo(record: StepRecord, intent: Intent, moment: Moment) -> Decision:
    if record.compensation is not None and not record.compensation.reversible:
        return Close(writes.irreversible(record, moment), UndoStatus.IRREVERSIBLE)
    return Take(*writes.next_claim(record, _undo_intent(record, intent), moment, doubt=False))


def _undo_intent(record: StepRecord, intent: Intent) -> Intent:
    """The compensation's kind is the recorded one, not the caller's."""
    return intent if record.compensation is None else replace(intent, kind=record.compensation.kind)


def _untouched(record: StepRecord) -> LaneRecord:
    return replace(record.forward, attempt=0, result=None, result_ref=None)


def undo_order(records: list[StepRecord]) -> list[StepRecord]:
    """Sort into the order of undoing: the reverse of completion, by the store's own clock.

    A step without a result comes first (it is the newest: nothing ran after it in a sequence), the latest claim
    before the earlier ones. Ties of the store's millisecond are broken by the first claim, then by the worker's time
    (assumption L06).
    """
    return sorted(records, key=_completion, reverse=True)


def _completion(record: StepRecord) -> tuple[bool, int, int, int, str]:
    half = record.forward
    finished = half.finished_at if half.completed else 0
    return (not half.completed, finished, half.started_at, half.finished_ms or half.started_ms, record.key.step)


__all__ = [
    "UNDO",
    "Close",
    "Decision",
    "Park",
    "Refuse",
    "Replay",
    "Take",
    "UndoStatus",
    "Wait",
    "decide",
    "gone",
    "undo_order",
]
