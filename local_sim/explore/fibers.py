"""Fibers: everything that runs in a world, one at a time, in one thread of the system.

A fiber is a greenlet. It is left only where it asks to be: at a boundary, when it sleeps, when a lock is taken. Which
of several ready fibers goes on is drawn from the seed, so a seed fixes the whole interleaving. Since nothing of a world
lies in a thread's stack of the system, `os.fork` copies a world exactly, wherever a fiber stands.
"""

from __future__ import annotations

import itertools
import random
from asyncio.events import _get_running_loop, _set_running_loop
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import greenlet  # type: ignore[import-untyped, unused-ignore]

from local_sim.clock import VirtualClock

from .errors import Hung

_MOST_SWITCHES = 200_000


class WorldClock(VirtualClock):
    """Virtual time to the microsecond; every reader of a clock in a world sees this one."""

    def __init__(self, start_ms: int) -> None:
        super().__init__(start_ms)
        self._now_us = start_ms * 1000

    def reset(self, start_ms: int) -> None:
        """Begin anew."""
        self._now_us = start_ms * 1000

    @property
    def now_us(self) -> int:
        """Microseconds since the epoch."""
        return self._now_us

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        return self._now_us // 1000

    def sleep_until(self, due_ms: int) -> None:
        """Jump to `due_ms`; never backwards."""
        self.pass_until(due_ms * 1000)

    def pass_until(self, due_us: int) -> None:
        """Jump to `due_us`; never backwards."""
        self._now_us = max(self._now_us, due_us)


@dataclass(eq=False)
class Instance:
    """What one process of a function, or the rest of the world, is to its fibers.

    `variables` is its environment. It stands still until `frozen_until_us`, or as long as `idle`; once `dead` none of
    its fibers runs again. `state` holds what its modules remember, `call` what it works on.
    """

    id: int
    function: str
    variables: dict[bytes, bytes] = field(default_factory=dict)
    frozen_until_us: int = 0
    idle: bool = False
    dead: bool = False
    state: dict[Any, Any] | None = None
    call: Any = None
    handler: Any = None


class Fiber:
    """One line of execution. It goes on at `wake_us`; while `waits()` holds, only at `deadline_us`, if ever.

    `task` is the state that a request of the flow itself belongs to, `logs` where prints go.
    """

    def __init__(self, number: int, instance: Instance, work: Callable[[], object], parent: Any) -> None:
        self.number = number
        self.instance = instance
        self.wake_us = 0
        self.waits: Callable[[], bool] | None = None
        self.deadline_us: int | None = None
        self.done = False
        self.task: Any = None
        self.logs: Any = None
        self.loop: Any = None
        self.greenlet = greenlet.greenlet(work, parent)

    @property
    def ident(self) -> int:
        """What `threading.get_ident` says inside."""
        return 10_000 + self.number

    def ready_us(self) -> int | None:
        """Return when it can go on, 0 for now; None while only somebody else can set it free."""
        instance = self.instance
        if instance.dead or instance.idle or self.done:
            return None
        due: int | None = self.wake_us
        if self.waits is not None:
            due = self.deadline_us if self.waits() else 0
        return None if due is None else max(due, instance.frozen_until_us)


