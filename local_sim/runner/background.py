"""Asynchronous invocations: accepted at once, run later, run again when the function fails (function-compute,
section 8).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from local_sim.actions import CallFailed, Outcome
from local_sim.actions.function import Invocation
from local_sim.journal import BackgroundCall

from .live import LiveExecution

_FIRST_DELAY_MS = 500


@dataclass(frozen=True, slots=True)
class BackgroundJob:
    """One asynchronous invocation. `task_id` is set when its end is a task's result (WaitForSystemCallback)."""

    live: LiveExecution
    call: BackgroundCall
    invocation: Invocation
    due_ms: int
    task_id: int | None = None
    attempts: int = 0

    def after(self, outcome: Outcome, now_ms: int) -> BackgroundJob | None:
        """Return the job to run again after a failure, None when it has ended.

        Function errors are retried `maxAsyncRetryAttempts` times (default 3), after 0.5 s, 1 s, 2 s ... (R05).
        """
        if not isinstance(outcome, CallFailed) or self.attempts >= self.invocation.function.max_async_retries:
            return None
        delay = _FIRST_DELAY_MS * 2**self.attempts
        return replace(self, due_ms=now_ms + delay, attempts=self.attempts + 1)
