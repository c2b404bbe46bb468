"""Time, chance, locks and threads of a world, in the place of the machine's.

Applied once, before anything of the project is imported, in a process that does nothing but explore. What the handlers
call is unchanged; what it does is decided by the hub: `time.time()` is virtual, `time.sleep` costs nothing,
`os.urandom` comes from the seed, a lock that is taken lets another fiber run, and a thread is a fiber.
"""

from __future__ import annotations

import datetime as datetime_module
import os
import queue
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from .fibers import Fiber, Hub

real_monotonic = time.monotonic
"""The machine's own clock, for budgets."""

_real_urandom = os.urandom


class Chance:
    """Bytes that look random and come from a seed."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)  # noqa: S311 - reproducible on purpose

    def bytes(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        return self._random.randbytes(count)

    def reseed(self, seed: str) -> None:
        """Begin anew."""
        self._random.seed(seed)


def apply(hub: Hub, chance: Chance) -> None:
    """Put the world's own time, chance, locks and threads in place. For good: this process explores and ends."""
    _patch_time(hub)
    _patch_datetime(hub)
    _patch_chance(chance)
    _patch_locks(hub)
    _patch_threads(hub)
    _patch_asyncio(hub)


def _patch_time(hub: Hub) -> None:
    clock = hub.clock
    start = clock.now_us
    module: Any = time
    module.time = lambda: clock.now_us / 1_000_000
    module.time_ns = lambda: clock.now_us * 1000
    # Some way from zero, as on a machine that is up; a cold instance never starts at 0.
    module.monotonic = module.perf_counter = lambda: 1000 + (clock.now_us - start) / 1_000_000
    module.monotonic_ns = module.perf_counter_ns = lambda: 1_000_000_000_000 + (clock.now_us - start) * 1000
    module.sleep = hub.sleep
    real_localtime, real_gmtime = time.localtime, time.gmtime
    module.localtime = lambda seconds=None: real_localtime(clock.now_us / 1_000_000 if seconds is None else seconds)
    module.gmtime = lambda seconds=None: real_gmtime(clock.now_us / 1_000_000 if seconds is None else seconds)
    for name in ("threading", "queue", "random", "subprocess"):
        stands: Any = sys.modules.get(name)
        for attribute in ("_time", "time") if stands is not None else ():
            if callable(getattr(stands, attribute, None)):
                setattr(stands, attribute, module.monotonic)


def _patch_datetime(hub: Hub) -> None:
    real_datetime: Any = datetime_module.datetime
    real_date: Any = datetime_module.date

    class Looks(type):
        """Any real datetime is one of ours, and the other way round."""

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, cls._real)  # type: ignore[attr-defined]

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, cls._real)  # type: ignore[attr-defined]

    class datetime(real_datetime, metaclass=Looks):  # type: ignore[misc]  # noqa: N801 - stands for that very name
        _real = real_datetime

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return real_datetime.fromtimestamp(hub.clock.now_us / 1_000_000, tz)

        @classmethod
        def utcnow(cls) -> Any:
            return real_datetime.fromtimestamp(hub.clock.now_us / 1_000_000, datetime_module.timezone.utc).replace(
                tzinfo=None
            )

        @classmethod
        def today(cls) -> Any:
            return cls.now()

    class date(real_date, metaclass=Looks):  # type: ignore[misc]  # noqa: N801
        _real = real_date

        @classmethod
        def today(cls) -> Any:
            return real_datetime.fromtimestamp(hub.clock.now_us / 1_000_000).date()

    module: Any = datetime_module
    for patched in (datetime, date):
        patched.__module__, patched.__qualname__ = "datetime", patched.__name__
    module.datetime, module.date = datetime, date


def _patch_chance(chance: Chance) -> None:
    module: Any = os
    module.urandom = chance.bytes
    stands: Any = random
    stands._urandom = chance.bytes
    real_class: Any = random.Random

    class Random(real_class):  # type: ignore[misc]
        """Without a seed of its own it takes one from the world's."""

        def seed(self, a: Any = None, version: int = 2) -> None:
            super().seed(int.from_bytes(chance.bytes(16), "big") if a is None else a, version)

    Random.__qualname__ = "Random"
    stands.Random = Random
    random.seed(0)


