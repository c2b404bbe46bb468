"""Recovery: a run broken off anywhere goes on from there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from projects import flow_text, make_project, task

from local_sim.clock import RealClock, VirtualClock
from local_sim.engine import HistoryEvent, Status
from local_sim.journal import ExecutionNotFound, Journal
from local_sim.project import Project
from local_sim.runner import Decision, Observer, RunResult, resume_run, run_flow

HANDLERS = """\
import json, pathlib

def add(event, context):
    value = json.loads(event)
    with pathlib.Path(value["log"]).open("a") as log:
        log.write("x")
    return json.dumps({"log": value["log"], "n": value["n"] + 1})
"""
OUT = "OutputConstructor: {log.$: $Output.Body.log, n.$: $Output.Body.n}"
FLOW = flow_text(
    "steps",
    task("One", "add", OUT, next_state="Two")
    + task("Two", "add", OUT, next_state="Nap")
    + "- {Type: Wait, Name: Nap, Seconds: 200, Next: Three}\n"
    + task("Three", "add", OUT),
)


class PowerCut(Exception):
    """Stands for the end of the process."""


class CutAt(Observer):
    """Cuts the power at the n-th history event."""

    def __init__(self, number: int) -> None:
        self.left = number

    def on_history(self, execution: str, event: HistoryEvent) -> None:
        self.left -= 1
        if self.left == 0:
            raise PowerCut


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, HANDLERS, ["add"])


def start(project: Project, data: Path, observer: Observer | None = None) -> RunResult:
    log = project.root / f"{data.name}.log"
    return run_flow(
        project,
        FLOW,
        {"log": str(log), "n": 0},
        clock=VirtualClock(0),
        data_dir=data,
        observer=observer,
        name="run",
        seed="s",
    )


def test_a_run_cut_at_any_event_ends_as_the_uncut_one(project: Project, tmp_path: Path) -> None:
    whole = start(project, tmp_path / "whole")
    assert whole.output["n"] == 3
    for number in range(1, len(whole.history) + 1):
        data = tmp_path / f"cut{number}"
        with pytest.raises(PowerCut):
            start(project, data, CutAt(number))
        result = resume_run(project, data_dir=data, execution="run")
        assert result.status is Status.SUCCEEDED
        assert (result.output["n"], result.path) == (3, whole.path)
        assert [event.type for event in result.history] == [event.type for event in whole.history]
        calls = len((project.root / f"{data.name}.log").read_text())
        # At-least-once: only a call whose answer was not in the journal is made again.
        assert 3 <= calls <= 4


def test_a_finished_call_is_never_made_again(project: Project, tmp_path: Path) -> None:
    class CutAfterOne(Observer):
        def on_history(self, execution: str, event: HistoryEvent) -> None:
            if event.type == "StepExited" and event.step_name == "One":
                raise PowerCut

    data = tmp_path / "data"
    with pytest.raises(PowerCut):
        start(project, data, CutAfterOne())
    result = resume_run(project, data_dir=data)
    assert (result.calls, len((project.root / "data.log").read_text())) == ({"add": 2}, 3)


def test_a_finished_execution_is_only_read(project: Project, tmp_path: Path) -> None:
    start(project, tmp_path / "data")
    result = resume_run(project, "run", data_dir=tmp_path / "data")
    assert (result.status, result.calls) == (Status.SUCCEEDED, {})
    with pytest.raises(ExecutionNotFound):
        resume_run(project, data_dir=tmp_path / "data")


def test_virtual_time_goes_on_where_it_was(project: Project, tmp_path: Path) -> None:
    class CutInNap(Observer):
        def on_history(self, execution: str, event: HistoryEvent) -> None:
            if event.type == "StepExited" and event.step_name == "Nap":
                raise PowerCut

    with pytest.raises(PowerCut):
        start(project, tmp_path / "data", CutInNap())
    assert resume_run(project, data_dir=tmp_path / "data").history[-1].time_ms == 200_000


REVIEW = flow_text(
    "review",
    """\
    - {Type: Task, Name: Ask, Action: 'X:Ask', TaskMode: WaitForCustomCallback, Timeout: 600, Next: Done}
    - {Type: Succeed, Name: Done}
    """,
)


def ask(call: object) -> object:
    return {}


def test_a_review_left_open_is_answered_later_with_the_same_token(project: Project, tmp_path: Path) -> None:
    first = run_flow(project, REVIEW, {}, clock=RealClock(), data_dir=tmp_path / "d", actions={"X:Ask": ask})
    assert first.status is Status.RUNNING
    again = resume_run(project, data_dir=tmp_path / "d", actions={"X:Ask": ask})
    assert [w.token for w in again.waiting] == [w.token for w in first.waiting]
    asked = sum(event.type == "TaskSubmitted" for event in again.history)
    done = resume_run(project, data_dir=tmp_path / "d", decisions=[Decision({"ok": True})], actions={"X:Ask": ask})
    assert (done.output, asked) == ({"ok": True}, 1)


def test_a_timeout_that_struck_meanwhile_is_taken_first(project: Project, tmp_path: Path) -> None:
    class Later(RealClock):
        def now_ms(self) -> int:
            return super().now_ms() + 601_000

    run_flow(project, REVIEW, {}, clock=RealClock(), data_dir=tmp_path / "d", actions={"X:Ask": ask})
    late = resume_run(
        project, data_dir=tmp_path / "d", clock=Later(), decisions=[Decision({"ok": True})], actions={"X:Ask": ask}
    )
    assert (late.status, late.error) == (Status.FAILED, "FnF.TaskTimeout")


def test_the_definition_is_the_one_it_was_started_with(project: Project, tmp_path: Path) -> None:
    file = project.flows / "review.yaml"
    file.write_text(REVIEW, encoding="utf-8")
    run_flow(project, "review", {}, data_dir=tmp_path / "d", actions={"X:Ask": ask})
    file.write_text("not even yaml: [", encoding="utf-8")
    done = resume_run(project, data_dir=tmp_path / "d", decisions=[Decision({"ok": 1})], actions={"X:Ask": ask})
    assert done.path == ("Ask", "Done")


def test_the_journal_holds_exactly_the_events(project: Project, tmp_path: Path) -> None:
    start(project, tmp_path / "data")
    with Journal(tmp_path / "data", read_only=True) as journal:
        record = journal.find("run")
        kinds = [type(event).__name__ for event in journal.events(record.id)]
    assert kinds == ["Started", "TaskSucceeded", "TaskSucceeded", "TimerFired", "TaskSucceeded"]
    assert json.loads(record.definition.split("\n")[0].split(": ")[0].join('""')) == "Type"
