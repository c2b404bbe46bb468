"""Calls in progress: one after the other in this thread, or several at once in threads."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from local_sim.actions import Outcome

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_MOST_AT_ONCE = 16
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Job(Generic[_T]):
    """Work that gives an outcome; `what` is handed back with it."""

    what: _T
    work: Callable[[], Outcome]


class Jobs(Generic[_T]):
    """Runs jobs. In order and one at a time when not `concurrent`, which makes runs repeatable."""

    def __init__(self, *, concurrent: bool) -> None:
        self._queue: deque[Job[_T]] = deque()
        self._results: queue.SimpleQueue[tuple[_T, Outcome | BaseException]] = queue.SimpleQueue()
        self._concurrent = concurrent
        self._pool: ThreadPoolExecutor | None = None
        self._running = 0

    @property
    def busy(self) -> bool:
        """True while a job has not been handed back."""
        return bool(self._queue) or self._running > 0

    def add(self, job: Job[_T]) -> None:
        """Begin a job, or queue it."""
        if not self._concurrent:
            self._queue.append(job)
            return
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(_MOST_AT_ONCE, thread_name_prefix="local-sim-call")
        self._running += 1
        self._pool.submit(self._run, job)

    def next(self, seconds: float | None) -> tuple[_T, Outcome] | None:
        """Return the next job's outcome, waiting at most `seconds` (None: as long as it takes); None when none came.

        A job that raised raises here.
        """
        if self._queue:
            job = self._queue.popleft()
            return job.what, job.work()
        if not self._running:
            return None
        try:
            what, outcome = self._results.get(timeout=seconds)
        except queue.Empty:
            return None
        self._running -= 1
        if isinstance(outcome, BaseException):
            raise outcome
        return what, outcome

    def close(self) -> None:
        """Wait for no job any more; those in progress end on their own."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self, job: Job[_T]) -> None:
        try:
            self._results.put((job.what, job.work()))
        except BaseException as error:  # noqa: BLE001 - carried to the thread that waits for it
            self._results.put((job.what, error))
