"""A claim in hand, and the thread that renews the leases of long effects."""

from __future__ import annotations

import contextlib
import functools
import heapq
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator

from ledger import writes
from ledger.clock import Clock
from ledger.errors import ClaimLost, LedgerError
from ledger.model import Compensation
from ledger.store import TableStore
from ledger.writes import Grant, Moment, Write


class HeldClaim:
    """A claim this process owns. Its writes are sent one at a time; none is sent after the last one."""

    def __init__(
        self, grant: Grant, store: TableStore, clock: Clock, moment: Callable[[], Moment], since: float
    ) -> None:
        self.grant = grant
        self.lost = False
        self._store, self._clock, self._moment = store, clock, moment
        self._revision = 0
        self._finished = False
        self._lock = threading.Lock()
        # Counted from before the claim was sent: the lease another worker sees ends no earlier.
        self._lease_from = since

    @property
    def remaining_seconds(self) -> float:
        """Seconds until the lease runs out unless renewed; negative when it has."""
        return self._lease_from + self.grant.lease_ms / 1000 - self._clock.monotonic()

    def check(self) -> None:
        """Raise `ClaimLost` when the claim has a newer owner, or may have one because the lease ran out."""
        if self.lost or self.remaining_seconds <= 0:
            raise ClaimLost(self.grant.key.step)

    def freshen(self) -> None:
        """Renew when a third of the lease is used up, so that an effect never starts on a nearly spent lease."""
        if self.remaining_seconds < self.grant.lease_ms / 1000 * 2 / 3:
            self.renew()

    def renew(self) -> None:
        """Move the lease's end. Raises `ClaimLost` or `LedgerUnavailable`."""
        self._edit(lambda revision, moment: writes.renew(self.grant, revision, moment), moves_lease=True)

    def recompensate(self, compensation: Compensation) -> None:
        """Replace the recorded compensation. Raises `ClaimLost` or `LedgerUnavailable`."""
        self._edit(lambda revision, moment: writes.recompensate(self.grant, revision, compensation, moment))

    def finish(self, build: Callable[[Moment], Write]) -> None:
        """Send the last write of this claim. Raises `ClaimLost` when a newer owner has the row."""
        with self._lock:
            self._finished = True
            if not self._store.settle(build(self._moment())).won:
                self.lost = True
                raise ClaimLost(self.grant.key.step)

    def _edit(self, build: Callable[[int, Moment], Write], *, moves_lease: bool = False) -> None:
        with self._lock:
            if self._finished:
                return
            since = self._clock.monotonic()
            settled = self._store.settle(build(self._revision, self._moment()))
            if not settled.won:
                self.lost = True
                raise ClaimLost(self.grant.key.step)
            self._revision += 1
            if moves_lease:
                self._lease_from = since


class LeaseKeeper:
    """Renews the leases of claims whose effect runs longer than a third of the lease.

    One sleeping thread for a whole process, which ends when there is nothing to watch; a claim gets a thread of its own
    only once it is that old, so short effects cost nothing but an entry in a heap. Where no thread can be started, a
    lease is not renewed: that is a matter of liveness, never a reason to fail a step.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, HeldClaim, threading.Event]] = []
        self._numbers = itertools.count()
        self._watching = False

    @contextlib.contextmanager
    def keeping(self, claim: HeldClaim) -> Iterator[None]:
        """Keep `claim` alive inside the block."""
        over = threading.Event()
        self._register(claim, over)
        try:
            yield
        finally:
            over.set()

    def _register(self, claim: HeldClaim, over: threading.Event) -> None:
        with self._changed:
            due = time.monotonic() + claim.grant.lease_ms / 3000
            heapq.heappush(self._due, (due, next(self._numbers), claim, over))
            while self._due[0][3].is_set():
                heapq.heappop(self._due)
            if not self._watching:
                self._watching = _started(self._watch, "ledger-leases")
            elif self._due[0][2] is claim:
                self._changed.notify()

    def _watch(self) -> None:
        while (entry := self._next()) is not None:
            claim, over = entry
            if not over.is_set():
                _started(functools.partial(_keep, claim, over), "ledger-renewal")

    def _next(self) -> tuple[HeldClaim, threading.Event] | None:
        """Wait for the next claim that is old enough; None when there is none left to wait for."""
        with self._changed:
            while self._due:
                pause = self._due[0][0] - time.monotonic()
                if self._due[0][3].is_set() or pause <= 0:
                    return heapq.heappop(self._due)[2:]
                self._changed.wait(pause)
            self._watching = False
            return None


def process_keeper() -> LeaseKeeper:
    """Return this process's keeper. A forked child has its own: threads do not survive a fork."""
    return _keepers.setdefault(os.getpid(), LeaseKeeper())


_keepers: dict[int, LeaseKeeper] = {}


def _started(target: Callable[[], None], name: str) -> bool:
    try:
        threading.Thread(target=target, name=name, daemon=True).start()
    except RuntimeError:
        return False
    return True


def _keep(claim: HeldClaim, over: threading.Event) -> None:
    while not over.is_set():
        try:
            claim.renew()
        except ClaimLost:
            return
        except LedgerError:
            # The store is away; the next turn tries again, and the effect's owner sees remaining_seconds shrink.
            pass
        over.wait(claim.grant.lease_ms / 3000)
