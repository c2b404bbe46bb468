"""Request rates of an account, one bucket of tokens an API or group (cloudflow-api page, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .errors import Throttled


@dataclass(frozen=True, slots=True)
class Rate:
    """A bucket holds `size` tokens and gets `a_second` back."""

    size: int
    a_second: int


START = Rate(100, 100)
READ = Rate(50, 5)
OTHER = Rate(10, 2)
_RATES = {"StartExecution": START, "DescribeExecution": READ, "GetExecutionHistory": READ}


class Rates:
    """Counts calls. StartExecution, DescribeExecution and GetExecutionHistory have a bucket each, all others share
    one (C06).
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._buckets: dict[str, tuple[float, int]] = {}

    def take(self, action: str) -> None:
        """Take a token for a call. Raises Throttled when none is left."""
        rate = _RATES.get(action, OTHER)
        bucket = action if action in _RATES else ""
        now = self._now_ms()
        left, at_ms = self._buckets.get(bucket, (float(rate.size), now))
        left = min(rate.size, left + max(now - at_ms, 0) * rate.a_second / 1000)
        if left < 1:
            self._buckets[bucket] = (left, now)
            raise Throttled(f"{action} is over its rate of {rate.a_second} a second, {rate.size} at once.")
        self._buckets[bucket] = (left - 1, now)
