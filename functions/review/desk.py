"""Everything that changes a review. The flow's handler, the page, the sweep and `scripts/review.py` all come here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from functions.clock import now_ms
from functions.cloudflow import CloudFlow
from functions.errors import ResultConflict, StepkeeperError
from functions.review import messages, rules
from functions.review.keys import Keys
from functions.review.links import Link, Links
from functions.review.model import Decision, Delivery, Report, Review, ReviewId, Seat, State, Vote
from functions.review.reporting import Flow, Found, How, deliver, look
from functions.review.seal import open_sealed, place, seal
from functions.review.store import Noted, Record, Reviews
from functions.settings import Settings, current
from ledger import Ledger

__all__ = ["Decided", "Desk"]


_MOST_TOKENS = 10
"""Tokens that are kept for a round: more attempts than any shipped flow makes."""


@dataclass(frozen=True)
class Decided:
    """Answer of `Desk.decide`: the review afterwards, and whether this call decided (False: it was so already)."""

    review: Review
    fresh: bool


class Desk:
    """Reviews of one deployment. Methods raise `ReviewError`s, what the ledger raises, and `InvalidInput`."""

    def __init__(
        self, settings: Settings, reviews: Reviews, flow: Callable[[], Flow], clock_ms: Callable[[], int] = now_ms
    ) -> None:
        self.settings = settings
        self.reviews = reviews
        self.clock_ms = clock_ms
        self._flow = flow

    @classmethod
    def open(cls, settings: Settings | None = None, clock_ms: Callable[[], int] = now_ms) -> Desk:
        """The desk where the environment says the ledger and CloudFlow are."""
        settings = settings or current()
        return cls(settings, Reviews(Ledger.open().entries), lambda: CloudFlow.of(settings), clock_ms)

    @property
    def keys(self) -> Keys:
        """The keys of links and tokens. Raises `ReviewKeysMissing`."""
        return Keys.of(self.settings)

    def open_round(self, review: Review, token: str) -> Record:
        """Keep a round and the token of this visit, before anybody is told; earlier rounds end here.

        Asked again with another token (a retry, another execution): that one counts from now on, and a decision that
        was taken meanwhile is due once more. Raises `ResultConflict` for another draft in the same round.
        """
        sealed = seal(self.keys, token, place(review.id))
        if self.reviews.create(review, sealed, Noted("opened", text=f"round {review.round}")):
            self._end_earlier(review)
        return self.reviews.change(
            review.id,
            lambda record: self._renewed(record, review, token, sealed),
            lambda _: Noted("asked_again", text="a new token"),
        )

    def find(self, link: Link) -> Record:
        """The review of a link. Raises `ReviewUnknown`."""
        return self.reviews.find(link.review)

    def read_link(self, text: str) -> Link:
        """The link of an address's last segment. Raises `LinkForged`, `LinkExpired`."""
        return Links(self.keys).read(text, self.clock_ms() // 1000)

    def decide(self, where: ReviewId, seat: int, decision: Decision, by: str, comment: str, door: str) -> Decided:
        """Take a decision, durably, and report it to CloudFlow. The first one counts; the same again is quiet.

        Raises `ReviewConflict`, `ReviewOver`, `InvalidInput`. A report that could not be delivered stays due; the sweep
        delivers it.
        """
        vote = Vote(seat=seat, decision=decision, by=by, comment=comment.strip(), at_ms=self.clock_ms(), door=door)
        fresh = False

        def cast(record: Record) -> tuple[Review, str] | None:
            nonlocal fresh
            answer = rules.voted(record.review, vote)
            fresh = answer.fresh
            return (answer.review, record.sealed) if answer.fresh else None

        record = self.reviews.change(where, cast, lambda review: _voted(review, vote))
        if record.review.report.delivery is Delivery.DUE:
            record = self.deliver(record)
        return Decided(record.review, fresh)

    def deliver(self, record: Record) -> Record:
        """Report a decision that is due. Quiet when the report fails: it stays due, with the reason."""
        review = record.review
        try:
            report = deliver(self._flow(), review, self._tokens(record), self._visit(review), self.clock_ms())
        except StepkeeperError as error:
            report = review.report.model_copy(update={"detail": error.message[:300], "at_ms": self.clock_ms()})
        if report.delivery is Delivery.DUE and report.detail == review.report.detail:
            return record

        def told(now: Record) -> tuple[Review, str] | None:
            if now.sealed != record.sealed or now.review.report.delivery is not Delivery.DUE:
                return None  # another visit has begun, or somebody else has reported meanwhile
            sealed = record.sealed if report.delivery is Delivery.DUE else ""
            return now.review.model_copy(update={"report": report}), sealed

        return self.reviews.change(
            review.id, told, lambda _: Noted(f"report_{report.delivery.value}", text=report.detail)
        )

    def reassign(self, where: ReviewId, seat: int, name: str, by: str) -> Review:
        """Hand a seat to somebody else and tell them; links sent before for this seat only show from now on."""
        record = self.reviews.change(
            where,
            lambda record: (rules.reassigned(record.review, seat, name), record.sealed),
            lambda review: Noted("reassigned", by, f"to {_seat(review, seat).name}"),
        )
        review, given = record.review, _seat(record.review, seat)
        key = f"{review.id.entry}/seat-{seat}/{given.generation}"
        messages.notify(self.settings, "review_reassigned", review, (given,), f"{review.task_id}/{key}")
        return review

    def viewed(self, review: Review, by: str, text: str) -> None:
        """Note that somebody looked."""
        self.reviews.viewed(review.id, Noted("viewed", by, text[:120]), self.clock_ms())

    def close(self, where: ReviewId, state: State, why: str) -> Review:
        """End a review without a decision; the token goes. One that is decided stays as it is."""

        def ended(record: Record) -> tuple[Review, str] | None:
            return (rules.closed(record.review, state, why, self.clock_ms()), "") if record.review.pending else None

        return self.reviews.change(where, ended, lambda _: Noted(state.value, text=why)).review

    def answered_elsewhere(self, where: ReviewId, found: Found) -> Review:
        """Write down that the flow was answered by other means than this desk."""
        output = found.output if isinstance(found.output, dict) else {}
        try:
            decision = Decision(str(output.get("decision", found.output)))
        except ValueError:
            return self.close(where, State.WITHDRAWN, "the flow was answered elsewhere")
        now = self.clock_ms()
        vote = Vote(
            seat=0,
            decision=decision,
            by=str(output.get("by", ""))[:200],
            comment=str(output.get("note", ""))[: rules.LONGEST_COMMENT],
            at_ms=now,
            door="elsewhere",
        )

        def taken(record: Record) -> tuple[Review, str] | None:
            if not record.review.pending:
                return None
            report = Report(delivery=Delivery.DONE, detail="answered elsewhere", at_ms=now)
            changed = {"state": State(decision.value), "decided": vote, "closed_ms": now, "report": report}
            return record.review.model_copy(update=changed), ""

        return self.reviews.change(
            where, taken, lambda _: Noted("decided", vote.by, f"{decision.value}, elsewhere")
        ).review

    def ask(self, review: Review) -> Found:
        """What CloudFlow says of the review's task."""
        try:
            return look(self._flow(), review, self._visit(review))
        except StepkeeperError:
            return Found(How.UNKNOWN)

    def _renewed(self, record: Record, review: Review, token: str, sealed: str) -> tuple[Review, str] | None:
        known = record.review
        if known.draft.sha256 != review.draft.sha256:
            raise ResultConflict(
                f"round {review.round} is about another draft already",
                key=review.id.entry,
                stored=known.draft.sha256,
                wanted=review.draft.sha256,
            )
        if known.state in (State.EXPIRED, State.WITHDRAWN):
            return None
        if token in self._tokens(record):
            return None
        fields: dict[str, object] = {"flow": review.flow, "execution": review.execution}
        if known.pending:
            fields |= {"expires_ms": review.expires_ms}
        kept = [sealed, *record.sealed.split()][:_MOST_TOKENS]
        return rules.due_again(known.model_copy(update=fields), self.clock_ms()), "\n".join(kept)

    def _tokens(self, record: Record) -> list[str]:
        """The tokens of a round, newest first. A worker that was given up may come late with an older one, so the
        order is no proof."""
        return [open_sealed(self.keys, one, place(record.review.id)) for one in record.sealed.split()]

    def _end_earlier(self, review: Review) -> None:
        for record in self.reviews.of_task(review.task_id, review.id.folder):
            if record.review.pending and record.review.round < review.round:
                self.close(record.review.id, State.WITHDRAWN, f"round {review.round} has begun")

    def _visit(self, review: Review) -> int:
        """How many earlier rounds this execution has been through: every visit of the state is a round."""
        base = review.step.split("@")[0]
        rounds = [record.review for record in self.reviews.of_task(review.task_id, review.id.folder)]
        same = [one for one in rounds if one.execution == review.execution and one.step.split("@")[0] == base]
        return sum(1 for one in same if one.round < review.round)


def _seat(review: Review, number: int) -> Seat:
    return review.seat(number) or Seat(number=number)


def _voted(review: Review, vote: Vote) -> Noted:
    kind = "decided" if review.decided is not None else "voted"
    return Noted(kind, vote.by, f"{vote.decision.value}, {vote.door}")
