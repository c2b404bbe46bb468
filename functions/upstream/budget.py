"""How much time a call may still take: a share of what the function itself has left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from functions.errors import TemporaryUpstreamError

__all__ = ["Budget"]

_LEAST_SECONDS = 0.05
_RESERVE_SECONDS = 1.0


@dataclass(frozen=True)
class Budget:
    """A deadline on a monotonic clock, in seconds. `reserve` is kept back for writing down how the call went."""

    deadline: float
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    @classmethod
    def of_seconds(
        cls, seconds: float, *, reserve: float = _RESERVE_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> Budget:
        """A budget of `seconds` from now, less the reserve."""
        return cls(clock() + max(0.0, seconds - reserve), clock)

    @classmethod
    def of_context(cls, context: object, *, reserve: float = _RESERVE_SECONDS) -> Budget:
        """The budget of an FC invocation: its function's timeout, counted from now (function-compute page, 7.2).

        FC tells a handler how long it may take in all, not when it began; call this first thing in the handler.
        """
        timeout = getattr(getattr(context, "function", None), "timeout", 60)
        return cls.of_seconds(float(timeout), reserve=reserve)

    @property
    def left(self) -> float:
        """Seconds left, 0 when it is spent."""
        return max(0.0, self.deadline - self.clock())

    def timeout(self, most: float, upstream: str) -> float:
        """Return how long one attempt may take. Raises `TemporaryUpstreamError` when there is no time for any."""
        left = self.left
        if left < _LEAST_SECONDS:
            raise TemporaryUpstreamError(f"{upstream}: no time left to ask", upstream=upstream, effect_applied=False)
        return min(most, left)
