"""What time does to reviews: deliver what is due, remind, escalate, expire. A timer runs it; twice is harmless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from functions.errors import StepkeeperError
from functions.notices import kind_of_sender
from functions.notices.base import NoticeKind
from functions.review import messages
from functions.review.desk import Desk
from functions.review.model import Delivery, Review, State
from functions.review.reporting import How
from functions.review.store import Noted, Record

__all__ = ["Swept", "sweep"]

WINDOW_DAYS = 31
"""Days back that are looked at."""
_GRACE_MS = 60_000
_DAY_MS = 86_400_000


@dataclass(frozen=True)
class Swept:
    """What a sweep did, by kind (`delivered`, `reminded`, `escalated`, `expired`, `withdrawn`, `answered`), and what it
    could not do (`problems`, for the log)."""

    done: dict[str, int]
    problems: list[str] = field(default_factory=list)


def sweep(desk: Desk, days: int = WINDOW_DAYS) -> Swept:
    """Look at every review of the last `days` that is not at its end. One that fails does not keep the others."""
    now = desk.clock_ms()
    done: Counter[str] = Counter()
    problems: list[str] = []
    for record in desk.reviews.since(now - days * _DAY_MS, now):
        try:
            done.update(_one(desk, record, now))
        except StepkeeperError as error:  # noqa: PERF203 (one review's trouble is not the others')
            problems.append(f"{record.review.task_id} {record.review.step}: {error.message}")
    return Swept(dict(done), problems)


def _one(desk: Desk, record: Record, now: int) -> list[str]:
    review = record.review
    if review.report.delivery is Delivery.DUE:
        return ["delivered"] if desk.deliver(record).review.report.delivery is Delivery.DONE else []
    if not review.pending:
        return []
    step = _due(desk, review, now)
    if step is None:
        return []
    ended = _ended(desk, review, now)
    return ended if ended else step(desk, review, now)


Step = Callable[[Desk, Review, int], "list[str]"]


def _due(desk: Desk, review: Review, now: int) -> Step | None:
    """What is to be done at this time, the latest thing first."""
    left_s = (review.expires_ms - now) / 1000
    settings = desk.settings
    if left_s <= 0:
        return _expire
    if left_s <= settings.review_escalate_before and not review.escalated_ms:
        return _escalate
    if left_s <= settings.review_remind_before and not (review.reminded_ms or review.escalated_ms):
        return _remind
    return None


def _ended(desk: Desk, review: Review, now: int) -> list[str]:
    """Before anybody is troubled, ask whether the flow still waits."""
    found = desk.ask(review)
    if found.how is How.TIMED_OUT:
        desk.close(review.id, State.EXPIRED, "nobody decided in time")
        return ["expired"]
    if found.how is How.STOPPED:
        desk.close(review.id, State.WITHDRAWN, "the execution is over")
        return ["withdrawn"]
    if found.how is How.ELSEWHERE:
        desk.answered_elsewhere(review.id, found)
        return ["answered"]
    return []


def _expire(desk: Desk, review: Review, now: int) -> list[str]:
    # The flow's own clock decides; ours may be ahead of it by a little.
    if now < review.expires_ms + _GRACE_MS:
        return []
    desk.close(review.id, State.EXPIRED, "nobody decided in time")
    return ["expired"]


def _remind(desk: Desk, review: Review, now: int) -> list[str]:
    _tell_once(desk, review, "review_reminder", "reminded_ms", now)
    return ["reminded"]


def _escalate(desk: Desk, review: Review, now: int) -> list[str]:
    _tell_once(desk, review, "review_escalated", "escalated_ms", now)
    return ["escalated"]


def _tell_once(desk: Desk, review: Review, kind: NoticeKind, mark: str, now: int) -> None:
    """Tell the seats that have not voted. A sender with keys is told first and marked after, so that a crash between
    repeats a notice that is dropped; a robot is marked first, so that a crash between loses one reminder."""
    seats = tuple(seat for seat in review.seats if review.voted(seat.number) is None)
    key = f"{review.task_id}/{review.id.entry}/{kind}"

    ours = False

    def marked(record: Record) -> tuple[Review, str] | None:
        nonlocal ours
        ours = record.review.pending and not getattr(record.review, mark)
        return (record.review.model_copy(update={mark: now}), record.sealed) if ours else None

    keyed = kind_of_sender(desk.settings).keyed
    if keyed:
        messages.notify(desk.settings, kind, review, seats, key)
    desk.reviews.change(review.id, marked, lambda _: Noted(kind.removeprefix("review_")))
    if ours and not keyed:
        messages.notify(desk.settings, kind, review, seats, key)
