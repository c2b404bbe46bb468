"""Equal requests are one: the first runs, those beside it get 425, those after it its answer."""

from __future__ import annotations

import threading
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows_kit import Rows

from functions.errors import InvalidInput
from functions.once import AlreadyRunning, Request, RequestGate, fingerprint
from ledger import Ledger


def asked(**more: Any) -> Request:
    return Request(**{"kind": "refund", "entity": "order-7", "intent": "refund", **more})


def gate(rows: Rows | None = None, **options: Any) -> RequestGate:
    return RequestGate(rows or Rows(), **options)  # type: ignore[arg-type]


def test_the_first_runs_and_the_others_get_its_answer() -> None:
    one, ran = gate(), []

    def effect(request: Request) -> Any:
        ran.append(request.key)
        return {"refunded": 48.5, "note": None}

    answers = [one.run(asked(), effect) for _ in range(5)]
    assert answers == [{"refunded": 48.5, "note": None}] * 5
    assert ran == [asked().key]


@pytest.mark.parametrize("answer", [None, False, 0, "", {}, [], "文字", {"a": [1, {"b": None}]}])
def test_every_json_value_is_an_answer(answer: Any) -> None:
    one = gate()
    assert one.run(asked(), lambda request: answer) == answer
    assert one.run(asked(), lambda request: pytest.fail("ran twice")) == answer


def test_other_entities_intents_and_rounds_are_other_requests() -> None:
    one = gate()
    kinds = [{}, {"entity": "order-8"}, {"intent": "cancel"}, {"round": 2}, {"kind": "payout"}]
    assert [one.run(asked(**more), lambda request: str(request)) for more in kinds] == [
        str(asked(**more)) for more in kinds
    ]


def test_the_same_key_with_another_content_is_refused() -> None:
    one = gate()
    one.run(asked(content=fingerprint({"cents": 100})), lambda request: 1)
    assert one.run(asked(content=fingerprint({"cents": 100})), lambda request: 2) == 1
    with pytest.raises(InvalidInput, match="with another content"):
        one.run(asked(content=fingerprint({"cents": 999})), lambda request: 2)


def test_a_failed_effect_may_be_tried_again() -> None:
    one = gate()
    with pytest.raises(ValueError, match="away"):
        one.run(asked(), lambda request: (_ for _ in ()).throw(ValueError("away")))
    assert one.run(asked(), lambda request: 7) == 7


def test_three_clicks_are_one_refund_and_two_too_early(cloud: pytest.MonkeyPatch) -> None:
    entity, started, finish = uuid.uuid4().hex, threading.Event(), threading.Event()
    refunds: list[str] = []

    def refund(request: Request) -> Any:
        refunds.append(request.key)
        started.set()
        finish.wait(10)
        return {"refund": "r-1"}

    def click() -> Any:
        return RequestGate(Ledger.open().entries).run(asked(entity=entity), refund)

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(click)
        assert started.wait(10)
        late = [pool.submit(click) for _ in range(2)]
        for one in late:
            with pytest.raises(AlreadyRunning) as caught:
                one.result(10)
            assert caught.value.status == 425
            assert 0 < caught.value.retry_after <= 5
        finish.set()
        assert first.result(10) == {"refund": "r-1"}
    assert click() == {"refund": "r-1"}
    assert len(refunds) == 1


def test_a_runner_that_died_is_followed_by_another_after_its_lease() -> None:
    class Killed(BaseException):
        """Stands for a process that ends between the claim and the answer: the next write does not arrive."""

    now, rows = [1_000_000], Rows()
    one = gate(rows, lease_seconds=30, clock_ms=lambda: now[0])

    def die(request: Request) -> Any:
        rows.away = True
        raise Killed

    with pytest.raises(OSError, match="away"):
        one.run(asked(), die)
    rows.away = False
    with pytest.raises(AlreadyRunning):
        one.run(asked(), lambda request: 1)
    now[0] += 30_001
    assert one.run(asked(), lambda request: 2) == 2


def test_requests_are_spread_over_partitions() -> None:
    rows = Rows()
    one = gate(rows)
    for number in range(1_000):
        one.run(asked(entity=f"order-{number}"), lambda request: 1)
    each = Counter(task for task, _ in rows.rows)
    assert len(each) > 200
    assert max(each.values()) < 20


def test_a_late_runner_gets_the_answer_of_its_successor() -> None:
    now, rows = [1_000_000], Rows()
    one = gate(rows, lease_seconds=30, clock_ms=lambda: now[0])

    def slow(request: Request) -> Any:
        now[0] += 60_000
        assert one.run(asked(), lambda other: "successor") == "successor"
        return "late"

    assert one.run(asked(), slow) == "successor"


def deliver(count: int, threads: int) -> tuple[Counter[str], int]:
    """Send one message `count` times from several threads; return the answers and how often it was really sent."""
    rows, sent = Rows(), []
    one = gate(rows)

    def send(request: Request) -> Any:
        sent.append(request.key)
        time.sleep(0.01)
        return "sent"

    def once(number: int) -> str:
        try:
            return str(one.run(asked(kind="message", round=1), send))
        except AlreadyRunning:
            return "425"

    with ThreadPoolExecutor(threads) as pool:
        return Counter(pool.map(once, range(count), chunksize=500)), len(sent)


def test_a_hundred_thousand_identical_messages_are_sent_once() -> None:
    answers, sent = deliver(100_000, 8)
    assert sent == 1
    assert sum(answers.values()) == 100_000
    assert set(answers) <= {"sent", "425"}
    assert answers["sent"] > 90_000


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_fingerprints_are_equal_for_equal_values_only(one: Any, other: Any) -> None:
    import json

    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (fingerprint(one) == fingerprint(other)) == same


@given(st.tuples(st.text(max_size=4), st.text(max_size=4)), st.tuples(st.text(max_size=4), st.text(max_size=4)))
def test_keys_do_not_run_into_each_other(one: tuple[str, str], other: tuple[str, str]) -> None:
    keys = [Request("k", entity, intent).key for entity, intent in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)
