"""A small project for tests of the scenario package."""

from __future__ import annotations

from pathlib import Path

from local_sim.project import Project

FLOW = """\
Type: StateMachine
SpecVersion: v1
Name: small
StartAt: Draft
States:
  - Type: Task
    Name: Draft
    Action: FC:InvokeFunction
    Timeout: 60
    Parameters: {resourceArn: "acs:fc:::functions/draft/LATEST", invocationType: Sync, body: {n.$: $Input.n}}
    Retry: [{Errors: [Busy], MaxAttempts: 2, IntervalSeconds: 5}]
    Catch: [{Errors: [FnF.TaskTimeout], Next: Late}, {Errors: [FnF.ALL], Next: Sorry}]
    OutputConstructor: {text.$: $Output.Body.text}
    Next: Ask
  - Type: Task
    Name: Ask
    Action: FC:InvokeFunction
    TaskMode: WaitForCustomCallback
    Timeout: 3600
    Parameters:
      resourceArn: "acs:fc:::functions/ask/LATEST"
      invocationType: Sync
      body: {token.$: $Context.Current.TaskToken, text.$: $Input.text}
    Catch: [{Errors: [FnF.TaskTimeout], Next: Late}]
    OutputConstructor: {decision.$: $Output.decision}
    Next: Route
  - Type: Choice
    Name: Route
    Branches: [{Condition: $Input.decision == "yes", Next: Done}]
    Default: Sorry
  - {Type: Succeed, Name: Done}
  - {Type: Fail, Name: Sorry, Code: Sorry, Detail: no}
  - {Type: Fail, Name: Late, Code: Late, Detail: late}
"""

FAN = """\
Type: StateMachine
SpecVersion: v1
Name: fan
StartAt: Fan
States:
  - Type: Parallel
    Name: Fan
    End: true
    Branches:
      - StartAt: Call
        States: [{Type: Task, Name: Call, Action: "MNS:Send", Parameters: {to: a}, End: true}]
      - StartAt: Call
        States: [{Type: Task, Name: Call, Action: "MNS:Send", Parameters: {to: b}, End: true}]
"""


def project_with(folder: Path, **flows: str) -> Project:
    """Return a project of these flows in a folder."""
    (folder / "flows").mkdir(exist_ok=True)
    for name, text in (flows or {"small": FLOW, "fan": FAN}).items():
        (folder / "flows" / f"{name}.yaml").write_text(text, encoding="utf-8")
    (folder / "pyproject.toml").write_text("[tool.local-sim]\n", encoding="utf-8")
    return Project(folder)
