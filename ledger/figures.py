"""The six figures of a window of time, computed from histories. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ledger.model import Direction, StepRow, Transition

# How long, in seconds, a step may stay in a state before it counts as stuck.
DEFAULT_LIMITS: Mapping[str, float] = {
    "claimed": 900,
    "failed": 3_600,
    "uncertain": 86_400,
    "compensating": 900,
    "compensation_failed": 3_600,
    "compensation_uncertain": 86_400,
}


@dataclass(frozen=True)
class TaskHistory:
    """All the ledger knows of one task.

    `repeats` counts steps that unwinds skipped because they were undone before; `references` are the addresses of the
    objects its rows point to.
    """

    task_id: str
    rows: tuple[StepRow, ...]
    transitions: tuple[Transition, ...]
    repeats: int = 0
    references: frozenset[str] = frozenset()


@dataclass(frozen=True)
class StuckStep:
    """A step that has been in `state` for `seconds`, longer than its limit."""

    task_id: str
    workflow_version: str
    step: str
    state: str
    seconds: float


@dataclass(frozen=True)
class Figures:
    """The six figures. Steps are counted by name, laps together (`Draft@2` is `Draft`).

    - `started` and `first_try`: steps by name, and how many of them were done at their first attempt
    - `recovered`: attempts that failed by nothing of business, of steps that were done in the end
    - `to_person`: attempts that ended with one of the business errors, or uncertain
    - `exhausted`: steps that stay failed by nothing of business, with nothing tried since for the limit of `failed`
    - `compensations`: done, failed, skipped as repeats
    - `stuck`: steps over the limit of their state
    """

    tasks: int
    started: Mapping[str, int]
    first_try: Mapping[str, int]
    recovered: int
    to_person: int
    exhausted: int
    compensations: Mapping[str, int]
    stuck: tuple[StuckStep, ...]


@dataclass(frozen=True)
class _Business:
    """Names of the errors that no retry helps: `to_person` a person decides, `refusals` the flow settles by itself."""

    to_person: frozenset[str] = frozenset()
    refusals: frozenset[str] = frozenset()


def figures_of(
    histories: Iterable[TaskHistory],
    now_ms: int,
    *,
    business_errors: Collection[str] = (),
    refusals: Collection[str] = (),
    limits: Mapping[str, float] = DEFAULT_LIMITS,
) -> Figures:
    """Compute the figures at `now_ms`; `limits` in seconds.

    `business_errors` are the error types that go to a person. `refusals` are those that a flow settles by itself: they
    count neither as an error nor as something that went to a person (assumption L17).
    """
    business = _Business(frozenset(business_errors), frozenset(refusals))
    count: Counter[str] = Counter()
    started: Counter[str] = Counter()
    first_try: Counter[str] = Counter()
    stuck: list[StuckStep] = []
    for history in histories:
        count["tasks"] += 1
        count["skipped"] += history.repeats
        for changes in _by_step(history.transitions):
            name = changes[0].step_name.partition("@")[0]
            started[name] += _happened(changes, Direction.FORWARD, "claimed")
            first_try[name] += any(c.to_status == "done" and c.attempt == 1 and not c.by for c in changes)
            count.update(_attempts(changes, business))
            found = _stuck(changes, now_ms, limits)
            stuck.extend(found)
            count["exhausted"] += sum(_exhausted(entry, changes[-1], business) for entry in found)
    compensations = {name: count[name] for name in ("done", "failed", "skipped")}
    return Figures(
        count["tasks"],
        dict(+started),
        dict(first_try),
        count["recovered"],
        count["to_person"],
        count["exhausted"],
        compensations,
        tuple(sorted(stuck, key=lambda entry: -entry.seconds)),
    )


def _by_step(transitions: Iterable[Transition]) -> list[list[Transition]]:
    steps: dict[tuple[str, str], list[Transition]] = {}
    for change in transitions:
        steps.setdefault((change.workflow_version, change.step_name), []).append(change)
    return list(steps.values())


def _happened(changes: list[Transition], direction: Direction, to_status: str) -> bool:
    return any(change.direction is direction and change.to_status == to_status for change in changes)


def _attempts(changes: list[Transition], business: _Business) -> Counter[str]:
    count: Counter[str] = Counter()
    done = _happened(changes, Direction.FORWARD, "done")
    for change in changes:
        ended_badly = change.to_status in ("failed", "uncertain") and not change.by
        to_person = change.to_status == "uncertain" or change.error_type in business.to_person
        count["to_person"] += ended_badly and to_person
        count["recovered"] += ended_badly and done and not to_person and change.error_type not in business.refusals
        count["done"] += change.to_status == "compensated"
        count["failed"] += change.to_status in ("compensation_failed", "compensation_uncertain")
    return count


def _stuck(changes: list[Transition], now_ms: int, limits: Mapping[str, float]) -> list[StuckStep]:
    last = changes[-1]
    seconds = (now_ms - last.timestamp) / 1000
    if seconds <= limits.get(last.to_status, float("inf")):
        return []
    return [StuckStep(last.task_id, last.workflow_version, last.step_name, last.to_status, seconds)]


def _exhausted(stuck: StuckStep, last: Transition, business: _Business) -> bool:
    return stuck.state == "failed" and last.error_type not in business.to_person | business.refusals
