"""Sub-flows, asynchronous invocations and children of distributed Maps."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import flow_text, make_project, task

from local_sim.actions import Call
from local_sim.clock import VirtualClock
from local_sim.engine import HistoryEvent, Status
from local_sim.journal import Journal
from local_sim.project import Project
from local_sim.runner import Observer, RunResult, resume_run, run_flow

HANDLERS = """\
import json, pathlib

class Busy(Exception):
    pass

def note(event, context):
    value = json.loads(event)
    with pathlib.Path(value["log"]).open("a") as log:
        log.write("x")
    if len(pathlib.Path(value["log"]).read_text()) <= value.get("fail", 0):
        raise Busy("not yet")
    return json.dumps({"noted": True})
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path, HANDLERS, ["note"], "asyncInvokeConfig: {maxAsyncRetryAttempts: 2}")
    child = "- {Type: Pass, Name: Inner, OutputConstructor: {got.$: $Input.v}, Next: Sleep}\n"
    child += "- {Type: Wait, Name: Sleep, Seconds: 10, End: true}"
    (made.flows / "child.yaml").write_text(flow_text("child", child), encoding="utf-8")
    fails = "- {Type: Fail, Name: No, Code: Refused, Detail: because}"
    (made.flows / "fails.yaml").write_text(flow_text("fails", fails), encoding="utf-8")
    return made


def run(project: Project, states: str, value: object = None, **more: object) -> RunResult:
    return run_flow(project, flow_text("f", states), value or {}, clock=VirtualClock(0), **more)  # type: ignore[arg-type]


def start_child(mode: str, flow: str = "child", name: str = "") -> str:
    named = f"executionName: {name}, " if name else ""
    parameters = f"{{resourceArn: 'acs:fnf:::flow/{flow}', {named}input: {{v.$: $Input.v}}}}"
    action = f"Action: 'FNF:StartExecution', TaskMode: {mode}"
    return f"- {{Type: Task, Name: Sub, {action}, Parameters: {parameters}, End: true}}"


def test_a_sub_flow_is_started_and_left_alone(project: Project) -> None:
    seen: list[str] = []

    class Watch(Observer):
        def on_history(self, execution: str, event: HistoryEvent) -> None:
            if event.type.startswith("Execution"):
                seen.append(f"{execution} {event.type}")

    result = run(project, start_child("RequestComplete", name="kid"), {"v": 1}, name="top", observer=Watch())
    assert (result.output["FlowName"], result.output["ExecutionName"]) == ("child", "kid")
    assert seen == [
        "top ExecutionStarted",
        "top ExecutionSucceeded",
        "kid ExecutionStarted",
        "kid ExecutionSucceeded",
    ] or (seen == ["top ExecutionStarted", "kid ExecutionStarted", "top ExecutionSucceeded", "kid ExecutionSucceeded"])


def test_the_system_callback_waits_for_the_childs_output(project: Project) -> None:
    result = run(project, start_child("WaitForSystemCallback"), {"v": [7]})
    assert (result.output, result.history[-1].time_ms) == ({"got": [7]}, 10_000)


def test_a_childs_failure_is_the_tasks(project: Project) -> None:
    result = run(project, start_child("WaitForSystemCallback", "fails"), {"v": 1})
    assert (result.status, result.error, result.cause) == (Status.FAILED, "Refused", "because")


def test_a_sub_flow_that_does_not_exist_fails_the_state(project: Project) -> None:
    assert run(project, start_child("RequestComplete", "nowhere"), {"v": 1}).error == "FnF.FlowNotExists"


def test_a_name_another_execution_has_is_refused(project: Project, tmp_path: Path) -> None:
    run(project, start_child("RequestComplete", name="kid"), {"v": 1}, data_dir=tmp_path / "d", name="a")
    again = run(project, start_child("RequestComplete", name="kid"), {"v": 1}, data_dir=tmp_path / "d", name="b")
    assert again.error == "FnF.ExecutionAlreadyExists"


def test_a_child_is_taken_up_after_a_power_cut(project: Project, tmp_path: Path) -> None:
    class PowerCut(Exception):
        pass

    class Cut(Observer):
        def __init__(self, at: int) -> None:
            self.left = at

        def on_history(self, execution: str, event: HistoryEvent) -> None:
            self.left -= 1
            if self.left == 0:
                raise PowerCut

    states = start_child("WaitForSystemCallback")
    whole = run(project, states, {"v": 1}, name="n", seed="s")
    for number in range(1, len(whole.history) + 8):
        data = tmp_path / f"d{number}"
        with pytest.raises(PowerCut):
            run(project, states, {"v": 1}, name="n", seed="s", data_dir=data, observer=Cut(number))
        result = resume_run(project, "n", data_dir=data)
        assert result.output == {"got": 1}


