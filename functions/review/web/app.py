"""The pages and what their forms do. GET only shows; POST decides, once (case C44)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from functions.errors import InvalidInput, StepkeeperError
from functions.faults import typed
from functions.payloads import Payloads
from functions.review.desk import Desk
from functions.review.errors import (
    LinkExpired,
    LinkForged,
    LinkSuperseded,
    ReviewConflict,
    ReviewOver,
    ReviewUnknown,
)
from functions.review.links import Link, Scope
from functions.review.model import Decision, Review
from functions.review.rules import LONGEST_COMMENT, LONGEST_NAME, check_seat
from functions.review.store import Record
from functions.review.web.envelope import Request, Response, read_request, write_response
from functions.review.web.guard import HEADERS, Allowance, FormTokens, foreign
from functions.review.web.render import policy, render
from functions.review.web.view import Sources, Typed, document_text, draft_text, page_of
from functions.review.web.words import Words, choose
from functions.settings import current
from ledger import Ledger

__all__ = ["HEAVIEST", "Pages", "respond"]

HEAVIEST = 150_000
"""Bytes of the heaviest page; texts are cut until it fits."""
_SHARES = (48_000, 24_000, 8_000, 2_000, 500)
_PATH = re.compile(r"(?:^|/)r/([^/]{1,2100})(?:/(document\.txt|draft\.txt|hand))?/?$")
_SCOPES = {
    Decision.APPROVED: Scope.APPROVE,
    Decision.REJECTED: Scope.REJECT,
    Decision.MORE_INFO: Scope.MORE_INFO,
}


@dataclass(frozen=True)
class _Visit:
    """One request on its way: its link's text and meaning, what of it is wanted, and the reader's language."""

    request: Request
    text: str
    part: str
    link: Link
    words: Words

    @property
    def address(self) -> str:
        """The review's address as seen from the request's own."""
        return f"../{self.text}" if self.part else self.text


class Pages:
    """Answers requests. `desk` and `payloads` are opened for each one: settings and credentials may have changed."""

    def __init__(self, desk: Callable[[], Desk], payloads: Callable[[], Payloads]) -> None:
        self._open, self._payloads = desk, payloads
        self._looks = Allowance(burst=60, per_minute=120)
        self._posts = Allowance(burst=10, per_minute=20)
        self._tries = Allowance(burst=30, per_minute=30)

    def answer(self, request: Request) -> Response:
        """Answer one request, whatever is wrong with it."""
        words = choose(request.query.get("lang", ""), request.headers.get("accept-language", ""))
        try:
            response = self._answer(request, words)
        except LinkForged:
            response = _gone(403, words, words("gone_title"), words("gone_forged"))
        except LinkExpired as error:
            moment = words.moment(error.expired_s * 1000)
            response = _gone(410, words, words("gone_expired_title"), words("gone_expired", moment))
        except ReviewUnknown:
            response = _gone(404, words, words("gone_title"), words("gone_unknown"))
        except InvalidInput:
            response = _gone(400, words, words("gone_title"), words("gone_method"))
        except Exception as error:  # noqa: BLE001 (a browser has to be told something)
            named = typed(error)
            _log(named)
            status = 503 if named.retryable else 500
            response = _gone(status, words, words("gone_trouble_title"), words("gone_trouble"))
        body = "" if request.method == "HEAD" else response.body
        common = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": policy(),
            "Vary": "Accept-Language",
        }
        return Response(response.status, body, {**common, **HEADERS, **response.headers})

    def _answer(self, request: Request, words: Words) -> Response:
        found = _PATH.search(request.path)
        if found is None:
            return _gone(404, words, words("gone_title"), words("gone_forged"))
        desk, text, part = self._open(), found.group(1), found.group(2) or ""
        if (seconds := self._wait(desk, request, text)) > 0:
            slow = words("gone_slow", seconds)
            return _gone(429, words, words("gone_slow_title"), slow, {"Retry-After": str(seconds)})
        visit = _Visit(request, text, part, desk.read_link(text), words)
        if request.method in ("GET", "HEAD") and part != "hand":
            return self._text(desk, visit) if part else self._show(desk, visit)
        if request.method == "POST" and part in ("", "hand"):
            return self._post(desk, visit)
        return _gone(
            405,
            words,
            words("gone_title"),
            words("gone_method"),
            {"Allow": "POST" if part == "hand" else "GET, HEAD, POST"},
        )

    def _wait(self, desk: Desk, request: Request, text: str) -> int:
        """Seconds to wait. A link of ours is counted for itself, since many readers may share an address; tries with
        others are counted for the address they come from."""
        try:
            desk.read_link(text)
        except LinkForged:
            return self._tries.wait_s(request.source, desk.clock_ms())
        except LinkExpired:
            pass
        allowance = self._posts if request.method == "POST" else self._looks
        return allowance.wait_s(text, desk.clock_ms())

    def _show(self, desk: Desk, visit: _Visit, status: int = 200, typed_in: Typed = Typed()) -> Response:  # noqa: B008
        record = desk.find(visit.link)
        if visit.request.method == "GET":
            desk.viewed(record.review, _who(record.review, visit.link), visit.request.headers.get("user-agent", ""))
        sources = self._sources(desk, record)
        form = FormTokens(desk.keys).make(visit.text, desk.clock_ms() // 1000)
        for share in _SHARES:
            page = page_of(
                sources,
                visit.link,
                visit.words,
                desk.clock_ms(),
                address=visit.address,
                form=form,
                typed=typed_in,
                bytes_each=share,
            )
            body = render("review.html", visit.words, page=page)
            if len(body.encode()) <= HEAVIEST:
                break
        return Response(status, body)

    def _sources(self, desk: Desk, record: Record) -> Sources:
        review, payloads = record.review, self._payloads()
        rounds = desk.reviews.of_task(review.task_id, review.id.folder)
        earlier = [one.review for one in rounds if one.review.round < review.round]
        before = _readable(lambda: draft_text(payloads, earlier[-1])) if earlier else None
        return Sources(
            record=record,
            rounds=rounds,
            views=desk.reviews.views(review.id),
            rows=Ledger.open().rows(review.task_id),
            document=_readable(lambda: document_text(payloads, review)),
            draft=_readable(lambda: draft_text(payloads, review)),
            before=before if isinstance(before, str) else None,
            before_round=earlier[-1].round if earlier else 0,
        )

    def _text(self, desk: Desk, visit: _Visit) -> Response:
        review = desk.find(visit.link).review
        desk.viewed(review, _who(review, visit.link), visit.part)
        read = draft_text if visit.part == "draft.txt" else document_text
        return Response(200, read(self._payloads(), review), {"Content-Type": "text/plain; charset=utf-8"})

    def _post(self, desk: Desk, visit: _Visit) -> Response:
        fields = visit.request.form()
        if fields.get("lang"):
            visit = _Visit(visit.request, visit.text, visit.part, visit.link, choose(fields["lang"], ""))
        typed_in = Typed(fields.get("comment", "")[:LONGEST_COMMENT], fields.get("name", "")[:LONGEST_NAME])
        words = visit.words
        if foreign(visit.request):
            return self._again(desk, visit, 403, typed_in, words("error_site"))
        if not FormTokens(desk.keys).good(fields.get("form", ""), visit.text, desk.clock_ms() // 1000):
            return self._again(desk, visit, 403, typed_in, words("error_form"))
        try:
            self._hand(desk, visit, fields) if visit.part else self._decide(desk, visit, fields)
        except ReviewConflict as error:
            said = words(f"state_{error.decision}")
            alert = words("error_conflict", error.by or words("reviewer"), said, words.moment(error.at_ms))
            return self._again(desk, visit, 409, typed_in, alert)
        except ReviewOver as error:
            return self._again(desk, visit, 410, typed_in, words("error_over", words(f"state_{error.state}")))
        except LinkSuperseded as error:
            alert = words("handed", error.holder) if error.holder else words("read_only")
            return self._again(desk, visit, 403, typed_in, alert)
        except InvalidInput as error:
            return self._again(desk, visit, 422, typed_in, words(_alert_of(error), LONGEST_COMMENT))
        except StepkeeperError as error:
            if not error.retryable:
                raise
            return self._again(desk, visit, 503, typed_in, words("error_busy"))
        return Response(303, "", {"Location": f"{visit.address}?lang={words.language}"})

    def _again(self, desk: Desk, visit: _Visit, status: int, typed_in: Typed, alert: str) -> Response:
        return self._show(desk, visit, status, Typed(typed_in.comment, typed_in.name, alert))

    def _decide(self, desk: Desk, visit: _Visit, fields: dict[str, str]) -> None:
        try:
            decision = Decision(fields.get("decision", ""))
        except ValueError as error:
            raise InvalidInput("no decision", path="decision", reason="not a decision") from error
        review = desk.find(visit.link).review
        seat = check_seat(review, visit.link.seat, visit.link.generation)
        if _SCOPES[decision] not in visit.link.scope:
            raise LinkSuperseded("this link may not do that")
        by = seat.name or " ".join(fields.get("name", "").split())[:LONGEST_NAME] or _who(review, visit.link)
        desk.decide(review.id, seat.number, decision, by, fields.get("comment", ""), "page")

    def _hand(self, desk: Desk, visit: _Visit, fields: dict[str, str]) -> None:
        review = desk.find(visit.link).review
        seat = check_seat(review, visit.link.seat, visit.link.generation)
        if Scope.REASSIGN not in visit.link.scope:
            raise LinkSuperseded("this link may not do that")
        desk.reassign(review.id, seat.number, fields.get("to", ""), _who(review, visit.link))


def respond(event: object) -> str:
    """Answer an event of an HTTP trigger with FC's form of an answer. Raises `InvalidInput` for any other event."""
    return write_response(_pages(os.getpid()).answer(read_request(event)))


