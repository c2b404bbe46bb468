"""Leases on real time: long effects are renewed, short ones cost nothing, a lost claim is noticed."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from ledger_kit import WV, DirectWire, Faults, TurnableClock, ledger_over

from ledger import ClaimLost, EffectKind, RealClock, StepBusy, StepContext, StepRequest
from ledger.keys import step_key
from ledger.lease import HeldClaim, LeaseKeeper, process_keeper
from ledger.records import FORWARD
from ledger.writes import Grant, Moment, renew


def request(task: str) -> StepRequest:
    return StepRequest(task, WV, "A", 1, kind=EffectKind.IDEMPOTENT)


def test_a_long_effect_keeps_its_claim(wire: DirectWire, task: str) -> None:
    ledger = ledger_over(wire, RealClock(), lease_seconds=0.3, store_deadline_seconds=5)
    other = ledger_over(wire, RealClock(), lease_seconds=0.3, busy_wait_seconds=0)
    busy: list[type[BaseException]] = []

    def long_effect(context: StepContext) -> str:
        wire.requests.clear()
        for _ in range(3):
            time.sleep(0.25)
            with pytest.raises(StepBusy) as caught:
                other.run(request(task), lambda context: "stolen")
            busy.append(caught.type)
            context.check()
        return "mine"

    assert ledger.run(request(task), long_effect).value == "mine"
    assert busy == [StepBusy] * 3
    assert wire.requests.count("UpdateRow") >= 4
    settled = len(wire.requests)
    time.sleep(0.3)
    assert len(wire.requests) == settled


def test_a_short_effect_is_never_renewed(wire: DirectWire, task: str) -> None:
    ledger = ledger_over(wire, RealClock(), lease_seconds=1)
    ledger.rows(task)
    wire.requests.clear()
    ledger.run(request(task), lambda context: 1)
    time.sleep(0.5)
    assert wire.requests == ["PutRow", "UpdateRow"]


def _lease_threads() -> int:
    return sum(thread.name == "ledger-leases" for thread in threading.enumerate())


def test_many_ledgers_share_one_watching_thread_which_ends_when_idle(wire: DirectWire, task: str) -> None:
    for number in range(20):
        ledger = ledger_over(wire, RealClock(), lease_seconds=0.3)
        ledger.run(StepRequest(f"{task}-{number}", WV, "A", 1, kind=EffectKind.LOCAL), lambda context: 1)
    assert _lease_threads() <= 1
    keeper = process_keeper()
    with keeper._changed:
        keeper._due.clear()
        keeper._changed.notify_all()
    deadline = time.monotonic() + 5
    while _lease_threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert _lease_threads() == 0
    assert ledger.run(request(task), lambda context: 2).value == 2


def test_a_machine_without_threads_left_still_runs_steps(
    wire: DirectWire, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    ledger = ledger_over(wire, TurnableClock())
    ledger._runner._keeper = LeaseKeeper()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert ledger.run(request(task), lambda context: 1).value == 1


def test_a_renewal_that_finds_a_newer_owner_stops_and_says_so(wire: DirectWire, task: str) -> None:
    clock = TurnableClock()
    slow = ledger_over(wire, RealClock(), lease_seconds=0.3)
    quick = ledger_over(wire, clock.skewed(4 * 86_400_000 * 400))
    lost = threading.Event()

    def effect(context: StepContext) -> Any:
        quick.run(request(task), lambda context: "owner")
        for _ in range(100):
            time.sleep(0.02)
            try:
                context.check()
            except ClaimLost:
                lost.set()
                raise

    with pytest.raises(ClaimLost):
        slow.run(request(task), effect)
    assert lost.is_set()


def test_a_store_that_is_away_for_a_moment_does_not_end_the_renewals(wire: DirectWire, task: str) -> None:
    hits = {"left": 3}

    def plan(count: int, url: str) -> str | None:
        if threading.current_thread().name == "ledger-renewal" and hits["left"]:
            hits["left"] -= 1
            return "throttle"
        return None

    ledger = ledger_over(Faults(wire, plan), RealClock(), lease_seconds=0.6)

    def effect(context: StepContext) -> str:
        time.sleep(1.0)
        context.check()
        return "mine"

    assert ledger.run(request(task), effect).value == "mine"
    assert hits["left"] == 0


def test_a_claim_that_took_long_to_get_is_renewed_before_the_effect(
    wire: DirectWire, clock: TurnableClock, task: str
) -> None:
    faults = Faults(wire, lambda count, url: "delay" if url == "/PutRow" else None, clock)
    ledger = ledger_over(faults, clock)
    left: list[float] = []
    ledger.run(request(task), lambda context: left.append(context.remaining_seconds))
    assert left == [30.0]
    assert [line.split()[0] for line in faults.log] == ["/GetRow", "/PutRow", "/UpdateRow", "/UpdateRow"]


def test_a_delayed_renewal_cannot_shorten_a_lease(wire: DirectWire, clock: TurnableClock, task: str) -> None:
    ledger = ledger_over(wire, clock)
    store, claims = ledger._store, ledger._claims

    def effect(context: StepContext) -> None:
        claim: HeldClaim = context._claim
        old = renew(claim.grant, 0, claims.moment())
        clock.sleep(10)
        claim.renew()
        assert not store.settle(old).won
        row = store.read(step_key(task, WV, "A").row)
        assert row is not None
        assert row.columns["lease_until_ms"] == clock.now_ms() + 30_000

    ledger.run(request(task), effect)


def test_no_edit_is_sent_after_the_last_write(wire: DirectWire, clock: TurnableClock, task: str) -> None:
    ledger = ledger_over(wire, clock)
    kept: list[HeldClaim] = []
    ledger.run(request(task), lambda context: kept.append(context._claim))
    wire.requests.clear()
    kept[0].renew()
    assert wire.requests == []


def test_remaining_seconds_count_from_before_the_claim_was_sent(wire: DirectWire, clock: TurnableClock) -> None:
    grant = Grant(step_key("t", WV, "A"), FORWARD, "x", 1, 1, EffectKind.LOCAL, 30_000, False)
    since = clock.monotonic()
    claim = HeldClaim(grant, ledger_over(wire, clock)._store, clock, lambda: Moment(0, "", ""), since)
    clock.sleep(12)
    assert claim.remaining_seconds == 18
    clock.sleep(18)
    with pytest.raises(ClaimLost):
        claim.check()
