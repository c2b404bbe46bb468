"""The pytest plugin: a fixture that plays flows, golden files, coverage of flows, alone and under pytest-xdist."""

from __future__ import annotations

import pytest
from scenario_kit import project_with

from local_sim.scenario import MockProblem, decide, raises, returns
from local_sim.testing.plugin import FlowTest

pytest_plugins = ["pytester"]

TESTS = """
from local_sim.scenario import decide, raises, returns

DRAFTED = returns({"text": "t"})

def test_yes(flow_test):
    run = flow_test("small", {"n": 1}, mocks={"Draft": DRAFTED, "Ask": {}}, decisions=[decide("yes", after="1h")])
    assert run.path == ["Draft", "Ask", "Route", "Done"]
    run.assert_history("golden.jsonl")

def test_busy(flow_test):
    assert flow_test("small", {"n": 1}, mocks={"Draft": [raises("Busy")] * 3}).error == "Sorry"
"""
ALONE = ("-p", "no:cacheprovider", "-p", "no:randomly")


@pytest.fixture
def tested(pytester: pytest.Pytester) -> pytest.Pytester:
    project_with(pytester.path)
    pytester.makepyfile(test_small=TESTS)
    return pytester


def test_golden_files_are_written_then_compared(tested: pytest.Pytester) -> None:
    tested.runpytest_inprocess(*ALONE).assert_outcomes(passed=1, failed=1)
    tested.runpytest_inprocess(*ALONE, "--update-golden").assert_outcomes(passed=2)
    tested.runpytest_inprocess(*ALONE).assert_outcomes(passed=2)


def test_coverage_is_shown_and_a_threshold_fails_the_run(tested: pytest.Pytester) -> None:
    shown = tested.runpytest_inprocess(*ALONE, "--update-golden", "--flow-coverage")
    shown.stdout.fnmatch_lines(
        ["*coverage of flows*", "small: 68.8 %", "*small.yaml:12: Draft: Catch of FnF.TaskTimeout*"]
    )
    assert shown.ret == 0
    low = tested.runpytest_inprocess(*ALONE, "--update-golden", "--flow-coverage-fail-under=90")
    low.stdout.fnmatch_lines(["small: 68.8 %, below 90 %"])
    assert low.ret == pytest.ExitCode.TESTS_FAILED
    low.assert_outcomes(passed=2)


def test_workers_of_xdist_are_counted_together(tested: pytest.Pytester) -> None:
    shown = tested.runpytest_subprocess(*ALONE, "-n", "2", "--update-golden", "--flow-coverage")
    shown.stdout.fnmatch_lines(["small: 68.8 %"])
    assert shown.ret == 0


def test_real_handlers_run_and_their_rows_can_be_read(flow_test: FlowTest) -> None:
    task = {"task_id": "t-2", "document": {"inline": "some text", "name": "a.md"}}
    run = flow_test("opc_minimal", task, handlers="real", decisions=[decide("approved", after="2h")])
    assert (run.status, run.duration_seconds) == ("Succeeded", 7200)
    states = {row["entry"]: row["state"] for row in run.rows("stepkeeper_ledger") if row["entry"].startswith("step/")}
    assert states["step/opc_minimal-1/SaveResult"] == "done"
    assert set(states.values()) == {"done"}
    assert run.calls_of("SaveResult")[0]["task"]["task_id"] == "t-2"


def test_a_mock_takes_the_place_of_one_handler_of_many(flow_test: FlowTest) -> None:
    task = {"task_id": "t-3", "document": {"inline": "some text", "name": "a.md"}}
    mocks = {"GenerateDraft": raises("TemporaryUpstreamError"), "Undo": returns({"outcome": "failed", "undone": []})}
    with pytest.raises(MockProblem, match="GenerateDraft was called 2 times, its mock has 1 responses"):
        flow_test("opc_minimal", task, handlers="real", mocks=mocks)
