"""What reviewers are sent: a notice with a signed link for each seat. Never a callback token."""

from __future__ import annotations

from datetime import datetime, timezone

from functions.notices.base import NoticeKind
from functions.people import hint, tell
from functions.review.keys import Keys
from functions.review.links import EVERYTHING, LOOK_ONLY, Link, Links, Scope
from functions.review.model import Review, Seat
from functions.settings import Settings

__all__ = ["address", "link_of", "look_only", "notify", "request_lines"]

PATH = "r"
"""First segment of a link's path below the base URL."""
_TITLES: dict[NoticeKind, str] = {
    "review_requested": "Review wanted",
    "review_reassigned": "Review handed to you",
    "review_reminder": "Review still wanted",
    "review_escalated": "Review about to expire",
}


def link_of(settings: Settings, review: Review, seat: Seat, scope: frozenset[Scope] = EVERYTHING) -> str:
    """The address of a seat's link; "" without STEPKEEPER_REVIEW_BASE_URL."""
    if not settings.review_base_url:
        return ""
    link = Link(review.id, seat.number, seat.generation, scope, review.expires_ms // 1000)
    return address(settings, Links(Keys.of(settings)).make(link))


def address(settings: Settings, text: str) -> str:
    """Where a link's text is answered."""
    return f"{settings.review_base_url.rstrip('/')}/{PATH}/{text}"


def request_lines(settings: Settings, review: Review, seats: tuple[Seat, ...]) -> list[str]:
    """The lines of a notice about `review`, with the links of `seats`; each link ends its line."""
    until = datetime.fromtimestamp(review.expires_ms / 1000, tz=timezone.utc)
    lines = [
        f"Task: {review.task_id}",
        f"Round: {review.round}",
        f"Document: {review.name}",
        f"Draft: {review.draft.uri}",
        "Decisions: approved, rejected, more_info (with a note)",
        f"Until: {until:%Y-%m-%d %H:%M} UTC",
        f"Answer: {hint(settings, review.task_id, 'show')}",
    ]
    if review.approvals > 1:
        lines.append(f"Approvals needed: {review.approvals}")
    return lines + _links(settings, review, seats, EVERYTHING)


def notify(settings: Settings, kind: NoticeKind, review: Review, seats: tuple[Seat, ...], key: str) -> None:
    """Send a notice about `review`. `key` names it, so that sending it twice is sending it once where the sender can.

    Raises what senders raise.
    """
    lines = request_lines(settings, review, seats)
    if kind == "review_escalated":
        told = f" to {settings.review_escalate_to}" if settings.review_escalate_to else ""
        lines.insert(0, f"Escalated{told}: nobody has decided")
    tell(settings, kind, review.task_id, f"{_TITLES[kind]}: {review.title or review.name}", lines, key)


def look_only(settings: Settings, review: Review) -> str:
    """A link that shows the review and decides nothing."""
    return link_of(settings, review, review.seats[0], LOOK_ONLY)


def _links(settings: Settings, review: Review, seats: tuple[Seat, ...], scope: frozenset[Scope]) -> list[str]:
    found = []
    for seat in seats:
        link = link_of(settings, review, seat, scope)
        who = f" ({seat.name})" if seat.name else f" ({seat.number})" if len(review.seats) > 1 else ""
        if link:
            found.append(f"Review page{who}: {link}")
    return found
