"""The shared breaker: closed, open, one probe, closed again; two processes see the same state; storms die down."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import pytest
from rows_kit import Rows

from functions.errors import TemporaryUpstreamError
from functions.upstream import Breaker, BreakerPolicy, BreakerState, Budget, LoadFeedback, Policy, Upstream
from ledger import Ledger
from scripts.bench.storm import simulate

ROOT = Path(__file__).resolve().parents[2]
POLICY = BreakerPolicy(failures=3, share=0.5, window=60, pause=20, longest_pause=100, probe=30, fresh=3)


class World:
    def __init__(self) -> None:
        self.now_ms = 1_700_000_000_000
        self.rows = Rows()

    def breaker(self, policy: BreakerPolicy = POLICY) -> Breaker:
        return Breaker("model", self.rows, lambda: self.now_ms, policy)

    def wait(self, seconds: float) -> None:
        self.now_ms += round(seconds * 1000)


def allowed(breaker: Breaker) -> bool:
    try:
        breaker.allow()
    except TemporaryUpstreamError:
        return False
    return True


def fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        breaker.failed()


@pytest.fixture
def world() -> World:
    return World()


def test_it_opens_after_enough_failures_and_says_for_how_long(world: World) -> None:
    breaker = world.breaker()
    fail(breaker, 2)
    assert breaker.state is BreakerState.CLOSED
    fail(breaker, 1)
    assert breaker.state is BreakerState.OPEN
    world.wait(5)
    with pytest.raises(TemporaryUpstreamError, match=r"its breaker is open for 15 s more") as caught:
        breaker.allow()
    assert (caught.value.retry_after, caught.value.effect_applied) == (15, False)


def test_failures_among_many_successes_or_long_ago_do_not_open_it(world: World) -> None:
    breaker = world.breaker()
    for _ in range(5):
        breaker.succeeded()
    fail(breaker, 4)
    assert breaker.state is BreakerState.CLOSED
    world.wait(61)
    fail(breaker, 2)
    assert breaker.state is BreakerState.CLOSED


def test_what_one_instance_opened_is_open_for_the_others_within_seconds(world: World) -> None:
    one, other = world.breaker(), world.breaker()
    assert allowed(other)
    fail(one, 3)
    assert allowed(other)
    world.wait(3)
    assert not allowed(other)


def test_after_the_pause_exactly_one_probe_goes_through(world: World) -> None:
    breakers = [world.breaker() for _ in range(20)]
    fail(breakers[0], 3)
    world.wait(20)
    through = [breaker for breaker in breakers if allowed(breaker)]
    assert len(through) == 1
    assert breakers[5].state is BreakerState.HALF_OPEN
    through[0].succeeded()
    world.wait(3)
    assert all(allowed(breaker) for breaker in breakers)


def test_one_probe_also_when_threads_race_for_it(world: World) -> None:
    breakers = [world.breaker() for _ in range(16)]
    fail(breakers[0], 3)
    world.wait(20)
    start, through = threading.Barrier(16), list[Breaker]()

    def race(breaker: Breaker) -> None:
        start.wait()
        if allowed(breaker):
            through.append(breaker)

    threads = [threading.Thread(target=race, args=(breaker,)) for breaker in breakers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(through) == 1


def test_a_failed_probe_doubles_the_pause_up_to_the_longest(world: World) -> None:
    breaker = world.breaker()
    fail(breaker, 3)
    pauses = []
    for _ in range(5):
        with pytest.raises(TemporaryUpstreamError) as caught:
            breaker.allow()
        pauses.append(caught.value.retry_after)
        world.wait(float(caught.value.retry_after or 0))
        breaker.allow()
        breaker.failed()
    assert pauses == [20, 40, 80, 100, 100]


def test_a_probe_that_never_ends_is_followed_by_another(world: World) -> None:
    one, other = world.breaker(), world.breaker()
    fail(one, 3)
    world.wait(20)
    assert allowed(one)
    world.wait(29)
    assert not allowed(other)
    world.wait(1)
    assert allowed(other)


def test_a_store_that_is_away_lets_calls_through_but_each_instance_still_protects_itself(world: World) -> None:
    breaker = world.breaker()
    world.rows.away = True
    assert allowed(breaker)
    fail(breaker, 3)
    assert not allowed(breaker)
    world.wait(20)
    assert allowed(breaker)


def test_the_state_is_read_every_few_seconds_only(world: World) -> None:
    breaker = world.breaker()
    for _ in range(100):
        breaker.allow()
    world.wait(2.9)
    breaker.allow()
    assert world.rows.reads == 1
    world.wait(0.1)
    breaker.allow()
    assert world.rows.reads == 2


def test_every_change_is_kept_with_its_reason(cloud: pytest.MonkeyPatch) -> None:
    now = [1_700_000_000_000]
    name = "b" + uuid.uuid4().hex[:8]
    entries = Ledger.open().entries
    breaker = Breaker(name, entries, lambda: now[0], POLICY)
    fail(breaker, 3)
    now[0] += 20_000
    breaker.allow()
    breaker.succeeded()
    (found,) = entries.under("breaker", f"breaker/{name}/")
    assert [mark.note["why"] for mark in found.trail if isinstance(mark.note, dict)] == [
        "too many failures", "probing", "the probe succeeded",
    ]  # fmt: skip


OTHER_PROCESS = """
import sys
from functions.errors import TemporaryUpstreamError
from functions.upstream import Breaker, BreakerPolicy
from ledger import Ledger
breaker = Breaker(sys.argv[1], Ledger.open().entries, lambda: int(sys.argv[2]), BreakerPolicy(failures=3, pause=20))
if sys.argv[3] == "fail":
    for _ in range(3):
        breaker.failed()
