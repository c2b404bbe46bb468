"""A circuit breaker whose state all instances share: closed, open, half-open with exactly one probe.

The state is one entry of the ledger, changed by compare-and-set; each instance reads it at most every few seconds.
Failures are counted by each instance for itself, and whoever has seen enough of them opens it for all.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from enum import Enum
from typing import Protocol

from functions.errors import TemporaryUpstreamError
from ledger import Entry

__all__ = ["Breaker", "BreakerPolicy", "BreakerState", "Cells"]

_TASK = "breaker"


class BreakerState(str, Enum):
    """Closed lets everything through, open nothing, half-open one probe."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True)
class BreakerPolicy:
    """When a breaker opens and for how long. Times in seconds.

    It opens after `failures` failed calls within `window`, when they are at least `share` of all calls there. It stays
    open for `pause`, twice as long after each probe that fails, at most `longest_pause`. A probe that has not ended
    within `probe` is taken for dead and another one is let through. The shared state is read again after `fresh`.
    """

    failures: int = 5
    share: float = 0.5
    window: float = 60
    pause: float = 20
    longest_pause: float = 600
    probe: float = 60
    fresh: float = 3


class Cells(Protocol):
    """What a breaker needs of `Ledger.entries`."""

    def read(self, task_id: str, entry: str) -> Entry | None:
        """The entry, or None."""
        ...

    def create(self, task_id: str, entry: str, columns: dict[str, object], note: object = None) -> Entry | None:
        """Make it; None when it was there."""
        ...

    def change(self, before: Entry, columns: dict[str, object], note: object = None) -> Entry | None:
        """Change it; None when somebody else was first."""
        ...


@dataclass(frozen=True)
class _Seen:
    """The shared state as last read. `until_ms`: open until then; half-open: the probe's own deadline."""

    state: BreakerState = BreakerState.CLOSED
    until_ms: int = 0
    pause_ms: int = 0
    entry: Entry | None = None


class Breaker:
    """The breaker of one upstream. Thread-safe. `clock_ms` is wall time: instances compare it with each other.

    `allow` before a call, then `succeeded` or `failed`. What cannot be read or written lets calls through: a breaker
    protects, it must not be what fails.
    """

    def __init__(
        self, name: str, cells: Cells, clock_ms: Callable[[], int], policy: BreakerPolicy | None = None
    ) -> None:
        self.name = name
        self.policy = policy or BreakerPolicy()
        self._cells, self._clock_ms = cells, clock_ms
        self._seen, self._read_ms = _Seen(), -1
        self._calls: deque[tuple[int, bool]] = deque()
        self._probing = False
        self._lock = threading.RLock()

    @property
    def state(self) -> BreakerState:
        """The shared state, at most `fresh` seconds old."""
        with self._lock:
            return self._look().state

    def allow(self) -> None:
        """Let a call through, or raise `TemporaryUpstreamError` (`effect_applied` False, `retry_after` in seconds)."""
        with self._lock:
            seen = self._look()
            if seen.state is BreakerState.CLOSED:
                return
            now = self._clock_ms()
            if now < seen.until_ms or not self._begin_probe(seen, now):
                self._refuse(max(self._seen.until_ms - now, 0) / 1000)

    def succeeded(self) -> None:
        """The upstream answered. A probe that did closes the breaker."""
        with self._lock:
            self._count(failed=False)
            if self._probing:
                self._probing = False
                self._calls.clear()
                self._move(_Seen(BreakerState.CLOSED, entry=self._seen.entry), "the probe succeeded")

    def failed(self) -> None:
        """The upstream did not answer, or said that it cannot."""
        with self._lock:
            self._count(failed=True)
            now = self._clock_ms()
            if self._probing:
                self._probing = False
                pause = min(2 * self._seen.pause_ms, round(self.policy.longest_pause * 1000))
                self._move(_Seen(BreakerState.OPEN, now + pause, pause, self._seen.entry), "the probe failed")
            elif self._look().state is BreakerState.CLOSED and self._too_many():
                pause = round(self.policy.pause * 1000)
                self._move(_Seen(BreakerState.OPEN, now + pause, pause, self._seen.entry), "too many failures")

    def _begin_probe(self, seen: _Seen, now: int) -> bool:
        """Claim the one probe; only the instance whose write lands has it."""
        until = now + round(self.policy.probe * 1000)
        self._probing = self._move(_Seen(BreakerState.HALF_OPEN, until, seen.pause_ms, seen.entry), "probing")
        return self._probing

    def _refuse(self, seconds: float) -> None:
        raise TemporaryUpstreamError(
            f"{self.name} is not asked: its breaker is {self._seen.state.value} for {seconds:.0f} s more",
            upstream=self.name,
            retry_after=round(seconds, 3),
            effect_applied=False,
        )

    def _count(self, *, failed: bool) -> None:
        self._calls.append((self._clock_ms(), failed))

    def _too_many(self) -> bool:
        oldest = self._clock_ms() - round(self.policy.window * 1000)
        while self._calls and self._calls[0][0] < oldest:
            self._calls.popleft()
        bad = sum(failed for _, failed in self._calls)
        return bad >= self.policy.failures and bad >= self.policy.share * len(self._calls)

    def _look(self) -> _Seen:
        now = self._clock_ms()
        if self._read_ms < 0 or now - self._read_ms >= self.policy.fresh * 1000:
            self._seen, self._read_ms = self._read(), now
        return self._seen

    def _read(self) -> _Seen:
        try:
            entry = self._cells.read(_TASK, self._entry())
        except Exception:  # noqa: BLE001 - see the class: without the shared state the own one holds
            return self._seen
        if entry is None:
            return _Seen()
        columns = entry.columns
        state = BreakerState(str(columns["state"]))
        return _Seen(state, int(str(columns["until_ms"])), int(str(columns["pause_ms"])), entry)

    def _move(self, new: _Seen, why: str) -> bool:
        """Write the new state if nobody was first; then look at what is there."""
        columns: dict[str, object] = {
            "state": new.state.value,
            "until_ms": new.until_ms,
            "pause_ms": new.pause_ms,
        }
        note = {"why": why, "state": new.state.value}
        try:
            if new.entry is None:
                written = self._cells.create(_TASK, self._entry(), columns, note)
            else:
                written = self._cells.change(new.entry, columns, note)
        except Exception:  # noqa: BLE001 - see the class
            self._seen = new
            return True
        if written is None:
            self._seen, self._read_ms = self._read(), self._clock_ms()
            return False
        self._seen = _Seen(new.state, new.until_ms, new.pause_ms, written)
        self._read_ms = self._clock_ms()
        return True

    def _entry(self) -> str:
        """A row a day: a row keeps every change of it, and no breaker stays open for a day."""
        day = datetime.fromtimestamp(self._clock_ms() / 1000, timezone.utc)
        return f"breaker/{self.name}/{day:%Y%m%d}"