def test_an_asynchronous_call_is_accepted_at_once_and_runs(project: Project, tmp_path: Path) -> None:
    log = tmp_path / "log"
    result = run(project, task("Later", "note", kind="Async"), {"log": str(log)})
    assert result.output["RequestId"].startswith("1-")
    assert (log.read_text(), result.calls) == ("x", {"note": 1})


def test_a_failing_asynchronous_call_is_tried_again(project: Project, tmp_path: Path) -> None:
    result = run(project, task("Later", "note", kind="Async"), {"log": str(tmp_path / "log"), "fail": 9})
    assert (result.status, result.calls) == (Status.SUCCEEDED, {"note": 3})


def test_an_asynchronous_call_survives_a_power_cut(project: Project, tmp_path: Path) -> None:
    class PowerCut(Exception):
        pass

    class Cut(Observer):
        def on_history(self, execution: str, event: HistoryEvent) -> None:
            if event.type == "TaskSucceeded":
                raise PowerCut

    log, data = tmp_path / "log", tmp_path / "d"
    states = task("Later", "note", kind="Async", next_state="End") + "- {Type: Succeed, Name: End}"
    with pytest.raises(PowerCut):
        run(project, states, {"log": str(log)}, data_dir=data, observer=Cut())
    before = log.read_text() if log.exists() else ""
    assert resume_run(project, data_dir=data).succeeded
    assert len(log.read_text()) == max(1, len(before))


def test_the_system_callback_of_a_function_gives_its_answer(project: Project, tmp_path: Path) -> None:
    states = task("Later", "note", "TaskMode: WaitForSystemCallback", kind="Async")
    result = run(project, states, {"log": str(tmp_path / "log"), "fail": 1})
    assert (result.output["Body"], result.calls) == ({"noted": True}, {"note": 2})
    kinds = [event.type for event in result.history]
    assert kinds.index("TaskSubmitted") < kinds.index("TaskSucceeded")


def test_a_custom_callback_gets_its_token_by_the_event(project: Project) -> None:
    seen: list[Call] = []
    states = "- {Type: Task, Name: T, Action: 'X:Y', TaskMode: WaitForCustomCallback, Timeout: 5, End: true}"
    run(project, states, actions={"X:Y": lambda call: seen.append(call) or {}})
    assert seen[0].token
    assert seen[0].request_id.count("-") == 2


def test_children_of_a_distributed_map_are_executions_of_their_own(project: Project, tmp_path: Path) -> None:
    states = """\
    - Type: Map
      Name: All
      ProcessorConfig: {ExecutionMode: Express}
      ItemsPath: $Input.items
      Processor:
        StartAt: Each
        States:
          - {Type: Pass, Name: Each, OutputConstructor: {twice.$: 'format("{}{}", $Input.v, $Input.v)'}, End: true}
      End: true
    """
    result = run(project, states, {"items": [{"v": "a"}, {"v": "b"}]}, data_dir=tmp_path / "d", name="top")
    assert result.output == {"Items": [{"twice": "aa"}, {"twice": "bb"}]}
    with Journal(tmp_path / "d", read_only=True) as journal:
        records = journal.children(journal.find("top").id)
    assert [record.status for record in records] == [Status.SUCCEEDED] * 2


def test_a_reader_of_an_own_shape_needs_a_registered_callable(project: Project) -> None:
    states = """\
    - Type: Map
      Name: All
      ProcessorConfig: {ExecutionMode: Standard}
      ItemReader: {Action: 'OSS:GetObject', Parameters: {key: k}}
      Processor: {StartAt: Each, States: [{Type: Pass, Name: Each, End: true}]}
      End: true
    """
    result = run(project, states)
    assert result.error == "FnF.RuntimeError"
    assert "ItemReader has no field 'Action'" in result.cause
    assert "Map:ReadItems" in result.cause
    read = run(project, states, actions={"Map:ReadItems": lambda call: [{"v": 1}]})
    assert read.output == {"Items": [{"v": 1}]}
