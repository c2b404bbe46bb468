"""Load feedback: a client that is refused much asks less, so that many clients do not keep a busy service down.

Adaptive throttling as described in "Handling Overload", Site Reliability Engineering (O'Reilly 2016), chapter 21: a
request is held back with probability `max(0, (requests - K * accepts) / (requests + 1))` over a sliding window.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

__all__ = ["LoadFeedback"]


class LoadFeedback:
    """Counts what was asked and what was accepted. `clock` gives seconds, `draw` a number in [0, 1).

    `k` is how many requests an accepted one allows: 2 lets a recovering service be found out about quickly. The first
    `grace` requests of a window are never held back: so few say nothing.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        draw: Callable[[], float],
        window_seconds: float = 120,
        k: float = 2,
        grace: int = 5,
    ) -> None:
        self._clock, self._draw = clock, draw
        self._window, self._k, self._grace = window_seconds, k, grace
        self._asked: deque[float] = deque()
        self._accepted: deque[float] = deque()
        self._lock = threading.Lock()

    @property
    def refusal(self) -> float:
        """The probability with which the next request is held back."""
        with self._lock:
            self._forget()
            asked, accepted = len(self._asked), len(self._accepted)
        return max(0.0, (asked - self._k * accepted - self._grace) / (asked + 1))

    def allows(self) -> bool:
        """Count a request and say whether it may go out."""
        held_back = self._draw() < self.refusal
        with self._lock:
            self._asked.append(self._clock())
        return not held_back

    def accepted(self) -> None:
        """Count an answer: the service took the request, whatever it said."""
        with self._lock:
            self._accepted.append(self._clock())

    def _forget(self) -> None:
        oldest = self._clock() - self._window
        for times in (self._asked, self._accepted):
            while times and times[0] < oldest:
                times.popleft()
