"""Coverage of a flow counts states, transitions, both sides of conditions, Retry and Catch rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_kit import project_with

from local_sim.project import Project
from local_sim.scenario import Coverage, decide, never, play, raises, returns


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_with(tmp_path)


def approve(project: Project, coverage: Coverage) -> None:
    mocks = {"Draft": returns({"text": "t"}), "Ask": returns({})}
    play(project, "small", {"n": 1}, mocks=mocks, decisions=[decide("yes")], observer=coverage)


def test_one_good_run_leaves_the_rest_to_be_told_with_its_line(project: Project) -> None:
    coverage = Coverage()
    approve(project, coverage)
    (small,) = coverage.flows()
    assert {kind: small.of_kind(kind) for kind in ("state", "transition", "condition", "retry", "catch")} == {
        "state": (4, 6),
        "transition": (2, 3),
        "condition": (1, 2),
        "retry": (0, 2),
        "catch": (0, 3),
    }
    assert [(item.position.line, item.text) for item in small.missing] == [
        (11, "Draft: Retry of Busy taken"),
        (11, "Draft: Retry of Busy used up"),
        (12, "Draft: Catch of FnF.TaskTimeout -> Late"),
        (12, "Draft: Catch of FnF.ALL -> Sorry"),
        (24, "Ask: Catch of FnF.TaskTimeout -> Late"),
        (29, 'Route: $Input.decision == "yes" is false'),
        (28, "Route -> Sorry (default)"),
        (32, "Sorry"),
        (33, "Late"),
    ]
    assert small.percent == pytest.approx(100 * 7 / 16)


def test_all_ways_together_are_a_hundred_per_cent(project: Project) -> None:
    coverage = Coverage()
    approve(project, coverage)
    drafted, busy = returns({"text": "t"}), raises("Busy")
    for draft, ask in (([busy, busy, busy], None), (never(), None), (drafted, "no"), (drafted, "")):
        mocks = {"Draft": draft} | ({"Ask": returns({})} if ask is not None else {})
        decisions = [decide({"decision": ask})] if ask else []
        play(project, "small", {"n": 1}, mocks=mocks, decisions=decisions, observer=coverage)
    (small,) = coverage.flows()
    assert small.missing == ()
    assert small.percent == 100


def test_counts_travel_between_processes(project: Project) -> None:
    one, other = Coverage(), Coverage()
    approve(project, one)
    other.load(one.dump())
    other.load(one.dump())
    (first,), (second,) = one.flows(), other.flows()
    assert [item.count * 2 for item in first.items] == [item.count for item in second.items]


def test_a_flow_that_is_gone_is_left_out(project: Project) -> None:
    one, other = Coverage(), Coverage()
    approve(project, one)
    rows = one.dump()
    (project.flows / "small.yaml").unlink()
    other.load(rows)
    assert other.flows() == ()


def test_branches_of_a_parallel_count_apart(project: Project) -> None:
    coverage = Coverage()
    play(project, "fan", {}, mocks={"Call": [returns({}), returns({})]}, observer=coverage)
    (fan,) = coverage.flows()
    assert [item.text for item in fan.items] == ["Fan", "Fan/Branch0/Call", "Fan/Branch1/Call"]
    assert fan.percent == 100
