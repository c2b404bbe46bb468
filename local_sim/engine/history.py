"""An execution's history as its readers see it: a sequence of events, made on demand from the engine's log.

Types and fields follow GetExecutionHistory (API page, section 6); what each detail holds is in docs/history.md (A29).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import overload

from . import log
from .events import Json
from .log import STRIDE, Log

_VALUE_KEYS = {
    log.STEP_ENTERED: "input",
    log.STEP_STARTED: "input",
    log.STEP_SUCCEEDED: "output",
    log.STEP_EXITED: "output",
    log.TASK_SUBMITTED: "output",
    log.TASK_SUCCEEDED: "output",
    log.EXECUTION_STARTED: "input",
    log.EXECUTION_SUCCEEDED: "output",
}


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """One event. `schedule_event_id` is the event that caused it, 0 for the first; `time_ms` is since the epoch, UTC.

    `step_name` is empty for events of the execution itself. `detail` differs by `type` and must not be changed.
    """

    event_id: int
    schedule_event_id: int
    step_name: str
    type: str
    time_ms: int
    detail: Mapping[str, Json]


class History(Sequence[HistoryEvent]):
    """A live, read-only view: it grows while the execution runs. Slices are lists."""

    __slots__ = ("_log",)

    def __init__(self, kept: Log) -> None:
        self._log = kept

    def __len__(self) -> int:
        return len(self._log)

    @overload
    def __getitem__(self, index: int) -> HistoryEvent: ...
    @overload
    def __getitem__(self, index: slice) -> list[HistoryEvent]: ...

    def __getitem__(self, index: int | slice) -> HistoryEvent | list[HistoryEvent]:
        numbers = range(len(self))[index]
        return [self._event(number) for number in numbers] if isinstance(numbers, range) else self._event(numbers)

    def __iter__(self) -> Iterator[HistoryEvent]:
        return map(self._event, range(len(self)))

    def types(self) -> list[str]:
        """Return the type of every event, in order; cheaper than making the events."""
        return list(self._log.flat[2::STRIDE])

    def counts(self) -> Counter[str]:
        """Return how often each step was entered."""
        flat = self._log.flat
        pairs = zip(flat[1::STRIDE], flat[2::STRIDE], strict=True)
        return Counter(step for step, kind in pairs if kind == log.STEP_ENTERED)

    def _event(self, number: int) -> HistoryEvent:
        at = number * STRIDE
        cause, step, kind, time_ms, payload = self._log.flat[at : at + STRIDE]
        key = _VALUE_KEYS.get(kind)
        detail = (
            {} if payload is log.NOTHING else payload if key is None or type(payload) is log.Detail else {key: payload}
        )
        return HistoryEvent(number + 1, cause, step, kind, time_ms, detail)


def to_api(event: HistoryEvent) -> dict[str, Json]:
    """Return the event as GetExecutionHistory has it; `EventDetail` is JSON text, `Time` is UTC with milliseconds."""
    return {
        "EventId": event.event_id,
        "ScheduleEventId": event.schedule_event_id,
        "StepName": event.step_name,
        "Type": event.type,
        "Time": iso_time(event.time_ms),
        "EventDetail": json.dumps(event.detail, ensure_ascii=False, separators=(",", ":")),
    }


def iso_time(time_ms: int) -> str:
    """Return milliseconds since the epoch as `2019-01-01T01:01:01.001Z`."""
    seconds, milliseconds = divmod(time_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%S}.{milliseconds:03d}Z"
