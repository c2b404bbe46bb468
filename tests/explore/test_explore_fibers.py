"""Fibers: one at a time, in virtual time, in an order that the seed fixes."""

from __future__ import annotations

import pytest

from local_sim.explore.errors import Hung
from local_sim.explore.fibers import Hub, Instance, WorldClock
from local_sim.explore.patches import Lock

START_MS = 1_000_000


def hub(seed: str = "s") -> Hub:
    return Hub(WorldClock(START_MS), seed)


def settle(world: Hub) -> None:
    while world.run(None):
        pass


def test_sleeping_costs_nothing_and_wakes_in_order_of_time() -> None:
    world, woken = hub(), []
    for seconds in (3, 1, 2):
        world.spawn(Instance(seconds, "f"), lambda seconds=seconds: (world.sleep(seconds), woken.append(seconds)))
    settle(world)
    assert woken == [1, 2, 3]
    assert world.clock.now_ms() == START_MS + 3000


def test_time_does_not_pass_beyond_the_limit() -> None:
    world = hub()
    world.spawn(Instance(1, "f"), lambda: world.sleep(10))
    assert world.run(None)
    assert not world.run((START_MS + 5000) * 1000)
    assert world.clock.now_ms() == START_MS


def interleaved(seed: str) -> list[str]:
    world, said = hub(seed), []

    def work(name: str) -> None:
        for number in range(5):
            said.append(f"{name}{number}")
            world.give_way()

    for name in "abc":
        world.spawn(Instance(ord(name), "f"), lambda name=name: work(name))
    settle(world)
    return said


def test_a_seed_fixes_the_interleaving_and_another_seed_gives_another() -> None:
    assert interleaved("1") == interleaved("1")
    assert len({tuple(interleaved(str(seed))) for seed in range(5)}) > 1


def test_each_line_keeps_its_own_order_in_every_interleaving() -> None:
    for seed in range(10):
        said = interleaved(str(seed))
        for name in "abc":
            assert [one for one in said if one[0] == name] == [f"{name}{number}" for number in range(5)]


def test_a_dead_process_never_goes_on_and_runs_no_finally() -> None:
    world, said = hub(), []
    instance = Instance(1, "f")

    def work() -> None:
        try:
            world.drop(instance)
            world.die()
        finally:
            said.append("cleaned up")

    world.spawn(instance, work)
    world.spawn(instance, lambda: said.append("another thread of it"))
    settle(world)
    assert "cleaned up" not in said


def test_a_frozen_process_stands_still_with_all_its_threads() -> None:
    world, at = hub(), []
    instance = Instance(1, "f", frozen_until_us=(START_MS + 30_000) * 1000)
    world.spawn(instance, lambda: at.append(world.clock.now_ms()))
    world.spawn(Instance(2, "g"), lambda: at.append(world.clock.now_ms()))
    settle(world)
    assert at == [START_MS, START_MS + 30_000]


def test_a_lock_is_waited_for_and_handed_over() -> None:
    world, said = hub(), []
    lock = Lock(world)
    instance = Instance(1, "f")

    def first() -> None:
        with lock:
            world.sleep(2)
            said.append("first")

    def second() -> None:
        with lock:
            said.append("second")

    world.spawn(instance, first)
    world.run(None)
    world.spawn(instance, second)
    settle(world)
    assert said == ["first", "second"]


def test_a_lock_that_is_taken_times_out_in_virtual_time() -> None:
    world, got = hub(), []
    lock = Lock(world)
    instance = Instance(1, "f")

    def waits() -> None:
        assert lock.acquire()
        got.append(lock.acquire(timeout=5))

    world.spawn(instance, waits)
    settle(world)
    assert got == [False]
    assert world.clock.now_ms() == START_MS + 5000


def test_processes_do_not_share_the_state_of_a_lock() -> None:
    world, got = hub(), []
    lock = Lock(world)
    for number in (1, 2):
        world.spawn(Instance(number, "f"), lambda: got.append(lock.acquire(blocking=False)))
    settle(world)
    assert got == [True, True]


def test_waiting_outside_of_fibers_for_what_never_comes_is_told() -> None:
    lock = Lock(hub())
    lock.acquire()
    with pytest.raises(Hung):
        lock.acquire()


def test_giving_back_a_free_lock_is_refused() -> None:
    with pytest.raises(RuntimeError, match="release unlocked lock"):
        Lock(hub()).release()


def test_a_world_begins_anew_with_the_same_chance() -> None:
    world = hub("7")
    first = world.random.random()
    world.sleep(9)
    world.reset(START_MS, "7")
    assert world.random.random() == first
    assert world.clock.now_ms() == START_MS
