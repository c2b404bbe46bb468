"""Parallel: same input, output by branch, fail fast, retry as a whole (PAR, MODE; A12, A33; C15, C16, C19, C45)."""

from __future__ import annotations

import pytest
from engine_kit import NEVER, After, Fail, Row, body, flow_of, rows, simulate, task

from local_sim.engine import CancelTask, CancelTimer


def parallel(*branches: str, more: str = "", onward: str = "End: true") -> str:
    """Each branch is a States list in flow style whose first state is its start."""
    parts = []
    for states in branches:
        first = states.split("Name: ", 1)[1].split(",")[0].split("}")[0]
        parts.append(f"{{StartAt: {first}, States: [{states}]}}")
    extra = f", {more}" if more else ""
    return f"- {{Type: Parallel, Name: p, Branches: [{', '.join(parts)}], {onward}{extra}}}\n"


def call(name: str, more: str = "") -> str:
    return task(name, more)[2:].strip()


A, B = call("A"), call("B")


@rows(
    Row(
        "PAR",
        "output by branch",
        parallel("{Type: Pass, Name: a, InputConstructor: {x: 1}, End: true}", "{Type: Pass, Name: b, End: true}"),
        {"Branch0": {"x": 1}, "Branch1": {"n": 1}},
        input={"n": 1},
    ),
    Row(
        "PAR",
        "every branch gets the constructed input",
        parallel("{Type: Succeed, Name: a}", "{Type: Succeed, Name: b}", more="InputConstructor: {m: 2}"),
        {"Branch0": {"m": 2}, "Branch1": {"m": 2}},
        input={"n": 1},
    ),
    Row(
        "PAR",
        "OutputConstructor reads the branches",
        parallel("{Type: Succeed, Name: a}", more="OutputConstructor: {v.$: $Output.Branch0.n}"),
        {"v": 1},
        input={"n": 1},
    ),
    Row("PAR", "one branch is still an object", parallel("{Type: Succeed, Name: a}"), {"Branch0": {}}),
    Row(
        "PAR",
        "the input of the next state",
        parallel("{Type: Succeed, Name: a}", onward="Next: q")
        + "- {Type: Pass, Name: q, OutputConstructor: {v.$: $Input.Branch0.n}, End: true}",
        {"v": 1},
        input={"n": 1},
    ),
    Row(
        "FDL",
        "names repeat in different scopes",
        parallel("{Type: Succeed, Name: a}", "{Type: Succeed, Name: a}"),
        {"Branch0": {}, "Branch1": {}},
    ),
    Row(
        "C15",
        "a branch's failure is the Parallel's",
        parallel(A, B),
        error="PaymentError",
        cause="no",
        tasks={"A": Fail("PaymentError", "no"), "B": NEVER},
    ),
    Row(
        "C15",
        "its Catch moves on",
        parallel(A, B, more="Catch: [{Errors: [PaymentError], Next: h}]") + "- {Type: Succeed, Name: h}",
        {"n": 1},
        input={"n": 1},
        tasks={"A": Fail("PaymentError"), "B": NEVER},
    ),
    Row(
        "A12",
        "the OutputConstructor of the Parallel can fail it",
        parallel("{Type: Succeed, Name: a}", more="OutputConstructor: {v.$: $Output.Branch7}"),
        error="FnF.RuntimeError",
        cause="OutputConstructor.v",
    ),
)
def test_parallel(row: Row) -> None:
    row.check()


def test_all_branches_start_at_once_and_the_slowest_decides() -> None:
    run = simulate(parallel(A, B), tasks={"A": After(3, body("a")), "B": After(7, body("b"))})
    assert (run.peak, run.at_ms) == (2, 7000)
    assert run.output == {"Branch0": {"Body": "a"}, "Branch1": {"Body": "b"}}


@pytest.mark.parametrize("order", ["first", "second"])
def test_each_report_ends_its_own_branch(order: str) -> None:
    slow = {"A": 3, "B": 7} if order == "first" else {"A": 7, "B": 3}
    run = simulate(parallel(A, B), tasks={name: After(seconds, body(name)) for name, seconds in slow.items()})
    assert run.output == {"Branch0": {"Body": "A"}, "Branch1": {"Body": "B"}}


