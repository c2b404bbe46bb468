"""What the page shows of a review: plain values for the template, in the reader's language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone

from functions.errors import StepkeeperError
from functions.material import Limits, extract
from functions.payloads import Payloads
from functions.review.links import Link, Scope
from functions.review.model import Delivery, Review, State, Vote
from functions.review.rules import LONGEST_COMMENT
from functions.review.store import Noted, Record
from functions.review.web import diff
from functions.review.web.words import Words
from ledger import StepRow

__all__ = ["Item", "Page", "Shown", "Sources", "Typed", "document_text", "draft_text", "page_of"]

_MOST_ITEMS = 80


@dataclass(frozen=True)
class Shown:
    """A text on the page: its lines, and a line of explanation above them ("" for none)."""

    lines: Sequence[diff.Line]
    hint: str = ""


@dataclass(frozen=True)
class Item:
    """One line of the history: when (`at` for people, `iso` for machines), what, and what somebody wrote."""

    at_ms: int
    at: str
    iso: str
    what: str
    quote: str = ""


@dataclass(frozen=True)
class Typed:
    """What had been typed into a form that was refused, and why it was."""

    comment: str = ""
    name: str = ""
    alert: str = ""


@dataclass(frozen=True)
class Sources:
    """What a page is made of: the round, the other rounds of the task, its views, the ledger's rows, the texts.

    `document` and `draft` are texts, or the error that keeps them from being shown.
    """

    record: Record
    rounds: Sequence[Record]
    views: Sequence[Noted]
    rows: Sequence[StepRow]
    document: str | StepkeeperError
    draft: str | StepkeeperError
    before: str | None
    before_round: int = 0


@dataclass(frozen=True)
class Page:
    """The template's values."""

    heading: str
    name: str
    round: int
    state: str
    facts: Sequence[str]
    notes: Sequence[str]
    draft: Shown
    document: Shown
    trail: Sequence[Item]
    link: str
    other_tag: str
    open: bool
    may_hand: bool
    seat_name: str
    form: str
    longest: int = LONGEST_COMMENT
    alert: str = ""
    typed_comment: str = ""
    typed_name: str = ""
    decided: Vote | None = field(default=None, repr=False)


def page_of(
    sources: Sources, link: Link, words: Words, now_ms: int, *, address: str, form: str, typed: Typed, bytes_each: int
) -> Page:
    """The page for one reader. `bytes_each` limits how much of each text is shown."""
    review = sources.record.review
    seat = review.seat(link.seat)
    held = seat is not None and seat.generation == link.generation
    opened = review.pending and held and bool(link.scope) and review.voted(link.seat) is None
    return Page(
        heading=review.title or review.name,
        name=review.name,
        round=review.round,
        state=review.state.value,
        facts=_facts(review, words, now_ms, seat.name if seat else "", link),
        notes=_notes(sources, link, words),
        draft=_draft(sources, words, bytes_each),
        document=_document(sources.document, words, bytes_each),
        trail=_trail(sources, words),
        link=address,
        other_tag=Words(words.other).tag,
        open=opened and now_ms < review.expires_ms,
        may_hand=Scope.REASSIGN in link.scope,
        seat_name=seat.name if seat else "",
        form=form,
        alert=typed.alert,
        typed_comment=typed.comment,
        typed_name=typed.name,
    )


def draft_text(payloads: Payloads, review: Review) -> str:
    """The draft of a round. Raises what `Payloads.read` raises."""
    return payloads.read(review.draft).decode("utf-8", "replace")


def document_text(payloads: Payloads, review: Review) -> str:
    """The document as text: the prepared material where there is some, else taken out of the file."""
    if review.material is not None:
        return payloads.read_text(review.material)
    return extract(review.name, payloads.read(review.document), Limits.of(payloads.settings)).text


def _facts(review: Review, words: Words, now_ms: int, name: str, link: Link) -> list[str]:
    facts = [f"{words('task')} {review.task_id}"]
    if review.pending:
        facts += [words("until", words.moment(review.expires_ms)), words.left(review.expires_ms, now_ms)]
    if review.approvals > 1:
        facts.append(words("needed", len({vote.seat for vote in review.votes}), review.approvals))
    if name and link.scope:
        facts.append(words("as", name))
    return facts


