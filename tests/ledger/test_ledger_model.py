"""A stateful model: workers with skewed clocks claim, renew, finish and undo one step in any order hypothesis finds."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule
from ledger_kit import WV, DirectWire, TurnableClock, ledger_over

from ledger import ClaimLost, Compensation, EffectKind, Ledger, NotUncertain, OutcomeUncertain, StepBusy, StepClosed
from ledger import writes as build
from ledger.claims import Granted
from ledger.keys import step_key
from ledger.lease import HeldClaim
from ledger.protocol import Close, Replay
from ledger.records import FORWARD, UNDO, Lane, decode_step
from ledger.writes import Intent

_tasks = itertools.count()
LEASE_MS = 30_000
SKEWS = (0, 3_600_000, -3_600_000)


class LedgerModel(RuleBasedStateMachine):
    """The reference: state, owner, epoch and result as plain variables; the ledger must agree after every rule."""

    wire: DirectWire
    kind = EffectKind.IDEMPOTENT
    claims = Bundle("claims")

    @initialize()
    def start(self) -> None:
        self.clock = TurnableClock()
        self.workers = [self._worker(skew) for skew in SKEWS]
        self.key = step_key(f"model-{next(_tasks)}", WV, "A")
        self.state = ""
        self.epoch = 0
        self.owner: HeldClaim | None = None
        self.until_ms = 0  # on the owner's skewed wall clock
        self.doubt = False
        self.result: Any = None
        self.results = itertools.count()

    def _worker(self, skew: int) -> Ledger:
        ledger = ledger_over(self.wire, self.clock.skewed(skew), busy_wait_seconds=0)
        ledger._checked = True
        return ledger

    def _intent(self, lane: Lane) -> Intent:
        return Intent(self.key, lane, self.kind, LEASE_MS, "f", Compensation("undo", kind=self.kind))

    def _expired(self, worker: int) -> bool:
        margin = 0 if self.kind.keyed else 3_600_000
        return self._now(worker) >= self.until_ms + margin

    def _now(self, worker: int) -> int:
        return self.workers[worker]._clock.now_ms()

    @rule(target=claims, worker=st.integers(0, 2))
    def claim(self, worker: int) -> Any:
        """Claim the step: granted exactly when the model says so."""
        expect = self._expected_claim(worker)
        got = self._acquire(worker, FORWARD)
        assert got == expect or (expect == "granted" and isinstance(got, HeldClaim)), (got, expect)
        return got if isinstance(got, HeldClaim) else multiple()

    def _expected_claim(self, worker: int) -> str:
        if self.state in ("", "failed"):
            return "uncertain" if self._parks() else "granted"
        if self.state == "claimed":
            if not self._expired(worker):
                return "busy"
            return "uncertain" if self._parks() else "granted"
        asked = self.kind is EffectKind.PROBED
        return {"done": "replay", "uncertain": "granted" if asked else "uncertain"}.get(self.state, "closed")

    def _parks(self) -> bool:
        return not self.kind.keyed and self.kind is not EffectKind.PROBED and (self.state == "claimed" or self.doubt)

    def _acquire(self, worker: int, lane: Lane) -> Any:
        ledger = self.workers[worker]
        try:
            record = self._row() if lane is UNDO else None
            got = ledger._claims.acquire(self._intent(lane), record)
        except StepBusy:
            return "busy"
        except StepClosed:
            return "closed"
        except OutcomeUncertain:
            if self.state != "uncertain" and self.state != "compensation_uncertain":
                self.epoch += 1
                self.state = "uncertain" if self.state in ("claimed", "failed") else "compensation_uncertain"
                self.doubt = True
            return "uncertain"
        if isinstance(got, Replay):
            return "replay"
        if isinstance(got, Close):
            return got.status.value
        return self._granted(got, worker, lane)

    def _granted(self, got: Granted, worker: int, lane: Lane) -> HeldClaim:
        if lane is FORWARD:
            # A probe is asked exactly when an earlier attempt may have taken effect.
            unknown = self.doubt or self.state in ("claimed", "uncertain")
            assert got.probe_first == (self.kind is EffectKind.PROBED and unknown)
        self.doubt = self.doubt or self.state in ("claimed", "uncertain")
        self.state, self.owner = lane.claimed.value, got.claim
        self.epoch += 1
        self.until_ms = self._now(worker) + LEASE_MS
        assert got.claim.grant.epoch == self.epoch
        return got.claim

    @rule(claim=consumes(claims), how=st.sampled_from(["complete", "fail", "certain"]))
    def finish(self, claim: HeldClaim, how: str) -> None:
        """Finish a claim: accepted exactly from its owner."""
        mine = claim is self.owner and self.state == claim.grant.lane.claimed.value
        value = next(self.results)
        try:
            self._finish(claim, how, value)
        except ClaimLost:
            assert not mine
            return
        assert mine
        self.owner = None
        lane = claim.grant.lane
        if how == "complete":
            self.state = lane.done.value
            self.result = value if lane is FORWARD else self.result
        else:
            self.doubt = self.doubt or how == "fail"
            uncertain = how == "fail" and not self.kind.keyed
            self.state = (lane.uncertain if uncertain else lane.failed).value

    def _finish(self, claim: HeldClaim, how: str, value: int) -> None:
        grant = claim.grant
        if how == "complete":
            claim.finish(lambda moment: build.complete(grant, {"result": str(value)}, moment))
            return
        certain = how == "certain"
        to = grant.lane.failed if certain or self.kind.keyed else grant.lane.uncertain
        doubt = grant.doubt or not certain
        claim.finish(lambda moment: build.give_up(grant, ValueError("x"), moment, to=to, doubt=doubt))

    @rule(worker=st.integers(0, 2), applied=st.booleans(), back=st.booleans())
    def settle(self, worker: int, applied: bool, back: bool) -> None:
        """A person says what happened: heard exactly when nobody knows it and no worker may still be at it."""
        lane = UNDO if back else FORWARD
        expect = self._expected_settling(worker, lane)
        value = next(self.results)
        key = self.key
        arguments = (key.task_id, key.workflow_version, key.step)
        said: dict[str, Any] = {"applied": applied, "result": value, "by": "li", "reason": "looked"}
        try:
            self.workers[worker].resolve(*arguments, **said, direction=lane.direction)
        except NotUncertain:
            assert expect == "refused"
            return
        except StepBusy:
            assert expect == "busy"
            return
        assert expect == "heard"
        self.epoch += 1
        self.owner, self.doubt = None, False
        self.state = (lane.done if applied else lane.failed).value
        if applied and lane is FORWARD:
            self.result = value

    def _expected_settling(self, worker: int, lane: Lane) -> str:
        if self.state == lane.claimed.value:
            return "heard" if self._expired(worker) else "busy"
        return "heard" if self.state == lane.uncertain.value else "refused"

    @rule(claim=claims)
    def renew(self, claim: HeldClaim) -> None:
        """Renew a lease: accepted exactly from the owner; it never shortens what others see."""
        if claim._finished:
            return
        mine = claim is self.owner and self.state == claim.grant.lane.claimed.value
        try:
            claim.renew()
        except ClaimLost:
            assert not mine
        else:
            assert mine
            row = self._row()
            assert row is not None
            self.until_ms = row.lease_until_ms

    @rule(seconds=st.sampled_from([1, 29, 31, 3_601, 7_300]))
    def pass_time(self, seconds: int) -> None:
        """Let time pass for everybody."""
        self.clock.sleep(seconds)

    @rule(target=claims, worker=st.integers(0, 2))
    def undo(self, worker: int) -> Any:
        """Claim the undoing."""
        expect = self._expected_undo(worker)
        before = self.state
        got = self._acquire(worker, UNDO)
        if expect == "granted":
            assert isinstance(got, HeldClaim), got
            self.doubt = before == "compensating"
            return got
        assert got == expect, (got, expect)
        if got == "nothing_to_undo":
            self.state = "tombstone"
            self.epoch += 1
        return multiple()

    def _expected_undo(self, worker: int) -> str:
        simple = {"": "nothing_to_undo", "tombstone": "skipped_repeat", "compensated": "replay", "done": "granted"}
        if self.state in simple:
            return simple[self.state]
        if self.state == "failed" and not self.doubt:
            return "nothing_to_undo"
        if self.state in ("claimed", "compensating") and not self._expired(worker):
            return "busy"
        if self.state == "compensation_failed" and not self.doubt:
            return "granted"
        if self.state in ("compensating", "compensation_failed", "compensation_uncertain"):
            return "granted" if self.kind.keyed or self.kind is EffectKind.PROBED else "uncertain"
        return "granted" if self.kind.keyed else "uncertain"

    def _row(self) -> Any:
        stored = self.workers[0]._store.read(self.key.row)
        return None if stored is None else decode_step(stored)

    @invariant()
    def the_row_agrees(self) -> None:
        """The row is what the model says, and the result never changes once it is there."""
        row = self._row()
        if self.state == "":
            assert row is None
            return
        assert (row.state.value, row.epoch) == (self.state, self.epoch)
        if self.result is not None:
            assert row.forward.result == str(self.result)


class UndeclaredModel(LedgerModel):
    """The same with effects nobody may run again blindly."""

    kind = EffectKind.UNDECLARED


class ProbedModel(LedgerModel):
    """The same with effects that the other side can be asked about."""

    kind = EffectKind.PROBED


@pytest.mark.parametrize("machine", [LedgerModel, UndeclaredModel, ProbedModel])
def test_the_ledger_agrees_with_its_model(store_app: Any, machine: type[LedgerModel]) -> None:
    bound = type(machine.__name__, (machine,), {"wire": DirectWire(store_app)})
    case = bound.TestCase  # type: ignore[attr-defined]
    case.settings = hypothesis_settings(max_examples=25, stateful_step_count=25, deadline=None)
    case("runTest").debug()


def test_a_claim_of_another_epoch_is_another_claim() -> None:
    """The model's own premise: two grants differ by token and epoch."""
    key = step_key("t", WV, "A")
    one = build.Grant(key, FORWARD, "a", 1, 1, EffectKind.LOCAL, LEASE_MS, False)
    assert build.owned(one) != build.owned(replace(one, epoch=2))
    assert build.owned(one) != build.owned(replace(one, token="b"))
