"""A worker that is made when the first function is called: a run without functions loads nothing for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .model import InvokeResult, Worker

if TYPE_CHECKING:
    from local_sim.project import Function


class DeferredWorker:
    """Implements Worker by the one that `make` returns; `concurrent` is what that one will say."""

    def __init__(self, make: Callable[[], Worker], *, concurrent: bool) -> None:
        self.concurrent = concurrent
        self._make = make
        self._made: Worker | None = None

    def prepare(self, function: Function) -> None:
        """See Worker."""
        self._worker().prepare(function)

    def invoke(
        self, function: Function, event: bytes, request_id: str, *, timeout: float | None = None
    ) -> InvokeResult:
        """See Worker."""
        return self._worker().invoke(function, event, request_id, timeout=timeout)

    def close(self) -> None:
        """See Worker."""
        if self._made is not None:
            self._made.close()

    def _worker(self) -> Worker:
        if self._made is None:
            self._made = self._make()
        return self._made
