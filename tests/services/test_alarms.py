"""Alarms and timetables, by a clock that the test moves."""

from __future__ import annotations

import asyncio
import random

import pytest

from local_sim.clock import VirtualClock
from local_sim.services.alarms import Alarms
from local_sim.services.timetable import Timetable


def test_alarms_ring_in_the_order_of_their_times() -> None:
    clock = VirtualClock(0)
    alarms = Alarms(clock.now_ms, real=False)
    rung: list[int] = []
    times = list(range(0, 1000, 7))
    random.Random(5).shuffle(times)
    for at in times:
        alarms.set(at, lambda at=at: rung.append(at))  # type: ignore[misc]
    clock.sleep_until(500)
    alarms.check()
    assert rung == list(range(0, 501, 7))
    clock.sleep_until(1000)
    alarms.check()
    assert rung == list(range(0, 1000, 7))
    assert len(alarms) == 0


def test_a_cancelled_alarm_does_not_ring_and_many_cost_no_memory() -> None:
    clock = VirtualClock(0)
    alarms = Alarms(clock.now_ms, real=False)
    rung: list[str] = []
    for _ in range(10_000):
        alarms.cancel(alarms.set(10, lambda: rung.append("no")))
    alarms.set(10, lambda: rung.append("yes"))
    assert len(alarms._heap) < 200
    clock.sleep_until(10)
    alarms.check()
    assert rung == ["yes"]


def test_an_alarm_that_fails_does_not_keep_the_others_from_ringing(caplog: pytest.LogCaptureFixture) -> None:
    clock = VirtualClock(0)
    alarms = Alarms(clock.now_ms, real=False)
    rung: list[int] = []
    alarms.set(1, lambda: 1 // 0)  # type: ignore[arg-type,return-value]
    alarms.set(2, lambda: rung.append(2))
    clock.sleep_until(2)
    alarms.check()
    assert rung == [2]
    assert "a timed callback failed" in caplog.text


def test_with_real_time_the_loop_wakes_itself() -> None:
    async def run() -> list[str]:
        import time

        alarms = Alarms(lambda: time.time_ns() // 1_000_000)
        rung: list[str] = []
        done = asyncio.Event()
        now = time.time_ns() // 1_000_000
        alarms.set(now + 40, done.set)
        alarms.set(now + 20, lambda: rung.append("second"))
        alarms.set(now - 1000, lambda: rung.append("first"))
        await asyncio.wait_for(done.wait(), 5)
        alarms.close()
        return rung

    assert asyncio.run(run()) == ["first", "second"]


def timetable(period: int, late_ms: int | None) -> tuple[VirtualClock, Alarms, Timetable[str], list[int]]:
    clock = VirtualClock(0)
    alarms = Alarms(clock.now_ms, real=False)
    fired: list[int] = []
    table: Timetable[str] = Timetable(
        alarms,
        clock.now_ms,
        lambda after: [((after // period + 1) * period, "item")],
        lambda item, at: fired.append(at),
        late_ms=late_ms,
    )
    return clock, alarms, table, fired


def test_a_timetable_fires_at_every_moment_even_when_time_jumps() -> None:
    clock, alarms, table, fired = timetable(100, None)
    table.start()
    for now in (50, 100, 150, 450):
        clock.sleep_until(now)
        alarms.check()
    assert fired == [100, 200, 300, 400]


def test_moments_that_are_too_late_are_left_out() -> None:
    clock, alarms, table, fired = timetable(100, 150)
    table.start()
    clock.sleep_until(1000)
    alarms.check()
    assert fired == [900, 1000]
    clock.sleep_until(1100)
    alarms.check()
    assert fired == [900, 1000, 1100]


def test_a_timetable_that_was_not_started_does_nothing() -> None:
    clock, alarms, table, fired = timetable(100, None)
    table.refresh()
    clock.sleep_until(1000)
    alarms.check()
    assert fired == []
