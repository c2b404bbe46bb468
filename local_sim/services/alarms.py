"""Callbacks at times of a clock, on one event loop, with one sleeping timer for all of them.

With real time the loop wakes itself. With a clock that only moves when told to, whoever moves it calls `check()`.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
from collections.abc import Callable

_logger = logging.getLogger(__name__)
_LONGEST_SLEEP = 30.0  # the machine's clock may be set while we sleep


class Alarms:
    """Calls back on the loop once `now_ms()` has reached a time. Not for several threads."""

    def __init__(self, now_ms: Callable[[], int], *, real: bool = True) -> None:
        self._now_ms = now_ms
        self._real = real
        self._heap: list[tuple[int, int]] = []
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._keys = itertools.count(1)
        self._handle: asyncio.TimerHandle | None = None
        self._closed = False

    def __len__(self) -> int:
        return len(self._callbacks)

    def set(self, due_ms: int, callback: Callable[[], None]) -> int:
        """Ask for `callback` at `due_ms` (milliseconds since the epoch); returns a key for `cancel`."""
        key = next(self._keys)
        self._callbacks[key] = callback
        heapq.heappush(self._heap, (due_ms, key))
        if self._heap[0][1] == key:
            self._arm()
        return key

    def cancel(self, key: int) -> None:
        """Take a callback back; nothing happens when it has run."""
        self._callbacks.pop(key, None)
        if len(self._heap) > 2 * len(self._callbacks) + 64:
            self._heap = [entry for entry in self._heap if entry[1] in self._callbacks]
            heapq.heapify(self._heap)

    def next_due(self) -> int | None:
        """Return the time of the next callback; None when there is none."""
        while self._heap and self._heap[0][1] not in self._callbacks:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def check(self) -> None:
        """Run everything that is due, in the order of the times asked for."""
        now = self._now_ms()
        while (due := self.next_due()) is not None and due <= now:
            _, key = heapq.heappop(self._heap)
            callback = self._callbacks.pop(key)
            try:
                callback()
            except Exception:
                _logger.exception("a timed callback failed")
        self._arm()

    def close(self) -> None:
        """Run nothing any more."""
        self._closed = True
        self._callbacks.clear()
        if self._handle is not None:
            self._handle.cancel()

    def _arm(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        due = self.next_due()
        if self._real and not self._closed and due is not None:
            seconds = min(max((due - self._now_ms()) / 1000, 0), _LONGEST_SLEEP)
            self._handle = asyncio.get_running_loop().call_later(seconds, self.check)
