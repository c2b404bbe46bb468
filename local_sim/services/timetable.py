"""Fires things at the moments their schedules give, one alarm ahead."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from .alarms import Alarms

_Item = TypeVar("_Item")
_logger = logging.getLogger(__name__)


class Timetable(Generic[_Item]):
    """Calls `fire(item, at_ms)` at each moment that `due_after` gives, in order of time.

    `due_after(after_ms)` returns every item with its first moment after `after_ms`, soonest first. Moments that passed
    more than `late_ms` ago, because the machine slept, are left out; None makes up for all of them.
    """

    def __init__(
        self,
        alarms: Alarms,
        now_ms: Callable[[], int],
        due_after: Callable[[int], Sequence[tuple[int, _Item]]],
        fire: Callable[[_Item, int], None],
        *,
        late_ms: int | None = 60_000,
    ) -> None:
        self._alarms = alarms
        self._now_ms = now_ms
        self._due_after = due_after
        self._fire = fire
        self._late_ms = late_ms
        self._seen_ms = 0
        self._alarm = 0
        self._open = False

    def start(self) -> None:
        """Begin; moments up to now are not made up for."""
        self._seen_ms = self._now_ms()
        self._open = True
        self.refresh()

    def refresh(self) -> None:
        """Set the alarm anew, after a schedule was added, changed or removed."""
        if not self._open:
            return
        self._alarms.cancel(self._alarm)
        due = self._due_after(self._seen_ms)
        if due:
            self._alarm = self._alarms.set(due[0][0], self._ring)

    def _ring(self) -> None:
        now = self._now_ms()
        while (due := self._due_after(self._seen_ms)) and due[0][0] <= now:
            at = due[0][0]
            self._seen_ms = at
            if self._late_ms is None or now - at <= self._late_ms:
                for moment, item in due:
                    if moment == at:
                        self._one(item, at)
            else:
                self._seen_ms = now - self._late_ms
        self.refresh()

    def _one(self, item: _Item, at: int) -> None:
        try:
            self._fire(item, at)
        except Exception:
            _logger.exception("a schedule could not start its work")
