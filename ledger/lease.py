"""A claim in hand, and the thread that renews the leases of long effects."""

from __future__ import annotations

import contextlib
import heapq
import itertools
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

    One sleeping thread for a whole ledger; a claim gets a thread of its own only once it is that old, so short effects
    cost nothing but an entry in a heap.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, HeldClaim, threading.Event]] = []
        self._numbers = itertools.count()
        self._watcher: threading.Thread | None = None

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
            while self._due and self._due[0][3].is_set():
                heapq.heappop(self._due)
            if self._watcher is None or not self._watcher.is_alive():
                self._watcher = threading.Thread(target=self._watch, name="ledger-leases", daemon=True)
                self._watcher.start()
            elif self._due and self._due[0][2] is claim:
                self._changed.notify()

    def _watch(self) -> None:
        while True:
            with self._changed:
                while not self._due:
                    self._changed.wait()
                pause = self._due[0][0] - time.monotonic()
                if pause > 0:
                    self._changed.wait(pause)
                    continue
                _, _, claim, over = heapq.heappop(self._due)
            if not over.is_set():
                threading.Thread(target=_keep, args=(claim, over), name="ledger-renewal", daemon=True).start()


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
