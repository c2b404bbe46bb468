"""Calls to what is outside: budgets, retries, fallbacks, the chain of causes, the bulkhead."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.errors import InvalidInput, TemporaryUpstreamError
from functions.upstream import Budget, Policy, Upstream


class Time:
    """A clock that moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def busy(
    retry_after: float | None = None, *, applied: bool | None = None, text: str = "busy"
) -> TemporaryUpstreamError:
    return TemporaryUpstreamError(text, upstream="model", retry_after=retry_after, effect_applied=applied)


def upstream(time: Time, policy: Policy | None = None, **options: Any) -> Upstream:
    given = {"clock": time.clock, "sleep": time.sleep, "chance": random.Random(1), **options}
    return Upstream("model", policy or Policy(idempotent=True), **given)


def budget(time: Time, seconds: float = 60) -> Budget:
    return Budget.of_seconds(seconds, reserve=0, clock=time.clock)


def answers(*given: Any) -> tuple[Callable[[float], Any], list[float]]:
    """A side that gives one answer a call, and the timeouts it was asked with."""
    left, timeouts = list(given), list[float]()

    def ask(timeout: float) -> Any:
        timeouts.append(timeout)
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return ask, timeouts


def test_an_idempotent_call_is_tried_again_with_growing_jittered_pauses() -> None:
    time = Time()
    ask, timeouts = answers(busy(), busy(), "text")
    result = upstream(time).call(ask, budget(time))
    assert (result.value, result.attempts, result.fallback) == ("text", 3, False)
    assert timeouts[0] == 30
    assert 0 <= time.slept[0] <= 0.5
    assert 0 <= time.slept[1] <= 1.0
    assert result.elapsed == pytest.approx(sum(time.slept))


def test_a_call_that_may_have_had_an_effect_is_not_tried_again() -> None:
    time = Time()
    ask, timeouts = answers(busy(applied=None), "text")
    with pytest.raises(TemporaryUpstreamError) as caught:
        upstream(time, Policy()).call(ask, budget(time))
    assert len(timeouts) == 1
    assert caught.value.effect_applied is None


def test_a_call_that_certainly_had_none_is_even_when_it_is_not_idempotent() -> None:
    time = Time()
    ask, _ = answers(busy(applied=False), "text")
    assert upstream(time, Policy()).call(ask, budget(time)).value == "text"


def test_retry_after_is_waited_for_and_a_long_one_is_left_to_the_flow() -> None:
    time = Time()
    ask, _ = answers(busy(4), "text")
    assert upstream(time).call(ask, budget(time)).value == "text"
    assert 4 <= time.slept[0] <= 4.5
    ask, timeouts = answers(busy(60), "text")
    with pytest.raises(TemporaryUpstreamError) as caught:
        upstream(time).call(ask, budget(time))
    assert caught.value.retry_after == 60
    assert len(timeouts) == 1


def test_the_last_error_tells_all_of_them() -> None:
    time = Time()
    ask, _ = answers(*(busy(text=f"busy {n}", applied=False) for n in range(3)))
    with pytest.raises(TemporaryUpstreamError) as caught:
        upstream(time).call(ask, budget(time))
    error = caught.value
    assert "attempt 3 of 3" in str(error)
    assert error.details["attempts"] == ["busy 0", "busy 1", "busy 2"]
    assert error.effect_applied is False
    chain: list[str] = []
    cause = error.__cause__
    while cause is not None:
        chain.append(str(cause))
        cause = cause.__cause__
    assert chain == ["busy 2", "busy 1", "busy 0"]


def test_a_business_error_goes_through_at_once() -> None:
    time = Time()
    ask, timeouts = answers(InvalidInput("no"), "text")
    with pytest.raises(InvalidInput):
        upstream(time).call(ask, budget(time))
    assert len(timeouts) == 1
    assert time.slept == []


def test_a_fallback_answers_in_the_end_and_is_told_why() -> None:
    time = Time()
    ask, _ = answers(busy(), busy(), busy())
    result = upstream(time).call(ask, budget(time), fallback=lambda error: f"instead of: {error.upstream}")
    assert (result.value, result.attempts, result.fallback) == ("instead of: model", 3, True)


def test_attempts_and_pauses_stay_within_the_budget() -> None:
    time = Time()

    def slow(timeout: float) -> str:
        time.now += timeout
        raise busy()

    with pytest.raises(TemporaryUpstreamError, match="attempt 2 of 9"):
        upstream(time, Policy(timeout=4, attempts=9, idempotent=True)).call(slow, budget(time, 8.2))
    assert time.now <= 108.3


def test_no_time_left_means_nothing_is_asked() -> None:
    time = Time()
    ask, timeouts = answers("text")
    with pytest.raises(TemporaryUpstreamError, match="no time left"):
        upstream(time, Policy(attempts=1)).call(ask, budget(time, 0.01))
    assert timeouts == []


def test_a_budget_is_what_the_function_has_less_a_reserve() -> None:
    class Function:
        timeout = 30

    class Context:
        function = Function()

    time = Time()
    assert Budget.of_seconds(30, clock=time.clock).left == 29
    assert 28 < Budget.of_context(Context()).left <= 29
    assert 58 < Budget.of_context(object()).left <= 59
    assert Budget.of_seconds(30, reserve=40, clock=time.clock).left == 0


def test_the_bulkhead_lets_only_so_many_be_under_way() -> None:
    inside, most, gate = 0, 0, threading.Event()
    lock = threading.Lock()
    side = Upstream("model", Policy(at_once=2, attempts=1, timeout=0.2))

    def ask(timeout: float) -> int:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        gate.wait(5)
        with lock:
            inside -= 1
        return 1

    outcomes: list[object] = []

    def call() -> None:
        try:
            outcomes.append(side.call(ask, Budget.of_seconds(30)).value)
        except TemporaryUpstreamError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=call) for _ in range(5)]
    for thread in threads:
        thread.start()
    while len(outcomes) < 3:
        threading.Event().wait(0.01)
    gate.set()
    for thread in threads:
        thread.join()
    assert most == 2
    assert sorted(map(str, outcomes))[:2] == ["1", "1"]
    assert sum("2 calls are under way" in str(outcome) for outcome in outcomes) == 3


@given(
    st.lists(st.sampled_from(["ok", "busy", "sure", "bad"]), min_size=1, max_size=8), st.booleans(), st.integers(1, 5)
)
def test_a_call_ends_with_the_first_answer_or_after_its_attempts(
    given_: list[str], idempotent: bool, most: int
) -> None:
    time = Time()
    made = {"ok": "ok", "busy": busy(), "sure": busy(applied=False), "bad": InvalidInput("no")}
    ask, timeouts = answers(*(made[one] for one in given_), *["ok"] * 9)
    expected = 0
    for one in [*given_, "ok"]:
        expected += 1
        if one in ("ok", "bad") or expected == most or (one == "busy" and not idempotent):
            break
    last = [*given_, "ok"][expected - 1]
    side = upstream(time, Policy(attempts=most, idempotent=idempotent))
    if last == "ok":
        assert side.call(ask, budget(time, 1e6)).attempts == expected
    else:
        with pytest.raises(InvalidInput if last == "bad" else TemporaryUpstreamError):
            side.call(ask, budget(time, 1e6))
    assert len(timeouts) == expected
