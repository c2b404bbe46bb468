"""A golden history holds a run's whole story, without what differs between any two runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scenario_kit import project_with

from local_sim.project import Project
from local_sim.scenario import FlowRun, decide, play, raises, returns


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_with(tmp_path)


def run(project: Project, text: str = "t", *, update: bool = False) -> FlowRun:
    mocks = {"Draft": [raises("Busy"), returns({"text": text})], "Ask": returns({})}
    return play(project, "small", {"n": 1}, mocks=mocks, decisions=[decide("yes", after=60)], update_golden=update)


def test_written_once_it_fits_the_next_run(project: Project, tmp_path: Path) -> None:
    golden = tmp_path / "golden" / "small.jsonl"
    run(project, update=True).assert_history(golden)
    run(project).assert_history(golden)
    lines = [json.loads(line) for line in golden.read_text(encoding="utf-8").splitlines()]
    assert lines[0] == {"event": 1, "after": 0, "at": 0, "type": "ExecutionStarted", "detail": {"input": {"n": 1}}}
    assert [line["at"] for line in lines if line["type"] == "TaskFailed"] == [0]
    assert lines[-1]["at"] == 65
    assert "<token>" in golden.read_text(encoding="utf-8")


def test_a_difference_is_shown_and_nothing_is_written(project: Project, tmp_path: Path) -> None:
    golden = tmp_path / "small.jsonl"
    run(project, update=True).assert_history(golden)
    before = golden.read_bytes()
    with pytest.raises(AssertionError, match=r"accept the new one with --update-golden") as caught:
        run(project, "other").assert_history(golden)
    assert '+{"event": 9' in str(caught.value) or "other" in str(caught.value)
    assert golden.read_bytes() == before


def test_a_missing_golden_file_fails_and_says_how_to_write_it(project: Project, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"there is no golden history .*; write it with --update-golden"):
        run(project).assert_history(tmp_path / "none.jsonl")
    assert not (tmp_path / "none.jsonl").exists()
