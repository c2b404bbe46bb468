"""From a history to visits: which state was entered when, by which attempts, and how it was left. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .model import Event, Json

_OPEN, _OK, _FAILED, _CAUGHT, _CANCELLED = "running", "succeeded", "failed", "caught", "cancelled"


@dataclass(slots=True)
class Attempt:
    """One attempt of a task. `end_ms` None: still under way. `token` is its callback's."""

    number: int
    start_ms: int
    end_ms: int | None = None
    error: str = ""
    cause: str = ""
    action: str = ""
    parameters: Json = None
    waiting: bool = False


@dataclass(slots=True)
class Visit:
    """One visit of a state. `level` counts the Parallels and Maps around it; `next` is where an error was caught."""

    state: str
    event: int
    start_ms: int
    level: int = 0
    parent: Visit | None = field(default=None, repr=False)
    end_ms: int | None = None
    status: str = _OPEN
    error: str = ""
    cause: str = ""
    next: str = ""
    attempts: list[Attempt] = field(default_factory=list)
    before: Visit | None = field(default=None, repr=False)
    entered: Event | None = field(default=None, repr=False)
    exited: Event | None = field(default=None, repr=False)

    @property
    def input(self) -> Json:
        """What the state was entered with."""
        return None if self.entered is None else self.entered.detail.get("input")

    @property
    def output(self) -> Json:
        """What the state handed on; None while it is under way or when it failed."""
        return None if self.exited is None else self.exited.detail.get("output")

    @property
    def retries(self) -> int:
        """Attempts after the first."""
        return max(0, len(self.attempts) - 1)


def visits_of(events: Sequence[Event]) -> list[Visit]:
    """Return the visits in the order they began. Events of a dialect nobody knows are passed over."""
    visits: list[Visit] = []
    of_event: dict[int, Visit] = {}
    for event in events:
        cause = of_event.get(event.after)
        if event.type == "StepEntered":
            visit = _entered(event, cause)
            visits.append(visit)
        else:
            found = _home(event, cause)
            if found is None:
                _close_all(event, visits)
                continue
            visit = found
            _take(visit, event)
        of_event[event.id] = visit
    return visits


def _entered(event: Event, cause: Visit | None) -> Visit:
    """A state entered from a Parallel or Map that is still open lies inside it; otherwise it follows its cause."""
    inside = cause is not None and cause.end_ms is None
    parent = cause if inside else cause.parent if cause is not None else None
    level = parent.level + 1 if parent is not None else 0
    before = None if inside else cause
    return Visit(event.state, event.id, event.time_ms, level, parent, before=before, entered=event)


def _home(event: Event, cause: Visit | None) -> Visit | None:
    """Return the visit an event belongs to: its cause's, or that of the state around it with the event's name."""
    visit = cause
    while visit is not None and event.state and visit.state != event.state:
        visit = visit.parent
    return visit if event.state else None


def _take(visit: Visit, event: Event) -> None:
    handler = _HANDLERS.get(event.type)
    if handler is not None:
        handler(visit, event)


def _scheduled(visit: Visit, event: Event) -> None:
    detail = event.detail
    visit.attempts.append(
        Attempt(
            len(visit.attempts) + 1,
            event.time_ms,
            action=str(detail.get("action", "")),
            parameters=detail.get("parameters"),
        )
    )


def _submitted(visit: Visit, event: Event) -> None:
    if visit.attempts:
        visit.attempts[-1].waiting = True


def _attempt_over(visit: Visit, event: Event) -> None:
    if visit.attempts:
        last = visit.attempts[-1]
        last.end_ms, last.waiting = event.time_ms, False
        last.error = str(event.detail.get("error", ""))
        last.cause = str(event.detail.get("cause", ""))


def _failed(visit: Visit, event: Event) -> None:
    visit.error = str(event.detail.get("error", ""))
    visit.cause = str(event.detail.get("cause", ""))
    visit.next = str(event.detail.get("next", ""))
    visit.status = _CAUGHT if visit.next else _FAILED
    visit.end_ms = event.time_ms


def _exited(visit: Visit, event: Event) -> None:
    visit.end_ms = event.time_ms
    if visit.status == _OPEN:
        visit.status = _OK
        visit.exited = event


_HANDLERS = {
    "TaskScheduled": _scheduled,
    "TaskSubmitted": _submitted,
    "TaskSucceeded": _attempt_over,
    "TaskFailed": _attempt_over,
    "TaskTimedOut": _attempt_over,
    "TaskSubmitFailed": _attempt_over,
    "StepFailed": _failed,
    "StepExited": _exited,
}


def _close_all(event: Event, visits: Sequence[Visit]) -> None:
    """The execution is over: what was still open was broken off."""
    if not event.type.startswith("Execution") or event.type == "ExecutionStarted":
        return
    for visit in visits:
        if visit.end_ms is None:
            visit.end_ms, visit.status = event.time_ms, _CANCELLED
            for attempt in visit.attempts:
                if attempt.end_ms is None:
                    attempt.end_ms, attempt.waiting = event.time_ms, False


def state_marks(visits: Sequence[Visit]) -> dict[str, str]:
    """Return how each state stands, by name: the newest visit's status, `waiting` for one that waits for an answer."""
    marks: dict[str, str] = {}
    for visit in visits:
        waits = bool(visit.attempts) and visit.attempts[-1].waiting
        marks[visit.state] = "waiting" if waits and visit.end_ms is None else visit.status
    return marks


def ways_taken(visits: Sequence[Visit]) -> frozenset[tuple[str, str]]:
    """Return the pairs of states that followed each other, errors that were caught included."""
    return frozenset((visit.before.state, visit.state) for visit in visits if visit.before is not None)
