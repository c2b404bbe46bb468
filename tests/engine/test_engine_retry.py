"""Retry: which rule, how often, how long (ERR 7.2; A03, A14, A15, A16, A17, A61, A67; C08, C09, C10)."""

from __future__ import annotations

import pytest
from engine_kit import After, Fail, body, simulate, task
from hypothesis import given
from hypothesis import strategies as st

from local_sim.definition.model import RetryRule
from local_sim.engine.failure import delay_ms, match


def rule(errors: str = "E", attempts: int = 3, interval: int = 1, more: str = "") -> str:
    extra = f", {more}" if more else ""
    return f"{{Errors: [{errors}], MaxAttempts: {attempts}, IntervalSeconds: {interval}{extra}}}"


def retrying(*rules: str, more: str = "") -> str:
    extra = f", {more}" if more else ""
    return task("T", f"Retry: [{', '.join(rules)}]{extra}")


@pytest.mark.parametrize(("attempts", "calls"), [(0, 1), (1, 2), (2, 3), (3, 4), (7, 8)])
def test_max_attempts_counts_the_retries(attempts: int, calls: int) -> None:
    run = simulate(retrying(rule(attempts=attempts)), tasks={"T": Fail("E", "again")})
    assert (run.status, run.error, run.cause) == ("Failed", "E", "again")
    assert [call.attempt for call in run.calls()] == list(range(calls))


@pytest.mark.parametrize(
    ("source", "more", "interval", "attempts", "waits"),
    [
        ("C09", "BackoffRate: 2, MaxBackoffSeconds: 5", 1, 4, [1, 2, 4, 5]),
        ("C09", "", 1, 4, [1, 1, 1, 1]),
        ("A17", "BackoffRate: 2", 10, 3, [10, 20, 40]),
        ("A17", "BackoffRate: 1.5", 1, 4, [1, 1.5, 2.25, 3.375]),
        ("A17", "BackoffRate: 1.1", 1, 4, [1, 1.1, 1.21, 1.331]),
        ("A17", "BackoffRate: 0.5", 1, 4, [1, 0.5, 0.25, 0.125]),
        ("A17", "BackoffRate: 1.0001", 1, 2, [1, 1]),
        ("A17", "MaxBackoffSeconds: 2", 7, 2, [2, 2]),
        ("ERR", "MaxBackoffSeconds: 86400, BackoffRate: 1000", 86400, 2, [86400, 86400]),
        ("A14", "", 0, 3, [0, 0, 0]),
    ],
)
def test_every_retry_waits_its_time(source: str, more: str, interval: int, attempts: int, waits: list[float]) -> None:
    run = simulate(retrying(rule(interval=interval, attempts=attempts, more=more)), tasks={"T": Fail("E")})
    assert run.waits_s() == waits, source
    assert run.at_ms == round(sum(waits) * 1000)


@given(st.integers(0, 86_400), st.floats(0.001, 1_000_000), st.none() | st.integers(0, 86_400), st.integers(1, 10_000))
def test_a_delay_is_never_negative_nor_over_its_cap(interval: int, rate: float, cap: int | None, retry: int) -> None:
    delay = delay_ms(RetryRule(("E",), 1, interval, rate, cap), retry)
    ceiling = (365 * 24 * 3600 if cap is None else cap) * 1000
    assert 0 <= delay <= ceiling


@pytest.mark.parametrize(
    ("errors", "error", "matches"),
    [
        ("FC.ResourceThrottled", "FC.ResourceThrottled", True),
        ("ResourceThrottled", "FC.ResourceThrottled", False),
        ("fc.ResourceThrottled", "FC.ResourceThrottled", False),
        ("FnF.ResourceThrottled", "FC.ResourceThrottled", False),
        ("FnF.ALL", "FC.ResourceThrottled", True),
        ("FnF.ALL", "超时", True),
        ("超时", "超时", True),
        ("A, B", "B", True),
        ("Exception", "ValueError", False),
        ("E", "E.sub", False),
        ("FnF.All", "E", False),
        ("FnF.ALL", "FnF.TaskTimeout", True),
        ("FnF.ALL", "", True),
    ],
)
def test_names_match_exactly_and_only_all_is_a_wildcard(errors: str, error: str, matches: bool) -> None:
    names = tuple(part.strip() for part in errors.split(","))
    assert (match((RetryRule(names, 1, 1),), error) is not None) is matches
    run = simulate(retrying(rule(errors, attempts=1)), tasks={"T": [Fail(error), body(1)]})
    assert (run.status == "Succeeded") is matches