def _notes(sources: Sources, link: Link, words: Words) -> list[str]:
    review, notes = sources.record.review, []
    if review.decided is not None:
        notes += _decided(review, review.decided, words)
    elif review.pending:
        notes += _pending(review, link, words)
    elif review.closed_why:
        notes.append(f"{words('state_' + review.state.value)}: {review.closed_why}")
    newest = max(record.review.round for record in sources.rounds)
    if newest > review.round:
        notes.append(words("later_round", newest, review.round))
    return notes


def _decided(review: Review, vote: Vote, words: Words) -> list[str]:
    who = vote.by or words("reviewer")
    notes = [words("decided_by", words("state_" + vote.decision.value), who, words.moment(vote.at_ms))]
    if review.report.delivery is Delivery.REFUSED:
        notes.append(words("delivery_refused", review.report.detail))
    elif review.report.delivery is not Delivery.NONE:
        notes.append(words(f"delivery_{review.report.delivery.value}"))
    return notes


def _pending(review: Review, link: Link, words: Words) -> list[str]:
    seat = review.seat(link.seat)
    if seat is not None and seat.generation != link.generation:
        return [words("handed", seat.name or words("somebody"))]
    if not link.scope:
        return [words("read_only")]
    if review.voted(link.seat) is not None:
        return [words("you_voted", review.approvals - len({vote.seat for vote in review.votes}))]
    return []


def _draft(sources: Sources, words: Words, most: int) -> Shown:
    if not isinstance(sources.draft, str):
        return Shown((), words("unreadable", sources.draft.message))
    text, cut = diff.clipped(sources.draft, most)
    hint = words("cut") if cut else ""
    if sources.before is None:
        return Shown(diff.lines(text), hint)
    marked = diff.changes(diff.clipped(sources.before, most)[0], text)
    same = all(line.kind == "same" for line in marked)
    told = words("draft_same" if same else "draft_changes", sources.before_round)
    return Shown(marked, " ".join(part for part in (told, hint) if part))


def _document(text: str | StepkeeperError, words: Words, most: int) -> Shown:
    if not isinstance(text, str):
        return Shown((), words("unreadable", text.message))
    shown, cut = diff.clipped(text, most)
    return Shown(diff.lines(shown), words("cut") if cut else "")


def _trail(sources: Sources, words: Words) -> list[Item]:
    """Steps, rounds and views in order of time; of very many the newest."""
    items = [_item(row.started_ms, words("step", f"{row.step} · {row.state}"), words) for row in sources.rows]
    for record in sources.rounds:
        about = words("round", record.review.round)
        items += [_noted(noted, about, record.review, words) for noted in record.trail]
    items += [_noted(noted, words("round", sources.record.review.round), None, words) for noted in sources.views]
    return sorted(items, key=lambda item: item.at_ms)[-_MOST_ITEMS:]


def _noted(noted: Noted, about: str, review: Review | None, words: Words) -> Item:
    what = [about, words(f"event_{noted.kind}"), noted.by]
    quote = ""
    if noted.kind in ("voted", "decided") and review is not None:
        decision = noted.text.split(",")[0]
        what[1] = words(f"state_{decision}") if decision in {state.value for state in State} else what[1]
        quote = next(
            (vote.comment for vote in _votes(review) if (vote.by, vote.decision.value) == (noted.by, decision)), ""
        )
    elif noted.kind == "reassigned":
        what.append(noted.text)
    return _item(noted.at_ms, " · ".join(part for part in what if part), words, quote)


def _votes(review: Review) -> Sequence[Vote]:
    return (*review.votes, *([review.decided] if review.decided else []))


def _item(at_ms: int, what: str, words: Words, quote: str = "") -> Item:
    iso = datetime.fromtimestamp(at_ms / 1000, tz=timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Item(at_ms, words.moment(at_ms), iso, what, quote)