def test_the_first_failure_cancels_the_siblings_and_their_timers() -> None:
    run = simulate(
        parallel(call("A", "Timeout: 60"), call("B", "Timeout: 60"), "{Type: Wait, Name: w, Seconds: 100, End: true}"),
        tasks={"A": After(2, Fail("E", "why")), "B": NEVER},
    )
    assert (run.error, run.cause, run.at_ms) == ("E", "why", 2000)
    (cancelled,) = run.of(CancelTask)
    assert cancelled.task_id == run.calls("B")[0].task_id
    assert cancelled.reason == "p: Branch0 failed"
    assert len(run.of(CancelTimer)) == 4  # two timeouts, the wait, and the execution's own
    assert [detail["status"] for detail in run.details("BranchExited")] == ["Failed", "Cancelled", "Cancelled"]


def test_the_earliest_failure_wins() -> None:
    run = simulate(parallel(A, B), tasks={"A": After(5, Fail("Late")), "B": After(4, Fail("Early"))})
    assert (run.error, run.at_ms) == ("Early", 4000)


def test_ties_go_to_the_lower_branch_a_hundred_times() -> None:
    flow = flow_of(parallel(A, B))
    errors = {simulate(flow, tasks={"A": After(1, Fail("A")), "B": After(1, Fail("B"))}).error for _ in range(100)}
    assert errors == {"A"}


def test_ties_inside_one_instant_go_to_the_lower_branch_however_deep() -> None:
    deep = (
        "{Type: Parallel, Name: q, End: true, Branches: [{StartAt: x, States: [{Type: Pass, Name: x, "
        "Next: f}, {Type: Fail, Name: f, Code: Deep}]}]}"
    )
    run = simulate(parallel(f"{{Type: Pass, Name: o, Next: q}}, {deep}", "{Type: Fail, Name: g, Code: Shallow}"))
    assert run.error == "Deep"


def test_retry_runs_every_branch_again_from_the_constructed_input() -> None:
    run = simulate(
        parallel(
            A, B, more="InputConstructor: {n.$: $Input.n}, Retry: [{Errors: [E], MaxAttempts: 2, IntervalSeconds: 3}]"
        ),
        input={"n": 1},
        tasks={"A": body(1), "B": _failing_twice()},
    )
    assert (run.status, run.at_ms) == ("Succeeded", 6000)
    assert (len(run.calls("A")), len(run.calls("B"))) == (3, 3)
    assert run.types().count("StepStarted") == 3
    assert run.visited() == ["p", "A", "B", "A", "B", "A", "B"]


def _failing_twice():  # type: ignore[no-untyped-def]
    outcomes = iter([Fail("E"), Fail("E"), body(2)])
    return lambda command: next(outcomes)


def test_a_failure_is_handled_once_however_many_branches_fail() -> None:
    states = parallel(A, B, call("C"), more="Catch: [{Errors: [FnF.ALL], Next: h}]") + "- {Type: Succeed, Name: h}"
    run = simulate(states, tasks={name: After(1, Fail(name)) for name in "ABC"})
    assert run.visited() == ["p", "A", "B", "C", "h"]
    assert len(run.details("StepFailed")) == 2  # the branch's task and the Parallel, not once per branch


def test_the_context_belongs_to_the_state_in_progress() -> None:
    names = "OutputConstructor: {n.$: $Context.Current.Name, r.$: $Context.Current.RetryCount}"
    run = simulate(parallel(call("A", names), call("B", names)), tasks={"A": After(2, body(0)), "B": After(1, body(0))})
    assert run.output == {"Branch0": {"n": "A", "r": 0}, "Branch1": {"n": "B", "r": 0}}


def test_paths_name_branches_by_index() -> None:
    run = simulate(parallel(A, B))
    assert [call_.path for call_ in run.calls()] == [("p", "Branch0", "A"), ("p", "Branch1", "B")]


def test_fifty_branches_run() -> None:
    run = simulate(parallel(*(f"{{Type: Succeed, Name: s{n}}}" for n in range(50))))
    assert list(run.output) == [f"Branch{n}" for n in range(50)]