try:
    breaker.allow()
    print("through")
except TemporaryUpstreamError as error:
    print(breaker.state.value, error.retry_after)
"""


def test_two_processes_share_the_state_and_one_probe(cloud: pytest.MonkeyPatch) -> None:
    name = "b" + uuid.uuid4().hex[:8]

    def other(at_ms: int, what: str) -> str:
        command = [sys.executable, "-c", OTHER_PROCESS, name, str(at_ms), what]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    now = 1_700_000_000_000
    assert other(now, "fail") == "open 20.0"
    assert other(now + 1_000, "ask") == "open 19.0"
    mine = Breaker(name, Ledger.open().entries, lambda: now + 20_000, BreakerPolicy(failures=3, pause=20))
    mine.allow()
    assert other(now + 20_001, "ask").startswith("half_open")
    mine.succeeded()
    assert other(now + 20_002, "ask") == "through"


def test_load_feedback_holds_back_what_would_be_refused() -> None:
    now, chance = [0.0], random.Random(3)
    feedback = LoadFeedback(clock=lambda: now[0], draw=chance.random, window_seconds=60)
    for _ in range(50):
        assert feedback.allows()
        feedback.accepted()
    assert feedback.refusal == 0
    for _ in range(500):
        feedback.allows()
    assert 0.7 < feedback.refusal < 0.9  # (550 - 2 * 50 - 5) / 551
    now[0] += 61
    assert feedback.refusal == 0


def test_feedback_and_jitter_end_a_retry_storm_that_would_not_end_by_itself() -> None:
    plain, gentle = simulate(feedback=False), simulate(feedback=True)
    usual = sum(gentle[:10]) / 10
    assert sum(plain[90:]) / 30 > 3 * usual
    assert sum(gentle[90:]) / 30 < 1.2 * usual
    assert max(gentle) < 0.75 * max(plain)


def test_an_upstream_with_a_breaker_stops_asking(world: World) -> None:
    asked = 0

    def ask(timeout: float) -> str:
        nonlocal asked
        asked += 1
        raise TemporaryUpstreamError("down", upstream="model", effect_applied=False)

    side = Upstream("model", Policy(attempts=1), breaker=world.breaker(), chance=random.Random(5))
    for _ in range(10):
        with pytest.raises(TemporaryUpstreamError):
            side.call(ask, Budget.of_seconds(60))
    assert asked == 3
