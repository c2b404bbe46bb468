"""A tiny deployment: one function, one flow with a person in it, an empty cloud."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from life_kit import Deployed, empty_cloud

TEMPLATE = """\
edition: 3.0.0
name: tiny
access: default
resources:
  one:
    component: fc3
    props:
      region: cn-hangzhou
      functionName: tiny-one
      runtime: python3.10
      code: ./code
      handler: index.handler
      cpu: 0.5
      memorySize: 1024
      timeout: 10
      role: tiny-functions
      asyncInvokeConfig: {maxAsyncRetryAttempts: 0}
      triggers:
        - triggerName: often
          triggerType: timer
          triggerConfig: {cronExpression: "@every 5m", enable: false}
      environmentVariables: {TABLESTORE_INSTANCE: local, OSS_BUCKET: local-bucket, STAGE: "${env('TINY_STAGE','1')}"}
"""
FLOW = """\
Type: StateMachine
SpecVersion: v1
Name: tiny
StartAt: One
States:
  - Type: Task
    Name: One
    Action: FC:InvokeFunction
    Timeout: 20
    Parameters:
      resourceArn: acs:fc:::functions/tiny-one/LATEST
      invocationType: Sync
      body:
        workflow: "tiny-1"
        mode.$: $Input.mode
    Next: Ask
  - Type: Task
    Name: Ask
    Action: FC:InvokeFunction
    TaskMode: WaitForCustomCallback
    Timeout: 600
    Parameters:
      resourceArn: acs:fc:::functions/tiny-one/LATEST
      invocationType: Sync
      body:
        mode: ask
        token.$: $Context.Current.TaskToken
    End: true
"""
HANDLER = """\
import json, os
class Refused(Exception): pass
def handler(event, context):
    if json.loads(event).get("mode") == "fail":
        raise Refused("told to")
    return json.dumps({"stage": os.environ["STAGE"]})
"""


@contextmanager
def tiny_project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    """The files, and an empty cloud."""
    archive = folder / "code.zip"
    with zipfile.ZipFile(archive, "w") as package:
        package.writestr("index.py", HANDLER)
    (folder / "s.yaml").write_text(TEMPLATE, encoding="utf-8")
    (folder / "flows").mkdir()
    (folder / "flows" / "tiny.yaml").write_text(FLOW, encoding="utf-8")
    with empty_cloud(folder, archive, monkeypatch) as cloud:
        monkeypatch.setenv("STEPKEEPER_TEMPLATE", str(folder / "s.yaml"))
        monkeypatch.setenv("STEPKEEPER_FLOWS", str(folder / "flows"))
        # Checking a flow is a process of its own; tests of the check are elsewhere.
        monkeypatch.setattr("scripts.deploy_flows.flow_problems", lambda files, root: [])
        yield cloud


@contextmanager
def tiny_deployment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    """Deployed and ready to start."""
    with tiny_project(folder, monkeypatch) as cloud:
        for job in ("provision", "deploy_functions", "publish", "deploy_flows"):
            cloud.run(job)
        yield cloud


def start(cloud: Deployed, name: str, mode: str = "go") -> None:
    """Start the flow and let it come to the person or to its end."""
    cloud.run("start", "tiny", "--name", name, "--input", json.dumps({"mode": mode, "task_id": name}))
    for _ in range(300):
        found = cloud.json("status", "tiny", name)
        if found["waiting_in"] or found["status"] not in ("", "Starting", "Running"):
            return
        time.sleep(0.05)
    raise AssertionError(found)


def answer(cloud: Deployed, name: str) -> None:
    """Answer for the person."""
    cloud.flows.succeed(cloud.token("tiny", name, "Ask"), json.dumps({"decision": "approved"}))
    found = cloud.flows.execution("tiny", name, 30)
    assert found is not None
    assert found.status == "Succeeded"