def test_only_the_first_rule_that_matches_is_used() -> None:
    run = simulate(retrying(rule("E", 1), rule("FnF.ALL", 5)), tasks={"T": Fail("E")})
    assert len(run.calls()) == 2


def test_rules_count_for_themselves() -> None:
    outcomes = [Fail("A"), Fail("B"), Fail("A"), Fail("B"), Fail("A")]
    run = simulate(retrying(rule("A", 2, 1), rule("B", 2, 10)), tasks={"T": outcomes})
    assert run.waits_s() == [1, 10, 1, 10]
    assert (run.error, len(run.calls())) == ("A", 5)


def test_counters_begin_anew_at_each_visit() -> None:
    states = """
- Type: Pass
  Name: start
  Next: T
- {Type: Task, Name: T, Action: 'FC:InvokeFunction', Parameters: {resourceArn: a, invocationType: Sync, body: {lap.$:
$Input.lap}},
   Retry: [{Errors: [E], MaxAttempts: 1, IntervalSeconds: 1}], OutputConstructor: {lap.$: 'intAdd($Input.lap, 1)'},
   Next: c}
- {Type: Choice, Name: c, Branches: [{Condition: '$Input.lap < 3', Next: T}], Default: end}
- {Type: Succeed, Name: end}
"""
    run = simulate(states, input={"lap": 0}, tasks={"T": [Fail("E"), body(None)]})
    assert (run.status, run.output) == ("Succeeded", {"lap": 3})
    assert [call.attempt for call in run.calls()] == [0, 1, 0, 1, 0, 1]


def test_parameters_and_constructors_are_evaluated_again() -> None:
    states = (
        "- {Type: Task, Name: T, Action: 'HTTP:Request', InputConstructor: {i.$: $Context.Current.RetryCount}, "
        "Parameters: {url: u, method: GET, body: {n.$: $Context.Current.RetryCount, i.$: $Input.i}}, "
        "Retry: [{Errors: [E], MaxAttempts: 2, IntervalSeconds: 1}], End: true}"
    )
    run = simulate(states, tasks={"T": Fail("E")})
    assert [call.parameters["body"] for call in run.calls()] == [{"n": n, "i": n} for n in range(3)]


def test_timeout_is_per_attempt() -> None:
    run = simulate(
        retrying(rule("FnF.TaskTimeout", 2, 1), more="Timeout: 5"),
        tasks={"T": [After(9, body(1)), After(6, body(1)), After(4, body(1))]},
    )
    assert (run.status, run.at_ms) == ("Succeeded", 5000 + 1000 + 5000 + 1000 + 4000)


def test_an_expression_error_goes_through_retry_like_any_other() -> None:
    states = retrying(rule("FnF.RuntimeError", 2, 1), more="OutputConstructor: {v.$: $Output.Body.x}")
    run = simulate(states, tasks={"T": [body({}), body({"x": 1})]})
    assert (run.output, len(run.calls())) == ({"v": 1}, 2)


def test_retry_comes_before_catch() -> None:
    states = retrying(rule("E", 2), more="Catch: [{Errors: [E], Next: h}]") + "- {Type: Succeed, Name: h}"
    run = simulate(states, tasks={"T": Fail("E")})
    assert (run.status, len(run.calls()), run.visited()) == ("Succeeded", 3, ["T", "h"])


@given(st.integers(0, 12), st.integers(0, 12))
def test_calls_are_one_and_as_many_retries_as_failures_up_to_the_maximum(attempts: int, failures: int) -> None:
    outcomes = [*([Fail("E")] * failures), body("done")]
    run = simulate(retrying(rule(attempts=attempts)), tasks={"T": outcomes})
    assert len(run.calls()) == min(failures, attempts) + 1
    assert (run.status == "Succeeded") is (failures <= attempts)


def test_events_are_counted_per_attempt() -> None:
    run = simulate(retrying(rule(attempts=3000)), tasks={"T": Fail("E")})
    assert (run.status, run.error) == ("Failed", "FnF.HistoryLimitExceeded")
    assert len(run.execution.history) == 5001
    assert run.types().count("TaskScheduled") == 1666
