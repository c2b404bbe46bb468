"""Calls to models and services: within a budget, tried again where it is harmless, held back where it does harm."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Generic, TypeVar

from tenacity import RetryCallState, RetryError, Retrying, retry_if_exception_type

from functions.errors import StepkeeperError, TemporaryUpstreamError
from functions.upstream.budget import Budget
from functions.upstream.feedback import LoadFeedback

if TYPE_CHECKING:
    from collections.abc import Iterator

    from functions.upstream.breaker import Breaker

__all__ = ["Policy", "Upstream", "UpstreamResult"]

T = TypeVar("T")


@dataclass(frozen=True)
class Policy:
    """How an upstream is called. Times in seconds.

    An attempt takes at most `timeout`. Only calls declared `idempotent` are tried again here whatever happened, others
    when they certainly had no effect: `attempts` times in all, after a pause with full jitter of up to `base * 2**n`,
    at most `longest_pause`; a longer Retry-After ends the trying, the flow goes on with it. At most `at_once` calls of
    this process are under way.
    """

    timeout: float = 30
    attempts: int = 3
    base: float = 0.5
    longest_pause: float = 10
    idempotent: bool = False
    at_once: int = 16


@dataclass(frozen=True)
class UpstreamResult(Generic[T]):
    """What came of a call: the value, after how many attempts and seconds, and whether it is the fallback's."""

    value: T
    attempts: int
    elapsed: float
    fallback: bool = False


class Upstream:
    """One service that functions call. Make one a process and upstream; calls may come from several threads.

    `sleep` and `random` can be replaced in tests; `clock` is monotonic.
    """

    def __init__(
        self,
        name: str,
        policy: Policy | None = None,
        *,
        breaker: Breaker | None = None,
        feedback: LoadFeedback | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        chance: random.Random | None = None,
    ) -> None:
        self.name = name
        self.policy = policy or Policy()
        self._breaker = breaker
        self._clock, self._sleep = clock, sleep
        self._chance = chance or random.Random()  # noqa: S311 - spreads load, guards nothing
        self._feedback = feedback or LoadFeedback(clock=clock, draw=self._chance.random)
        self._places = threading.BoundedSemaphore(self.policy.at_once)

    def call(
        self,
        ask: Callable[[float], T],
        budget: Budget,
        *,
        fallback: Callable[[TemporaryUpstreamError], T] | None = None,
    ) -> UpstreamResult[T]:
        """Return what `ask(timeout in seconds)` returns.

        `ask` raises `TemporaryUpstreamError` when the other side is away or busy; anything else it raises goes through
        at once. With a `fallback` the last error is answered by it, else it is raised: with the upstream, the attempts,
        the seconds, and every attempt's cause in `details["attempts"]`, chained.
        """
        begun = self._clock()
        causes: list[TemporaryUpstreamError] = []
        retrying = Retrying(
            retry=retry_if_exception_type(TemporaryUpstreamError),
            wait=lambda state: self._pause(_error_of(state), state.attempt_number, budget),
            stop=lambda state: state.upcoming_sleep == inf,
            after=lambda state: causes.append(_error_of(state)),
            sleep=self._sleep,
        )
        try:
            value = retrying(self._attempt, ask, budget)
        except RetryError:
            last = self._told(causes, self._clock() - begun)
            if fallback is None:
                raise last from last.__cause__
            return UpstreamResult(fallback(last), len(causes), self._clock() - begun, fallback=True)
        return UpstreamResult(value, len(causes) + 1, self._clock() - begun)

    def _attempt(self, ask: Callable[[float], T], budget: Budget) -> T:
        timeout = budget.timeout(self.policy.timeout, self.name)
        with self._place(timeout):
            if not self._feedback.allows():
                raise self._held_back("it refuses most requests")
            if self._breaker is not None:
                self._breaker.allow()
            try:
                value = ask(timeout)
            except TemporaryUpstreamError:
                if self._breaker is not None:
                    self._breaker.failed()
                raise
            except StepkeeperError:
                self._answered()
                raise
            self._answered()
            return value

    @contextmanager
    def _place(self, timeout: float) -> Iterator[None]:
        """The bulkhead: one slow upstream must not take all threads of an instance."""
        if not self._places.acquire(timeout=timeout):
            raise self._held_back(f"{self.policy.at_once} calls are under way")
        try:
            yield
        finally:
            self._places.release()

    def _answered(self) -> None:
        self._feedback.accepted()
        if self._breaker is not None:
            self._breaker.succeeded()

    def _held_back(self, why: str) -> TemporaryUpstreamError:
        return TemporaryUpstreamError(f"{self.name} is not asked: {why}", upstream=self.name, effect_applied=False)

    def _pause(self, error: TemporaryUpstreamError, attempts: int, budget: Budget) -> float:
        """Return how long to wait before the next attempt, infinity when there is to be none."""
        harmless = self.policy.idempotent or error.effect_applied is False
        if not harmless or attempts >= self.policy.attempts:
            return inf
        pause = self._chance.uniform(0, min(self.policy.longest_pause, self.policy.base * 2 ** (attempts - 1)))
        if error.retry_after is not None:
            if error.retry_after > self.policy.longest_pause:
                return inf
            # What the other side asks for, and a little more, so that not all come back in the same moment.
            pause += error.retry_after
        return pause if pause < budget.left else inf

    def _told(self, causes: list[TemporaryUpstreamError], elapsed: float) -> TemporaryUpstreamError:
        last = causes[-1]
        sure = all(cause.effect_applied is False for cause in causes)
        error = TemporaryUpstreamError(
            f"{last.message} (attempt {len(causes)} of {self.policy.attempts}, {elapsed:.1f} s in all)",
            upstream=self.name,
            retry_after=last.retry_after,
            status=last.status,
            effect_applied=False if sure else None,
        )
        error.details["attempts"] = [cause.message for cause in causes]
        error.details["elapsed"] = round(elapsed, 3)
        for earlier, later in pairwise(causes):
            later.__cause__ = later.__cause__ or earlier
        error.__cause__ = last
        return error


def _error_of(state: RetryCallState) -> TemporaryUpstreamError:
    error = state.outcome.exception() if state.outcome is not None else None
    assert isinstance(error, TemporaryUpstreamError)
    return error
