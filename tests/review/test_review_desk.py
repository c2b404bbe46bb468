"""The desk over the real ledger: tokens, rounds, withdrawal, races, and what time does (the sweep)."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from review_kit import DAY_MS, Town, review

from functions.cloudflow import Past
from functions.errors import ResultConflict
from functions.models import PayloadRef
from functions.review import (
    Decision,
    Desk,
    Review,
    ReviewConflict,
    ReviewKeysMissing,
    ReviewOver,
    ReviewUnknown,
    Seat,
    State,
    sweep,
)
from functions.review.model import Delivery
from functions.review.reporting import output_of
from functions.review.sweeping import Swept
from ledger import Ledger

pytestmark = pytest.mark.xdist_group("review")


class Waits:
    """A CloudFlow whose one task waits until it is told, or until the test ends it."""

    def __init__(self) -> None:
        self.past: list[Past] = []
        self.told: list[str] = []
        self.add("ExecutionStarted", "")
        self.add("StepEntered")
        self.add("TaskSubmitted")

    def add(self, kind: str, step: str = "HumanReview", **detail: Any) -> None:
        self.past.append(Past(len(self.past) + 1, kind, step, detail))

    def succeed(self, token: str, output: dict[str, Any]) -> None:
        self.told.append(token)
        self.add("TaskSucceeded", output=output)

    def history(self, flow: str, execution: str) -> list[Past]:
        return self.past


class Time:
    """The desk's clock."""

    def __init__(self) -> None:
        from functions.clock import now_ms

        self.now = now_ms()

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def flow() -> Waits:
    return Waits()


@pytest.fixture
def desk(town: Town, flow: Waits, time: Time) -> Desk:
    from functions.review.store import Reviews
    from functions.settings import current

    return Desk(current(), Reviews(Ledger.open().entries), lambda: flow, time)


def opened(desk: Desk, task: str, time: Time, **more: Any) -> Review:
    """A round that has just begun and lasts a week."""
    fields = {"flow": "content_review", "execution": task, "opened_ms": time.now, "expires_ms": time.now + 7 * DAY_MS}
    return review(task_id=task, **{**fields, **more})


@pytest.fixture
def task() -> str:
    import uuid

    return "t-" + uuid.uuid4().hex[:10]


def ours(done: Swept) -> dict[str, int]:
    return done.done


def test_a_token_is_sealed_in_the_ledger_and_gone_once_it_is_used(
    desk: Desk, flow: Waits, time: Time, task: str
) -> None:
    one = opened(desk, task, time)
    desk.open_round(one, "the-token")
    entry = desk.reviews.find(one.id).entry
    assert "the-token" not in repr(entry)
    desk.decide(one.id, 1, Decision.APPROVED, "Lin", "", "page")
    assert (flow.told, desk.reviews.find(one.id).sealed) == (["the-token"], "")


def test_opening_again_with_the_same_token_changes_nothing(desk: Desk, time: Time, task: str) -> None:
    one = opened(desk, task, time)
    first = desk.open_round(one, "a")
    assert desk.open_round(one, "a").entry.revision == first.entry.revision == 1
    assert desk.open_round(one, "b").entry.revision == 2


def test_a_late_worker_with_an_older_token_does_not_keep_the_decision_from_its_flow(
    desk: Desk, flow: Waits, time: Time, task: str
) -> None:
    from functions.cloudflow import ReportRefused

    one = opened(desk, task, time)
    desk.open_round(one, "alive")
    desk.open_round(one, "late")
    taken = flow.succeed

    def only_alive(token: str, output: dict[str, Any]) -> None:
        if token != "alive":
            raise ReportRefused("over", code="TaskAlreadyCompleted")
        taken(token, output)

    flow.succeed = only_alive  # type: ignore[method-assign]
    assert desk.decide(one.id, 1, Decision.APPROVED, "Lin", "", "page").review.report.delivery is Delivery.DONE
    assert flow.told == ["alive"]


def test_another_draft_in_the_same_round_is_refused(desk: Desk, time: Time, task: str) -> None:
    one = opened(desk, task, time)
    desk.open_round(one, "a")
    other = one.model_copy(update={"draft": PayloadRef(uri="oss://bucket/draft.md", size=3, sha256="c" * 64)})
    with pytest.raises(ResultConflict):
        desk.open_round(other, "b")