class Hub:
    """Runs the fibers of a world. `enter` and `leave` are told when another instance's fiber goes on."""

    def __init__(self, clock: WorldClock, seed: str) -> None:
        self.clock = clock
        self.seed = seed
        self.random = random.Random(seed)  # noqa: S311 - reproducible on purpose
        self.current: Fiber | None = None
        self.fibers: list[Fiber] = []
        self.switched: Callable[[Fiber], None] = lambda fiber: None
        self._numbers = itertools.count(1)
        self._main = greenlet.getcurrent()
        self._switches = 0
        self._dropped: list[Fiber] = []

    def reset(self, start_ms: int, seed: str) -> None:
        """Begin anew: no fibers, the time and the chance of the beginning. For the main line only."""
        self._dropped += self.fibers
        self.fibers = []
        self.clock.reset(start_ms)
        self.random.seed(seed)
        self._switches = 0

    def spawn(self, instance: Instance, work: Callable[[], object]) -> Fiber:
        """Add a fiber; it starts when its turn comes. What `work` raises is lost: catch it inside."""

        def run() -> None:
            try:
                work()
            finally:
                fiber.done = True

        fiber = Fiber(next(self._numbers), instance, run, self._main)
        fiber.wake_us = self.clock.now_us
        self.fibers.append(fiber)
        return fiber

    def drop(self, instance: Instance) -> None:
        """End a process as kill -9 does: its fibers never go on, and nothing of theirs is cleaned up."""
        instance.dead = True

    def run(self, limit_us: int | None) -> bool:
        """Let one fiber go on, letting time pass if need be, but not beyond `limit_us`; False when none can."""
        fiber = self._next(limit_us)
        if fiber is None:
            return False
        self._switches += 1
        if self._switches > _MOST_SWITCHES:
            raise Hung("the run does not end")
        self._switch(fiber)
        return True

    def _next(self, limit_us: int | None) -> Fiber | None:
        now = self.clock.now_us
        dues = [(due, fiber) for fiber in self.fibers if (due := fiber.ready_us()) is not None]
        ready = [fiber for due, fiber in dues if due <= now]
        if not ready:
            earliest = min((due for due, _ in dues), default=None)
            if earliest is None or (limit_us is not None and earliest > limit_us):
                return None
            self.clock.pass_until(earliest)
            ready = [fiber for due, fiber in dues if due <= earliest]
        return ready[0] if len(ready) == 1 else self.random.choice(ready)

    def _switch(self, fiber: Fiber) -> None:
        self.current = fiber
        self.switched(fiber)
        _set_running_loop(fiber.loop)
        fiber.greenlet.switch()
        fiber.loop = _get_running_loop()
        _set_running_loop(None)
        self.current = None
        if fiber.done:
            self.fibers.remove(fiber)
        elif fiber.instance.dead:
            # Kept: a greenlet that is thrown away would run its `finally` blocks, and a killed process runs none.
            self._dropped.extend(other for other in self.fibers if other.instance.dead)
            self.fibers = [other for other in self.fibers if not other.instance.dead]

    def give_way(self) -> None:
        """Let another fiber go on, if one could go on now; which one is drawn, and it may be this one again."""
        now = self.clock.now_us
        for fiber in self.fibers:
            if fiber is not self.current and (due := fiber.ready_us()) is not None and due <= now:
                self._main.switch()
                return

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass for the current fiber; outside of fibers for the whole world."""
        due = self.clock.now_us + max(0, round(seconds * 1_000_000))
        fiber = self.current
        if fiber is None:
            self.clock.pass_until(due)
            return
        fiber.wake_us = due
        self._main.switch()

    def wait(self, blocked: Callable[[], bool], seconds: float | None) -> None:
        """Stand still while `blocked()`, at most `seconds`. Raises `Hung` outside of fibers: nobody could help."""
        fiber = self.current
        if fiber is None:
            if blocked() and not self._help(blocked, seconds):
                raise Hung("a lock that nobody can give back is waited for")
            return
        fiber.deadline_us = None if seconds is None else self.clock.now_us + max(0, round(seconds * 1_000_000))
        fiber.waits = blocked
        self._main.switch()
        fiber.waits = None

    def _help(self, blocked: Callable[[], bool], seconds: float | None) -> bool:
        """The main line waits: the fibers go on meanwhile."""
        limit = None if seconds is None else self.clock.now_us + round(seconds * 1_000_000)
        while blocked():
            if not self.run(limit):
                if limit is not None:
                    self.clock.pass_until(limit)
                return limit is not None
        return True

    def die(self) -> None:
        """Leave the current fiber for good: its process is gone."""
        self._main.switch()
        raise Hung("a dead process went on")
