"""Getting a claim: the loop of decide, write, and look again."""

from __future__ import annotations

import random
import secrets
from dataclasses import dataclass

from ledger.clock import Clock
from ledger.errors import StepBusy
from ledger.keys import StepKey
from ledger.lease import HeldClaim
from ledger.protocol import Close, Park, Refuse, Replay, Take, Wait, decide, gone
from ledger.records import Lane, StepRecord, StoredRow, decode_step
from ledger.store import TableStore
from ledger.writes import Intent, Moment

_FIRST_LOOK_SECONDS = 0.05
_LONGEST_LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class Granted:
    """The claim is ours. `probe_first`: an earlier attempt may have taken effect; `record` is the row it left."""

    claim: HeldClaim
    probe_first: bool
    record: StepRecord | None


Acquired = Granted | Replay | Close


class Claims:
    """Acquires claims on rows of one table. `busy_wait` in seconds, `skew_ms` the greatest distance of two clocks."""

    def __init__(
        self, store: TableStore, clock: Clock, busy_wait: float, skew_ms: int, jitter: random.Random | None = None
    ) -> None:
        self._store, self._clock = store, clock
        self._busy_wait, self._skew_ms = busy_wait, skew_ms
        self._jitter = jitter or random.Random()  # noqa: S311

    def read(self, intent: Intent) -> StepRecord | None:
        """Read the row of an intent."""
        return _decoded(self._store.read(intent.key.row))

    def at_rest(self, key: StepKey, lane: Lane) -> StepRecord | None:
        """Return the row once nobody runs this half any more: finished, or its owner is gone.

        Waits for a live owner up to the busy wait, then raises `StepBusy`.
        """
        watch = _Watch(self._clock)
        queue = _Queue(self._clock, self._busy_wait, self._jitter)
        while True:
            record = _decoded(self._store.read(key.row))
            half = None if record is None else record.lane(lane)
            if record is None or half is None or record.state is not lane.claimed:
                return record
            moment = self.moment(watch.quiet_ms(record))
            if gone(record, half.kind, moment, self._skew_ms, recorded=half.kind):
                return record
            queue.wait(key.step, Wait(record.lease_until_ms))

    def acquire(self, intent: Intent, record: StepRecord | None = None) -> Acquired:
        """Return the claim, the finished record, or how the half was closed. `record`: the row, where it is known.

        Waits for a live owner up to the busy wait, then raises `StepBusy`. Raises what the protocol refuses.
        """
        watch = _Watch(self._clock)
        queue = _Queue(self._clock, self._busy_wait, self._jitter)
        while True:
            since = self._clock.monotonic()
            moment = self.moment(watch.quiet_ms(record))
            decision = decide(record, intent, moment, self._skew_ms)
            if isinstance(decision, Refuse):
                raise decision.error
            if isinstance(decision, Wait):
                queue.wait(intent.key.step, decision)
                record = self.read(intent)
                continue
            if isinstance(decision, Replay) or decision.write is None:
                return decision
            settled = self._store.settle(decision.write)
            if settled.won:
                return self._won(decision, record, since)
            record = _decoded(settled.row)

    def moment(self, quiet_ms: int = 0) -> Moment:
        """Return the present time and fresh names: a token per claim, an id per write."""
        return Moment(self._clock.now_ms(), secrets.token_hex(16), secrets.token_hex(8), quiet_ms)

    def _won(self, decision: Take | Park | Close, record: StepRecord | None, since: float) -> Acquired:
        if isinstance(decision, Park):
            raise decision.error
        if isinstance(decision, Close):
            return decision
        claim = HeldClaim(decision.grant, self._store, self._clock, self.moment, since)
        return Granted(claim, decision.probe_first, record)


class _Watch:
    """How long a claim has been seen unchanged, on the watcher's own monotonic clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: tuple[str, int, int] | None = None
        self._since = 0.0

    def quiet_ms(self, record: StepRecord | None) -> int:
        mark = None if record is None else (record.token, record.epoch, record.revision)
        now = self._clock.monotonic()
        if mark is None or mark != self._seen:
            self._seen, self._since = mark, now
        return int((now - self._since) * 1000)


class _Queue:
    """The wait for another worker: jittered looks, growing pauses, one budget for the whole call."""

    def __init__(self, clock: Clock, budget: float, jitter: random.Random) -> None:
        self._clock, self._budget, self._jitter = clock, budget, jitter
        self._start = clock.monotonic()
        self._pause = _FIRST_LOOK_SECONDS

    def wait(self, step: str, wait: Wait) -> None:
        left = self._budget - (self._clock.monotonic() - self._start)
        if left <= 0:
            raise StepBusy(step, wait.until_ms)
        self._clock.sleep(min(left, self._pause * self._jitter.uniform(0.5, 1)))
        self._pause = min(self._pause * 1.5, _LONGEST_LOOK_SECONDS)


def _decoded(row: StoredRow | None) -> StepRecord | None:
    return None if row is None else decode_step(row)