def test_a_later_round_ends_the_one_before(desk: Desk, time: Time, task: str) -> None:
    one = opened(desk, task, time)
    desk.open_round(one, "a")
    desk.open_round(opened(desk, task, time, step="HumanReview@2", round=2), "b")
    earlier = desk.reviews.find(one.id)
    assert (earlier.review.state, earlier.review.closed_why, earlier.sealed) == (
        State.WITHDRAWN,
        "round 2 has begun",
        "",
    )
    with pytest.raises(ReviewOver):
        desk.decide(one.id, 1, Decision.APPROVED, "Lin", "", "page")


def test_a_flow_that_asks_again_after_the_decision_is_told_the_same(
    desk: Desk, flow: Waits, time: Time, task: str
) -> None:
    one = opened(desk, task, time)
    desk.open_round(one, "a")
    desk.decide(one.id, 1, Decision.REJECTED, "Lin", "", "page")
    flow.past = flow.past[:3]
    desk.open_round(opened(desk, task, time, execution=f"{task}-again"), "b")
    assert desk.reviews.find(one.id).review.report.delivery is Delivery.DUE
    assert ours(sweep(desk)).get("delivered", 0) >= 1
    assert flow.told == ["a", "b"]


def test_eight_at_once_leave_one_decision(desk: Desk, flow: Waits, time: Time, task: str) -> None:
    one = opened(desk, task, time)
    desk.open_round(one, "a")
    answers: list[Any] = []

    def say(number: int) -> None:
        try:
            decision = list(Decision)[number % 3]
            answers.append(desk.decide(one.id, 1, decision, f"p{number}", "why", "page"))
        except ReviewConflict as error:
            answers.append(error)

    threads = [threading.Thread(target=say, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    final = desk.reviews.find(one.id).review
    assert len(answers) == 8
    assert sum(getattr(answer, "fresh", False) for answer in answers) == 1
    refused = {answer.by for answer in answers if isinstance(answer, ReviewConflict)}
    assert refused <= {final.decided and final.decided.by}
    (told,) = [event.detail["output"] for event in flow.past if "output" in event.detail][:1]
    assert told["receipt"] == final.report.receipt
    assert output_of(final)["by"] == final.decided.by  # type: ignore[union-attr]


def test_what_was_decided_stays_when_the_task_is_undone_and_what_was_not_is_withdrawn(
    desk: Desk, time: Time, task: str
) -> None:
    one, two = opened(desk, task, time), opened(desk, f"{task}-b", time)
    for each in (one, two):
        desk.open_round(each, "a")
    desk.decide(one.id, 1, Decision.REJECTED, "Lin", "", "page")
    assert desk.close(one.id, State.WITHDRAWN, "undone").state is State.REJECTED
    assert desk.close(two.id, State.WITHDRAWN, "undone").state is State.WITHDRAWN
    assert desk.close(two.id, State.WITHDRAWN, "undone").closed_why == "undone"


def test_an_unknown_review_is_said(desk: Desk, time: Time) -> None:
    with pytest.raises(ReviewUnknown):
        desk.reviews.find(opened(desk, "nobody", time).id)


def test_without_the_key_a_decision_is_kept_and_its_report_waits_for_the_key(
    desk: Desk, flow: Waits, time: Time, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from functions.review.store import Reviews
    from functions.settings import current

    one = opened(desk, task, time)
    desk.open_round(one, "a")
    monkeypatch.setenv("STEPKEEPER_REVIEW_KEYS", "another-" + "k" * 40)
    keyless = Desk(current(), Reviews(Ledger.open().entries), lambda: flow, time)
    kept = keyless.decide(one.id, 1, Decision.APPROVED, "Lin", "", "page").review
    assert (kept.state, kept.report.delivery, flow.told) == (State.APPROVED, Delivery.DUE, [])
    assert "not in STEPKEEPER_REVIEW_KEYS" in kept.report.detail
    desk.deliver(desk.reviews.find(one.id))
    assert flow.told == ["a"]
    monkeypatch.setenv("STEPKEEPER_REVIEW_KEYS", "")
    with pytest.raises(ReviewKeysMissing):
        Desk.open().open_round(opened(desk, f"{task}-c", time), "a")


def test_a_review_is_reminded_of_once_then_escalated_once_then_expired(
    town: Town, desk: Desk, flow: Waits, time: Time, task: str
) -> None:
    one = opened(desk, task, time, seats=(Seat(number=1, name="Lin"), Seat(number=2, name="Mei")), approvals=2)
    desk.open_round(one, "a")
    desk.decide(one.id, 1, Decision.APPROVED, "Lin", "", "page")
    for ahead, kinds in (
        (5 * DAY_MS, []),
        (6 * DAY_MS + 1, ["review_reminder"]),
        (6 * DAY_MS + 2, ["review_reminder"]),
        (7 * DAY_MS - 3_600_000, ["review_escalated", "review_reminder"]),
        (7 * DAY_MS - 3_500_000, ["review_escalated", "review_reminder"]),
    ):
        time.now = one.opened_ms + ahead
        sweep(desk)
        assert sorted(notice["kind"] for notice in town.notices(task)) == kinds
    (reminder,) = town.notices(task, "review_reminder")
    links = [line for line in reminder["lines"] if line.startswith("Review page")]
    assert len(links) == 1, "who has voted is not reminded"
    assert links[0].startswith("Review page (Mei): http")
    time.now = one.expires_ms + 1
    sweep(desk)
    assert desk.reviews.find(one.id).review.pending, "the flow's own clock may be a little behind"
    time.now = one.expires_ms + 60_000
    sweep(desk)
    ended = desk.reviews.find(one.id)
    assert (ended.review.state, ended.sealed) == (State.EXPIRED, "")


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (("TaskTimedOut", {}), State.EXPIRED),
        (("TaskSucceeded", {"output": {"decision": "approved", "by": "Wang", "note": "by phone"}}), State.APPROVED),
        (("TaskSucceeded", {"output": "rejected"}), State.REJECTED),
        (("TaskSucceeded", {"output": {"decision": "?"}}), State.WITHDRAWN),
        (("ExecutionStopped", {}), State.WITHDRAWN),
    ],
)
def test_nobody_is_reminded_of_what_is_over_elsewhere(
    town: Town, desk: Desk, flow: Waits, time: Time, task: str, end: tuple[str, dict[str, Any]], state: State
) -> None:
    one = opened(desk, task, time)
    desk.open_round(one, "a")
    flow.add(end[0], "" if end[0].startswith("Exec") else "HumanReview", **end[1])
    flow.add("StepExited")
    time.now = one.expires_ms - DAY_MS + 1
    sweep(desk)
    now = desk.reviews.find(one.id).review
    assert (now.state, town.notices(task)) == (state, [])
    if state is State.APPROVED:
        assert now.decided is not None
        assert (now.decided.by, now.decided.comment, now.decided.door) == ("Wang", "by phone", "elsewhere")


def test_the_timers_handler_says_what_it_did(town: Town) -> None:
    import json

    from functions.handlers.review_sweep import handler

    done = json.loads(handler(b'{"triggerName": "every-five-minutes"}', None))
    assert set(done) == {"done", "problems"}


def test_every_view_and_every_decision_is_on_the_trail(desk: Desk, time: Time, task: str) -> None:
    one = opened(desk, task, time)
    desk.open_round(one, "a")
    for _ in range(3):
        desk.viewed(one, "Lin", "a browser")
    desk.decide(one.id, 1, Decision.MORE_INFO, "Lin", "which?", "page")
    views = desk.reviews.views(one.id)
    assert [(noted.kind, noted.by, noted.text) for noted in views] == [("viewed", "Lin", "a browser")] * 3
    assert all(noted.at_ms > 0 for noted in views)
    trail = [(noted.kind, noted.by, noted.text) for noted in desk.reviews.find(one.id).trail]
    assert trail[:2] == [("opened", "", "round 1"), ("decided", "Lin", "more_info, page")]
    assert trail[2][0] == "report_done"
