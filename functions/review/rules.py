"""What a vote, a hand-over, an end do to a review. Pure: a review in, a review or an error out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from functions.errors import InvalidInput
from functions.review.errors import LinkSuperseded, ReviewConflict, ReviewOver
from functions.review.model import Decision, Delivery, Report, Review, Seat, State, Vote

__all__ = ["LONGEST_COMMENT", "Cast", "check_seat", "closed", "due_again", "reassigned", "said", "voted"]

LONGEST_COMMENT = 4000
"""Characters of a comment."""
LONGEST_NAME = 80
_STATES = {
    Decision.APPROVED: State.APPROVED,
    Decision.REJECTED: State.REJECTED,
    Decision.MORE_INFO: State.MORE_INFO,
}
_WORDS = {"approved": "approved", "rejected": "rejected", "more_info": "sent back with questions"}


@dataclass(frozen=True)
class Cast:
    """The answer to a vote: the review afterwards, and whether this vote changed it (False: it was said before)."""

    review: Review
    fresh: bool


def voted(review: Review, vote: Vote) -> Cast:
    """The review with `vote`.

    Approvals are counted until there are enough; anything else closes the round at once. Raises `ReviewConflict` when
    another decision counts, `ReviewOver` when none can, `InvalidInput` for a comment that is missing or too long.
    """
    earlier = review.decided or review.voted(vote.seat)
    if earlier is not None:
        if earlier.decision is vote.decision:
            return Cast(review, fresh=False)
        raise ReviewConflict(said(earlier), decision=earlier.decision.value, by=earlier.by, at_ms=earlier.at_ms)
    if not review.pending:
        raise ReviewOver(f"the review is {review.state.value}: {review.closed_why}", state=review.state.value)
    if vote.at_ms >= review.expires_ms:
        raise ReviewOver("the time for this review is over", state=State.EXPIRED.value)
    _check_comment(vote)
    _check_person(review, vote)
    votes = (*review.votes, vote)
    if vote.decision is Decision.APPROVED and len({one.seat for one in votes}) < review.approvals:
        return Cast(review.model_copy(update={"votes": votes}), fresh=True)
    changed = {
        "votes": votes,
        "decided": vote,
        "state": _STATES[vote.decision],
        "closed_ms": vote.at_ms,
        "report": Report(delivery=Delivery.DUE, receipt=_receipt(review, vote), at_ms=vote.at_ms),
    }
    return Cast(review.model_copy(update=changed), fresh=True)


def check_seat(review: Review, number: int, generation: int) -> Seat:
    """The seat of a link. Raises `LinkSuperseded` when it was handed on."""
    seat = review.seat(number)
    if seat is None:
        raise LinkSuperseded("this link belongs to no reviewer of this round")
    if seat.generation != generation:
        raise LinkSuperseded(f"this review was handed to {seat.name or 'somebody else'}", holder=seat.name)
    return seat


def reassigned(review: Review, number: int, name: str) -> Review:
    """The review with the seat handed to `name`. Raises `ReviewOver`, `ReviewConflict` after the seat's vote,
    `InvalidInput` for a name that is none."""
    name = _clean_name(name)
    if not review.pending:
        raise ReviewOver(f"the review is {review.state.value} already", state=review.state.value)
    earlier = review.voted(number)
    if earlier is not None:
        raise ReviewConflict(said(earlier), decision=earlier.decision.value, by=earlier.by, at_ms=earlier.at_ms)
    if any(seat.number != number and seat.name == name for seat in review.seats):
        raise InvalidInput(f"{name} reviews this already", path="name", reason="has a seat")
    seats = tuple(
        Seat(number=seat.number, name=name, generation=seat.generation + 1) if seat.number == number else seat
        for seat in review.seats
    )
    return review.model_copy(update={"seats": seats})


def closed(review: Review, state: State, why: str, at_ms: int) -> Review:
    """The review ended without a decision; one that is decided stays as it is."""
    if not review.pending:
        return review
    return review.model_copy(update={"state": state, "closed_ms": at_ms, "closed_why": why})


def due_again(review: Review, at_ms: int) -> Review:
    """A decided review whose flow asks once more, with a new token: the same decision has to be told again."""
    if review.decided is None:
        return review
    report = review.report.model_copy(update={"delivery": Delivery.DUE, "detail": "", "at_ms": at_ms})
    return review.model_copy(update={"report": report})


def said(vote: Vote) -> str:
    """What a vote says, for people."""
    return f"{vote.by or 'a reviewer'} {_WORDS[vote.decision.value]} this round already"


def _receipt(review: Review, vote: Vote) -> str:
    text = "\0".join((*review.id.entry.split("/"), review.task_id, vote.decision.value, str(vote.at_ms), vote.by))
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _check_comment(vote: Vote) -> None:
    if len(vote.comment) > LONGEST_COMMENT:
        raise InvalidInput(
            f"the comment has {len(vote.comment)} characters; {LONGEST_COMMENT} are allowed",
            path="comment",
            reason="too long",
        )
    if vote.decision is Decision.MORE_INFO and not vote.comment.strip():
        raise InvalidInput("say in the comment what is missing", path="comment", reason="missing")


def _check_person(review: Review, vote: Vote) -> None:
    """Several approvals are wanted from several people, so one person does not fill two seats."""
    if vote.decision is Decision.APPROVED and any(one.by == vote.by for one in review.votes):
        raise InvalidInput(
            f"{vote.by} has approved already; somebody else has to", path="by", reason="another person is wanted"
        )


def _clean_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidInput(f"a name has 1 to {LONGEST_NAME} printable characters", path="name", reason="not a name")
    return name
