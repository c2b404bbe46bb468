"""A review: one round of one task, as it lies in the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict

from functions.models import PayloadRef

__all__ = ["DECISIONS", "Decision", "Delivery", "Report", "Review", "ReviewId", "Seat", "State", "Vote"]


class Decision(str, Enum):
    """What a reviewer may say; the values are the flow's own words."""

    APPROVED = "approved"
    REJECTED = "rejected"
    MORE_INFO = "more_info"


DECISIONS = tuple(one.value for one in Decision)


class State(str, Enum):
    """States of a review. `pending_review` is the only one that takes decisions."""

    PENDING = "pending_review"
    APPROVED = "approved"
    REJECTED = "rejected"
    MORE_INFO = "more_info"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class Delivery(str, Enum):
    """How far a decision has got: none yet, due, taken by CloudFlow, or refused because the flow had moved on."""

    NONE = "none"
    DUE = "due"
    DONE = "done"
    REFUSED = "refused"


@dataclass(frozen=True)
class ReviewId:
    """Which review: the task, the workflow's version, and the waiting step with its lap (`HumanReview@2`)."""

    task_id: str
    workflow: str
    step: str

    @property
    def entry(self) -> str:
        """Name of its row in the ledger."""
        return f"{self.folder}{self.step}"

    @property
    def folder(self) -> str:
        """What the rows of all rounds of this workflow begin with."""
        return f"review/{quote(self.workflow, safe='.-_~+:@')}/"

    @property
    def views(self) -> str:
        """What the rows of its views begin with."""
        return f"review-view/{quote(self.workflow, safe='.-_~+:@')}/{self.step}/"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Seat(_Model):
    """A place at the table: who holds it. `generation` rises when it is handed on, which ends the older links."""

    number: int
    name: str = ""
    generation: int = 1


class Vote(_Model):
    """What one reviewer said, when (ms since 1970), and over which door (`page`, `terminal`, `elsewhere`)."""

    seat: int
    decision: Decision
    by: str
    comment: str = ""
    at_ms: int
    door: str = "page"


class Report(_Model):
    """The decision's way to CloudFlow. `receipt` travels in the callback's Output, so that the history can tell our
    report from anybody else's."""

    delivery: Delivery = Delivery.NONE
    receipt: str = ""
    detail: str = ""
    at_ms: int = 0


class Review(_Model):
    """One round. `approvals` is how many different seats have to approve; times are ms since 1970, 0 for never."""

    task_id: str
    workflow: str
    step: str
    round: int
    state: State = State.PENDING
    flow: str = ""
    execution: str = ""
    name: str
    title: str = ""
    document: PayloadRef
    material: PayloadRef | None = None
    draft: PayloadRef
    approvals: int = 1
    seats: tuple[Seat, ...]
    votes: tuple[Vote, ...] = ()
    decided: Vote | None = None
    report: Report = Report()
    opened_ms: int
    expires_ms: int
    reminded_ms: int = 0
    escalated_ms: int = 0
    closed_ms: int = 0
    closed_why: str = ""

    @property
    def id(self) -> ReviewId:
        """Which review this is."""
        return ReviewId(self.task_id, self.workflow, self.step)

    @property
    def pending(self) -> bool:
        """Whether it waits for a decision."""
        return self.state is State.PENDING

    def seat(self, number: int) -> Seat | None:
        """The seat of that number."""
        return next((seat for seat in self.seats if seat.number == number), None)

    def voted(self, number: int) -> Vote | None:
        """What the seat has said in this round."""
        return next((vote for vote in self.votes if vote.seat == number), None)