class Lock:
    """`threading.Lock` between fibers. Each process has a state of its own, also of a lock its modules share."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._held: set[int] = set()

    def _owner(self) -> int:
        fiber = self._hub.current
        return fiber.instance.id if fiber is not None else 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock; false when it cannot be had in time."""
        owner, held = self._owner(), self._held
        if owner in held:
            if not blocking:
                return False
            self._hub.wait(lambda: owner in held, None if timeout < 0 else timeout)
            if owner in held:
                return False
        held.add(owner)
        return True

    def release(self) -> None:
        """Give the lock back. Raises RuntimeError when nobody has it."""
        owner = self._owner()
        if owner not in self._held:
            raise RuntimeError("release unlocked lock")
        self._held.discard(owner)

    def locked(self) -> bool:
        """Say whether somebody has it."""
        return self._owner() in self._held

    def _at_fork_reinit(self) -> None:
        self._held.clear()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


def _patch_locks(hub: Hub) -> None:
    module: Any = threading

    def allocate() -> Lock:
        return Lock(hub)

    real_ident = threading.get_ident

    def ident() -> int:
        fiber = hub.current
        return fiber.ident if fiber is not None else real_ident()

    module._allocate_lock = module.Lock = allocate
    module._CRLock = None
    module.RLock = module._PyRLock
    module.get_ident = ident
    module.get_native_id = ident
    stands: Any = queue
    stands.SimpleQueue = queue._PySimpleQueue  # type: ignore[attr-defined]
    import _threading_local

    module.local = _threading_local.local


def _patch_threads(hub: Hub) -> None:
    thread: Any = threading.Thread
    active: dict[int, Any] = threading._active  # type: ignore[attr-defined]
    fibers: dict[int, Fiber] = {}
    start, join, is_alive = thread.start, thread.join, thread.is_alive

    def fiber_start(self: Any) -> None:
        if hub.current is None:
            start(self)
            return
        if self._started.is_set():
            raise RuntimeError("threads can only be started once")
        fiber = hub.spawn(hub.current.instance, _body(self))
        fiber.logs = hub.current.logs
        fibers[id(self)] = fiber
        self._started.set()
        self._ident = fiber.ident
        active[fiber.ident] = self

    def fiber_join(self: Any, timeout: float | None = None) -> None:
        fiber = fibers.get(id(self))
        if fiber is None:
            join(self, timeout)
        elif not fiber.done:
            hub.wait(lambda: not fiber.done, timeout)

    def fiber_is_alive(self: Any) -> bool:
        fiber = fibers.get(id(self))
        return bool(is_alive(self)) if fiber is None else not fiber.done

    thread.start, thread.join, thread.is_alive = fiber_start, fiber_join, fiber_is_alive


def _body(thread: Any) -> Callable[[], None]:
    def run() -> None:
        try:
            thread.run()
        except Exception:  # noqa: BLE001 - as a thread's: it is printed, and nobody else hears of it
            sys.excepthook(*sys.exc_info())
        finally:
            thread._is_stopped = True

    return run


def _patch_asyncio(hub: Hub) -> None:
    import asyncio
    import selectors

    module: Any = asyncio
    stands: Any = asyncio.threads

    async def to_thread(work: Callable[..., Any], /, *args: Any, **more: Any) -> Any:
        return work(*args, **more)

    module.to_thread = stands.to_thread = to_thread
    selector: Any = selectors.DefaultSelector
    real_select = selector.select

    def select(self: Any, timeout: float | None = None) -> Any:
        found = real_select(self, 0)
        if found or (timeout is not None and timeout <= 0):
            return found
        hub.wait(lambda: not real_select(self, 0), timeout)
        return real_select(self, 0)

    selector.select = select
