"""Hooks that see a run as it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_sim.engine.history import HistoryEvent

from .model import Waiting

if TYPE_CHECKING:
    from local_sim.definition.model import Flow
    from local_sim.engine import Trace


class Observer:
    """Override what you want to see. An event is in the journal, and its commands are not yet carried out, when a
    hook runs.
    """

    def trace(self, flow: Flow) -> Trace | None:
        """Return what counts the parts that an execution of `flow` goes through; None: they are not counted."""
        return None

    def on_resumed(self, execution: str, states: tuple[str, ...]) -> None:
        """See that an execution is taken up again; `states` were left before, in order."""

    def on_history(self, execution: str, event: HistoryEvent) -> None:
        """See one history event: states entered and left, tasks scheduled, failed and caught (`next` in StepFailed's
        detail).
        """

    def on_retry(self, execution: str, state: str, due_ms: int) -> None:
        """See that `state` will be tried again once the run's clock reads `due_ms`."""

    def on_waiting(self, waiting: Waiting) -> None:
        """See that a task waits for a report."""

    def on_logs(self, function: str, text: str) -> None:
        """See what a handler printed."""
