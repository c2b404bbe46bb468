"""What a vote does to a review: one decision counts, whatever comes in whatever order."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_kit import DAY_MS, NOW_MS, review, vote

from functions.errors import InvalidInput
from functions.review import LinkSuperseded, Review, ReviewConflict, ReviewOver, Seat, State
from functions.review.model import DECISIONS, Delivery
from functions.review.rules import LONGEST_COMMENT, check_seat, closed, due_again, reassigned, voted

TWO = {"approvals": 2, "seats": (Seat(number=1, name="Lin"), Seat(number=2, name="Mei"))}


@pytest.mark.parametrize("decision", DECISIONS)
def test_one_vote_decides_and_its_report_is_due(decision: str) -> None:
    after = voted(review(), vote(decision)).review
    assert (after.state.value, after.report.delivery) == (decision, Delivery.DUE)
    assert after.decided == vote(decision)
    assert len(after.report.receipt) == 24


@pytest.mark.parametrize("decision", DECISIONS)
def test_the_same_again_is_quiet_whoever_says_it(decision: str) -> None:
    after = voted(review(**TWO, expires_ms=NOW_MS + 9) if decision != "approved" else review(), vote(decision)).review
    again = voted(after, vote(decision, seat=2, by="Mei", at_ms=NOW_MS + DAY_MS))
    assert (again.review, again.fresh) == (after, False)


@pytest.mark.parametrize("first", DECISIONS)
@pytest.mark.parametrize("second", DECISIONS)
def test_another_decision_is_refused_and_says_who_decided_what_and_when(first: str, second: str) -> None:
    if first == second:
        return
    after = voted(review(), vote(first, by="Lin")).review
    with pytest.raises(ReviewConflict) as caught:
        voted(after, vote(second, by="Mei", at_ms=NOW_MS + 5))
    assert (caught.value.decision, caught.value.by, caught.value.at_ms) == (first, "Lin", NOW_MS)


def test_two_approvals_come_from_two_people_at_two_seats() -> None:
    one = voted(review(**TWO), vote(seat=1, by="Lin")).review
    assert (one.state, one.decided, one.report.delivery) == (State.PENDING, None, Delivery.NONE)
    assert voted(one, vote(seat=1, by="Lin")).fresh is False
    with pytest.raises(InvalidInput) as caught:
        voted(one, vote(seat=2, by="Lin"))
    assert caught.value.path == "by"
    both = voted(one, vote(seat=2, by="Mei")).review
    assert (both.state, [one.by for one in both.votes]) == (State.APPROVED, ["Lin", "Mei"])


@pytest.mark.parametrize("decision", ["rejected", "more_info"])
def test_one_no_is_enough_where_two_approvals_are_wanted(decision: str) -> None:
    one = voted(review(**TWO), vote(seat=1, by="Lin")).review
    after = voted(one, vote(decision, seat=2, by="Mei")).review
    assert (after.state.value, after.decided and after.decided.by) == (decision, "Mei")


def test_a_reviewer_does_not_take_an_approval_back() -> None:
    one = voted(review(**TWO), vote(seat=1, by="Lin")).review
    with pytest.raises(ReviewConflict):
        voted(one, vote("rejected", seat=1, by="Lin"))


@pytest.mark.parametrize("state", [State.EXPIRED, State.WITHDRAWN])
def test_a_review_that_is_over_takes_no_decision(state: State) -> None:
    over = closed(review(), state, "why", NOW_MS)
    with pytest.raises(ReviewOver) as caught:
        voted(over, vote())
    assert (caught.value.state, "why" in str(caught.value)) == (state.value, True)
    assert closed(over, State.WITHDRAWN, "again", NOW_MS + 1) == over


def test_nothing_is_decided_after_the_time() -> None:
    one = review()
    with pytest.raises(ReviewOver):
        voted(one, vote(at_ms=one.expires_ms))
    assert voted(one, vote(at_ms=one.expires_ms - 1)).fresh


def test_a_decided_review_is_not_closed_afterwards() -> None:
    after = voted(review(), vote("rejected")).review
    assert closed(after, State.WITHDRAWN, "undone", NOW_MS) == after


@pytest.mark.parametrize(
    ("decision", "comment", "reason"),
    [("more_info", " \n ", "missing"), ("approved", "x" * (LONGEST_COMMENT + 1), "too long")],
)
def test_comments_have_rules(decision: str, comment: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        voted(review(), vote(decision).model_copy(update={"comment": comment}))
    assert (caught.value.path, caught.value.reason) == ("comment", reason)


def test_a_seat_that_is_handed_on_ends_its_older_links() -> None:
    after = reassigned(review(**TWO), 1, "  Wang   Fang ")
    assert after.seat(1) == Seat(number=1, name="Wang Fang", generation=2)
    assert after.seat(2) == Seat(number=2, name="Mei")
    assert check_seat(after, 1, 2).name == "Wang Fang"
    with pytest.raises(LinkSuperseded) as caught:
        check_seat(after, 1, 1)
    assert caught.value.holder == "Wang Fang"
    with pytest.raises(LinkSuperseded):
        check_seat(after, 3, 1)


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\x00b", "a\u202eb"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        reassigned(review(), 1, name)


def test_a_seat_is_not_handed_on_to_who_sits_there_nor_after_its_vote_nor_when_all_is_over() -> None:
    with pytest.raises(InvalidInput):
        reassigned(review(**TWO), 1, "Mei")
    one = voted(review(**TWO), vote(seat=1, by="Lin")).review
    with pytest.raises(ReviewConflict):
        reassigned(one, 1, "Wang")
    with pytest.raises(ReviewOver):
        reassigned(voted(review(), vote()).review, 1, "Wang")


def test_a_flow_that_asks_again_is_told_the_same_decision() -> None:
    after = voted(review(), vote()).review
    done = after.model_copy(update={"report": after.report.model_copy(update={"delivery": Delivery.DONE})})
    again = due_again(done, NOW_MS + 1)
    assert (again.report.delivery, again.report.receipt) == (Delivery.DUE, after.report.receipt)
    assert due_again(review(), NOW_MS) == review()


_votes = st.lists(
    st.builds(
        vote,
        st.sampled_from(DECISIONS),
        seat=st.integers(1, 3),
        by=st.sampled_from(["Lin", "Mei", "Wang"]),
        at_ms=st.integers(NOW_MS, NOW_MS + 8 * DAY_MS),
    ),
    max_size=8,
)


@given(_votes, st.integers(1, 3))
def test_whatever_is_said_at_most_one_decision_counts_and_it_stays(votes: list[object], approvals: int) -> None:
    now: Review = review(approvals=approvals, seats=tuple(Seat(number=number) for number in (1, 2, 3)))
    decided: Review | None = None
    for one in votes:
        with contextlib.suppress(ReviewConflict, ReviewOver, InvalidInput):
            now = voted(now, one).review  # type: ignore[arg-type]
        if decided is not None:
            assert now == decided
        elif now.decided is not None:
            decided = now
            approving = {said.seat for said in now.votes if said.decision.value == "approved"}
            assert now.state is not State.APPROVED or len(approving) == approvals
    assert len({said.seat for said in now.votes}) == len(now.votes)
