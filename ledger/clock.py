"""The only reader of a clock in the ledger."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Wall time for what is recorded, monotonic time for what is measured, and a way to wait."""

    def now_ms(self) -> int:
        """Return wall time in milliseconds since the epoch, UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait `seconds`."""
        ...


class RealClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Return the machine's time in milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Return the machine's monotonic seconds."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Sleep real seconds."""
        time.sleep(seconds)