@lru_cache(maxsize=1)
def _pages(process: int) -> Pages:
    """One for the process: the rate limit lives in it."""
    return Pages(lambda: Desk.open(current()), lambda: Payloads.open(current()))


def _who(review: Review, link: Link) -> str:
    seat = review.seat(link.seat)
    if seat is not None and seat.name and seat.generation == link.generation:
        return seat.name
    return f"reviewer {link.seat}" if len(review.seats) > 1 else "reviewer"


def _readable(read: Callable[[], str]) -> str | StepkeeperError:
    """A text, or why it cannot be shown: the decision must stay possible, or at least the page must say what is
    wrong."""
    try:
        return read()
    except StepkeeperError as error:
        return error


def _alert_of(error: InvalidInput) -> str:
    if error.path == "by":
        return "error_second"
    if error.path == "name":
        return "error_name"
    if error.path == "comment":
        return "error_long" if error.reason == "too long" else "error_comment"
    return "error_choice"


def _gone(status: int, words: Words, title: str, text: str, headers: dict[str, str] | None = None) -> Response:
    return Response(status, render("gone.html", words, title=title, text=text), headers or {})


def _log(error: StepkeeperError) -> None:
    import sys

    sys.stderr.write(f"review page: {type(error).__name__}: {error.message}\n")
