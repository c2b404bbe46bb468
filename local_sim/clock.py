"""Real and virtual time. The only place of local_sim that reads a clock."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Milliseconds since the epoch, UTC, and a way to wait."""

    def now_ms(self) -> int:
        """Return the present time in milliseconds since the epoch."""
        ...

    def sleep_until(self, due_ms: int) -> None:
        """Return once `now_ms()` has reached `due_ms`; at once when it is past."""
        ...


class RealClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Return the machine's time in milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def sleep_until(self, due_ms: int) -> None:
        """Sleep real seconds until `due_ms`."""
        time.sleep(max(0, due_ms - self.now_ms()) / 1000)


class VirtualClock:
    """Time that moves only when someone waits; waits and backoffs cost nothing."""

    def __init__(self, start_ms: int = 1_767_225_600_000) -> None:
        self._now_ms = start_ms

    def now_ms(self) -> int:
        """Return the virtual time in milliseconds since the epoch."""
        return self._now_ms

    def sleep_until(self, due_ms: int) -> None:
        """Jump to `due_ms`; never backwards."""
        self._now_ms = max(self._now_ms, due_ms)
