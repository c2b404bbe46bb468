"""A decision's way to CloudFlow when answers get lost: settled by asking the history, never by guessing."""

from __future__ import annotations

from typing import Any

import pytest
from review_kit import NOW_MS, review, vote

from functions.cloudflow import Past, ReportRefused
from functions.errors import TemporaryUpstreamError
from functions.review import Review, Seat
from functions.review.model import Delivery
from functions.review.reporting import Found, How, deliver, look, output_of
from functions.review.rules import voted

USED = ReportRefused("used", code="TaskAlreadyCompleted")
LOST = TemporaryUpstreamError("no answer", upstream="cloudflow")


def decided(**more: Any) -> Review:
    return voted(review(flow="content_review", execution="e", **more), vote(comment="fine")).review


class Told:
    """A CloudFlow that answers each report as it is told to, and whose history is what it is told."""

    def __init__(self, *answers: Exception | None, history: list[Past] | Exception = ()) -> None:  # type: ignore[assignment]
        self.answers, self.past = list(answers), history
        self.tokens: list[str] = []
        self.outputs: list[dict[str, Any]] = []

    def succeed(self, token: str, output: dict[str, Any]) -> None:
        self.tokens.append(token)
        self.outputs.append(output)
        answer = self.answers.pop(0)
        if answer is not None:
            raise answer

    def history(self, flow: str, execution: str) -> list[Past]:
        if isinstance(self.past, Exception):
            raise self.past
        return list(self.past)


def story(*events: tuple[str, str] | tuple[str, str, dict[str, Any]]) -> list[Past]:
    """A history: (type, state[, detail]), numbered."""
    return [Past(n, one[0], one[1], one[2] if len(one) > 2 else {}) for n, one in enumerate(events, start=1)]


WAITING = story(
    ("ExecutionStarted", ""),
    ("StepEntered", "HumanReview"),
    ("TaskScheduled", "HumanReview"),
    ("TaskSubmitted", "HumanReview"),
)


def ended(kind: str, detail: dict[str, Any] | None = None) -> list[Past]:
    return [*WAITING, Past(9, kind, "HumanReview", detail or {}), Past(10, "StepExited", "HumanReview", {})]


def test_a_report_that_is_taken_is_done_at_once() -> None:
    flow = Told(None)
    report = deliver(flow, decided(), ["token"], 0, NOW_MS)
    assert (report.delivery, flow.tokens) == (Delivery.DONE, ["token"])
    assert flow.outputs[0] == {"decision": "approved", "note": "fine", "by": "Lin", "receipt": report.receipt}


def test_a_lost_answer_is_settled_by_the_receipt_in_the_history() -> None:
    one = decided()
    flow = Told(LOST, history=ended("TaskSucceeded", {"output": output_of(one)}))
    report = deliver(flow, one, ["token"], 0, NOW_MS)
    assert (report.delivery, len(flow.tokens)) == (Delivery.DONE, 1)


def test_a_lost_report_is_sent_again_when_the_history_does_not_have_it() -> None:
    flow = Told(LOST, None, history=WAITING)
    assert deliver(flow, decided(), ["token"], 0, NOW_MS).delivery is Delivery.DONE
    assert flow.tokens == ["token", "token"]


@pytest.mark.parametrize("history", [WAITING, LOST])
def test_a_report_that_nobody_takes_stays_due(history: Any) -> None:
    report = deliver(Told(LOST, LOST, history=history), decided(), ["token"], 0, NOW_MS)
    assert (report.delivery, report.detail) == (Delivery.DUE, "no answer")


def test_a_used_token_with_our_receipt_was_our_own_report() -> None:
    one = decided()
    flow = Told(USED, history=ended("TaskSucceeded", {"output": output_of(one)}))
    assert deliver(flow, one, ["token"], 0, NOW_MS).delivery is Delivery.DONE


@pytest.mark.parametrize(
    ("history", "said"),
    [
        (ended("TaskTimedOut"), "stopped waiting"),
        (ended("TaskSucceeded", {"output": {"decision": "rejected"}}), "answered elsewhere: rejected"),
        (ended("TaskSucceeded", {"output": {"decision": "<b>"}}), "with something else"),
        (ended("TaskFailed", {"error": "X"}), "answered elsewhere"),
        ([*WAITING, Past(9, "ExecutionStopped", "", {})], "execution is over"),
    ],
)
def test_a_used_token_without_it_is_refused_and_says_what_happened(history: list[Past], said: str) -> None:
    report = deliver(Told(USED, history=history), decided(), ["token"], 0, NOW_MS)
    assert report.delivery is Delivery.REFUSED
    assert said in report.detail


def test_a_token_of_an_attempt_that_is_over_gives_way_to_the_next() -> None:
    flow = Told(USED, None, history=WAITING)
    assert deliver(flow, decided(), ["late", "alive"], 0, NOW_MS).delivery is Delivery.DONE
    assert flow.tokens == ["late", "alive"]


def test_no_token_at_all_leaves_it_due() -> None:
    assert deliver(Told(USED, USED, history=WAITING), decided(), ["a", "b"], 0, NOW_MS).delivery is Delivery.DUE


def test_only_the_visit_of_this_round_is_looked_at() -> None:
    first = [*ended("TaskSucceeded", {"output": {"decision": "more_info"}})]
    second = [Past(20, "StepEntered", "HumanReview", {}), Past(21, "TaskSubmitted", "HumanReview", {})]
    one = review(flow="f", execution="e")
    assert look(Told(history=[*first, *second]), one, 0) == Found(How.ELSEWHERE, {"decision": "more_info"})
    assert look(Told(history=[*first, *second]), one, 1) == Found(How.WAITING)


def test_a_failed_attempt_that_is_tried_again_still_waits() -> None:
    again = [*WAITING, Past(9, "TaskFailed", "HumanReview", {}), Past(10, "TaskScheduled", "HumanReview", {})]
    assert look(Told(history=again), review(flow="f", execution="e"), 0).how is How.WAITING


def test_who_cannot_be_asked_says_nothing() -> None:
    gone = ReportRefused("gone", code="ExecutionNotExists")
    assert look(Told(history=gone), review(flow="f", execution="e"), 0).how is How.UNKNOWN
    assert look(Told(history=WAITING), review(), 0).how is How.UNKNOWN


def test_two_reviewers_stand_both_in_the_output() -> None:
    both = review(approvals=2, seats=(Seat(number=1), Seat(number=2)))
    one = voted(both, vote(seat=1, by="Lin", comment="ok")).review
    after = voted(one, vote(seat=2, by="Mei", comment="me too")).review
    assert {key: output_of(after)[key] for key in ("by", "note")} == {"by": "Lin, Mei", "note": "ok\n\nme too"}
    with pytest.raises(ValueError, match="nothing is decided"):
        output_of(review())
