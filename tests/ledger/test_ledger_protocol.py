"""The protocol as a pure table: a row and an intent give a decision."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ledger import Compensation, EffectKind, FingerprintDiffers, OutcomeUncertain, State, StepClosed
from ledger.keys import StepKey
from ledger.protocol import Close, Decision, Park, Refuse, Replay, Take, UndoStatus, Wait, decide, undo_order
from ledger.records import FORWARD, UNDO, LaneRecord, StepRecord
from ledger.writes import Intent, Moment

KEY = StepKey("t", "v", "A")
SKEW = 3_600_000
LEASE = 30_000
NOW = 1_000_000_000


def half(kind: EffectKind = EffectKind.IDEMPOTENT, **more: object) -> LaneRecord:
    blank = LaneRecord(1, kind, False, NOW, None, None, None, "", "", NOW, 0)
    return replace(blank, **more)  # type: ignore[arg-type]


def row(state: State, forward: LaneRecord | None = None, **more: object) -> StepRecord:
    blank = StepRecord(KEY, state, "old", 3, 0, "f", LEASE, NOW + LEASE, None, forward or half(), None)
    return replace(blank, **more)  # type: ignore[arg-type]


def want(kind: EffectKind = EffectKind.IDEMPOTENT, fingerprint: str = "f") -> Intent:
    return Intent(KEY, FORWARD, kind, LEASE, fingerprint)


def undo() -> Intent:
    return Intent(KEY, UNDO, EffectKind.IDEMPOTENT, LEASE)


def at(now_ms: int = NOW, quiet_ms: int = 0) -> Moment:
    return Moment(now_ms, "mine", "w", quiet_ms)


def choose(record: StepRecord | None, intent: Intent, moment: Moment | None = None) -> Decision:
    return decide(record, intent, moment or at(), SKEW)


def test_no_row_is_claimed_by_a_put_that_expects_none() -> None:
    decision = choose(None, want())
    assert isinstance(decision, Take)
    assert decision.write.expect is None
    assert (decision.grant.epoch, decision.grant.attempt, decision.probe_first) == (1, 1, False)


def test_a_done_row_replays() -> None:
    assert isinstance(choose(row(State.DONE, half(result="1")), want()), Replay)


def test_another_fingerprint_is_refused_in_every_state() -> None:
    for state in State:
        decision = choose(row(state), want(fingerprint="other"))
        assert isinstance(decision, Refuse)
        assert isinstance(decision.error, FingerprintDiffers)


def test_a_claim_condition_names_state_token_epoch_and_revision() -> None:
    decision = choose(row(State.FAILED, revision=4), want())
    assert isinstance(decision, Take)
    assert decision.write.expect == {"state": "failed", "token": "old", "epoch": 3, "rev": 4}
    assert decision.grant.epoch == 4


@pytest.mark.parametrize(("offset", "expected"), [(-1, Wait), (0, Take), (1, Take)])
def test_c26_the_deadline_itself_is_expired_in_milliseconds(offset: int, expected: type) -> None:
    assert isinstance(choose(row(State.CLAIMED), want(), at(NOW + LEASE + offset)), expected)


def test_c26_a_clock_two_seconds_behind_waits_two_seconds_longer() -> None:
    assert isinstance(choose(row(State.CLAIMED), want(), at(NOW + LEASE - 2000)), Wait)


@pytest.mark.parametrize("kind", [EffectKind.PROBED, EffectKind.UNDECLARED])
def test_effects_without_a_key_are_taken_over_only_past_the_greatest_skew(kind: EffectKind) -> None:
    record = row(State.CLAIMED, half(kind))
    assert isinstance(choose(record, want(kind), at(NOW + LEASE + SKEW - 1)), Wait)
    assert not isinstance(choose(record, want(kind), at(NOW + LEASE + SKEW)), Wait)


@pytest.mark.parametrize("kind", list(EffectKind))
def test_a_claim_watched_unchanged_for_a_whole_lease_is_gone_whatever_the_clocks_say(kind: EffectKind) -> None:
    record = row(State.CLAIMED, half(kind))
    assert isinstance(choose(record, want(kind), at(NOW - SKEW, quiet_ms=LEASE - 1)), Wait)
    assert not isinstance(choose(record, want(kind), at(NOW - SKEW, quiet_ms=LEASE)), Wait)


AFTER = [
    # recorded kind, kind of the new call, what happens after an attempt that may have taken effect
    (EffectKind.IDEMPOTENT, EffectKind.IDEMPOTENT, "run"),
    (EffectKind.LOCAL, EffectKind.LOCAL, "run"),
    (EffectKind.IDEMPOTENT, EffectKind.PROBED, "probe"),
    (EffectKind.PROBED, EffectKind.PROBED, "probe"),
    (EffectKind.UNDECLARED, EffectKind.PROBED, "probe"),
    (EffectKind.UNDECLARED, EffectKind.UNDECLARED, "uncertain"),
    (EffectKind.UNDECLARED, EffectKind.IDEMPOTENT, "uncertain"),
    (EffectKind.PROBED, EffectKind.IDEMPOTENT, "uncertain"),
    (EffectKind.IDEMPOTENT, EffectKind.UNDECLARED, "uncertain"),
]


@pytest.mark.parametrize(("recorded", "given", "expected"), AFTER)
@pytest.mark.parametrize("state", [State.CLAIMED, State.FAILED, State.UNCERTAIN])
def test_after_doubt_the_declared_kinds_decide(
    recorded: EffectKind, given: EffectKind, expected: str, state: State
) -> None:
    decision = choose(row(state, half(recorded, doubt=True)), want(given), at(NOW + LEASE + SKEW))
    if expected == "uncertain":
        assert isinstance(decision, Refuse if state is State.UNCERTAIN else Park)
        assert isinstance(decision.error, OutcomeUncertain)
        assert decision.error.key == KEY.side_effect_id()
    else:
        assert isinstance(decision, Take)
        assert decision.probe_first is (expected == "probe")
        assert decision.grant.doubt is True


@pytest.mark.parametrize("kind", list(EffectKind))
def test_a_certain_failure_runs_again_whatever_the_kind(kind: EffectKind) -> None:
    decision = choose(row(State.FAILED, half(kind)), want(kind))
    assert isinstance(decision, Take)
    assert (decision.probe_first, decision.grant.attempt, decision.grant.doubt) == (False, 2, False)


CLOSED = [
    State.COMPENSATING,
    State.COMPENSATED,
    State.COMPENSATION_FAILED,
    State.COMPENSATION_UNCERTAIN,
    State.IRREVERSIBLE,
    State.TOMBSTONE,
]


@pytest.mark.parametrize("state", CLOSED)
def test_a_step_that_was_undone_is_closed(state: State) -> None:
    decision = choose(row(state, half(result="1")), want())
    assert isinstance(decision, Refuse)
    assert isinstance(decision.error, StepClosed)
    assert decision.error.state == state.value


DOABLE = Compensation("undo", {"a": 1})
FINAL = Compensation("mail", {"to": "x"}, reversible=False)

UNDO_TABLE = [
    (None, UndoStatus.NOTHING_TO_UNDO, True),
    (row(State.DONE, half(result="1")), UndoStatus.NOTHING_TO_UNDO, False),
    (row(State.DONE, half(result="1"), compensation=FINAL), UndoStatus.IRREVERSIBLE, True),
    (row(State.FAILED, compensation=DOABLE), UndoStatus.NOTHING_TO_UNDO, True),
    (row(State.FAILED, half(doubt=True)), UndoStatus.NOTHING_TO_UNDO, True),
    (row(State.FAILED, half(doubt=True), compensation=FINAL), UndoStatus.IRREVERSIBLE, True),
    (row(State.TOMBSTONE), UndoStatus.SKIPPED_REPEAT, False),
    (row(State.IRREVERSIBLE, compensation=FINAL), UndoStatus.IRREVERSIBLE, False),
]


@pytest.mark.parametrize(("record", "status", "writes"), UNDO_TABLE)
def test_undoing_without_an_action(record: StepRecord | None, status: UndoStatus, writes: bool) -> None:
    decision = choose(record, undo())
    assert isinstance(decision, Close)
    assert decision.status is status
    assert (decision.write is not None) is writes


@pytest.mark.parametrize(
    "record",
    [
        row(State.DONE, half(result="1"), compensation=DOABLE),
        row(State.FAILED, half(doubt=True), compensation=DOABLE),
        row(State.COMPENSATION_FAILED, undo=half(), compensation=DOABLE),
        row(State.CLAIMED, lease_until_ms=NOW, compensation=DOABLE),
    ],
)
def test_undoing_takes_the_claim_of_the_undo_half(record: StepRecord) -> None:
    decision = choose(record, undo())
    assert isinstance(decision, Take)
    assert decision.write.columns["state"] == "compensating"
    assert decision.grant.epoch == record.epoch + 1


def test_a_compensated_step_is_a_repeat() -> None:
    assert isinstance(choose(row(State.COMPENSATED, undo=half(result="null")), undo()), Replay)


def test_a_live_step_is_not_undone() -> None:
    assert isinstance(choose(row(State.CLAIMED, compensation=DOABLE), undo()), Wait)


@pytest.mark.parametrize("kind", [EffectKind.PROBED, EffectKind.UNDECLARED])
def test_an_uncertain_step_is_never_undone(kind: EffectKind) -> None:
    uncertain = choose(row(State.UNCERTAIN, half(kind, doubt=True), compensation=DOABLE), undo())
    vanished = choose(row(State.CLAIMED, half(kind), compensation=DOABLE), undo(), at(quiet_ms=LEASE))
    assert isinstance(uncertain, Refuse)
    assert isinstance(vanished, Park)
    assert vanished.write.columns["state"] == "uncertain"


def test_the_recorded_compensation_survives_a_second_claim() -> None:
    record = row(State.FAILED, half(doubt=True), compensation=DOABLE)
    decision = choose(record, replace(want(), compensation=Compensation("other")))
    assert isinstance(decision, Take)
    assert "comp" not in decision.write.columns


def test_undo_order_is_the_stores_and_not_the_workers() -> None:
    first = row(State.DONE, half(result="1", finished_at=10, finished_ms=NOW + SKEW))
    second = row(State.DONE, half(result="1", finished_at=20, finished_ms=NOW - SKEW))
    open_ended = row(State.FAILED, half(doubt=True, finished_at=5))
    assert undo_order([first, open_ended, second]) == [open_ended, second, first]


def test_undo_order_breaks_a_tie_by_the_first_claim() -> None:
    first = row(State.DONE, half(result="1", finished_at=10, started_at=9))
    second = row(State.DONE, half(result="1", finished_at=10, started_at=10))
    assert undo_order([first, second]) == [second, first]
