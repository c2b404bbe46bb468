"""FNF:StartExecution in its three modes, row by row, on the real runner (SUB, MODE; R07)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from projects import flow_text, make_project

from local_sim.clock import VirtualClock
from local_sim.engine import Status
from local_sim.project import Project
from local_sim.runner import Decision, run_flow

CHILDREN = {
    "quick": "- {Type: Pass, Name: In, OutputConstructor: {got.$: $Input.v}, End: true}",
    "slow": "- {Type: Wait, Name: In, Seconds: 100, OutputConstructor: {slept: true}, End: true}",
    "bad": "- {Type: Fail, Name: In, Code: Refused, Detail: because}",
}
SYSTEM = "TaskMode: WaitForSystemCallback, "
CUSTOM = "TaskMode: WaitForCustomCallback, Timeout: 60, "
TAKES = "Catch: [{Errors: [%s], OutputConstructor: {e.$: $Context.Current.Error.Code}, Next: Z}], "
Z = "\n- {Type: Succeed, Name: Z}"


@dataclass(frozen=True)
class Row:
    """`states` is one Task that starts a flow; expected is `output`, or `error`. `seconds` is how long it takes."""

    source: str
    name: str
    states: str
    output: Mapping[str, Any] | None = None
    error: str = ""
    seconds: int = 0
    decide: Any = None

    def __str__(self) -> str:
        return f"{self.source}: {self.name}"


def start(flow: str, more: str = "", parameters: str = "input: {v: 1}", constructor: str = "") -> str:
    arn = f"resourceArn: 'acs:fnf:::flow/{flow}', {parameters}"
    shaped = f"OutputConstructor: {{{constructor}}}, " if constructor else ""
    return f"- {{Type: Task, Name: Sub, Action: 'FNF:StartExecution', Parameters: {{{arn}}}, {more}{shaped}End: true}}"


ROWS = [
    Row("SUB", "RequestComplete names the flow", start("quick", constructor="v.$: $Output.FlowName"), {"v": "quick"}),
    Row(
        "SUB",
        "and the execution",
        start("quick", parameters="executionName: mine, input: {v: 1}", constructor="v.$: $Output.ExecutionName"),
        {"v": "mine"},
    ),
    Row("SUB", "it does not wait for the end", start("slow", constructor="n.$: $Output.FlowName"), {"n": "slow"}),
    Row("SUB", "nor for its failure", start("bad", constructor="n.$: $Output.FlowName"), {"n": "bad"}),
    Row("SUB", "WaitForSystemCallback has the child's output", start("quick", SYSTEM, "input: {v: 7}"), {"got": 7}),
    Row("SUB", "it waits for the end", start("slow", SYSTEM), {"slept": True}, seconds=100),
    Row("SUB", "the child's error is the task's", start("bad", SYSTEM), error="Refused"),
    Row("SUB", "which Catch takes by name", start("bad", SYSTEM + TAKES % "Refused") + Z, {"e": "Refused"}),
    Row(
        "TASK",
        "a Timeout ends the waiting",
        start("slow", SYSTEM + "Timeout: 10, "),
        error="FnF.TaskTimeout",
        seconds=10,
    ),
    Row(
        "SUB",
        "WaitForCustomCallback waits for the report",
        start("quick", CUSTOM, "input: {v: 1, token.$: $Context.Current.TaskToken}"),
        {"said": "yes"},
        decide={"said": "yes"},
    ),
    Row(
        "SUB",
        "the child's end does not end it",
        start("quick", CUSTOM, "input: {v: 1, token.$: $Context.Current.TaskToken}"),
        error="FnF.TaskTimeout",
        seconds=60,
    ),
    Row("R07", "a flow that is not there", start("none", SYSTEM), error="FnF.FlowNotExists"),
    Row("SUB", "input must be an object", start("quick", SYSTEM, "input: [1]"), error="FnF.InvalidArgument"),
    Row("R07", "a name that is no text", start("quick", SYSTEM, "executionName: 7"), error="FnF.InvalidArgument"),
    Row("SUB", "no input is an empty one", start("slow", SYSTEM, "executionName: x"), {"slept": True}, seconds=100),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = make_project(tmp_path_factory.mktemp("subflows"))
    for name, states in CHILDREN.items():
        Path(made.flows, f"{name}.yaml").write_text(flow_text(name, states), encoding="utf-8")
    return made


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_subflows(row: Row, project: Project) -> None:
    clock = VirtualClock(0)
    decisions = [Decision(row.decide)] if row.decide is not None else []
    result = run_flow(project, flow_text("f", row.states), {}, clock=clock, decisions=decisions)
    if row.error:
        assert (result.status, result.error) == (Status.FAILED, row.error), result.cause
    else:
        assert (result.status, result.output) == (Status.SUCCEEDED, row.output), (result.error, result.cause)
    assert (result.history[-1].time_ms - result.history[0].time_ms) // 1000 == row.seconds
