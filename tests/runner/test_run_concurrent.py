"""With process workers the branches of a Parallel really run at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import flow_text, make_project

from local_sim.clock import Clock, RealClock, VirtualClock
from local_sim.runner import run_flow

HANDLERS = """\
import json, os, pathlib, time

def meet(event, context):
    folder = pathlib.Path(json.loads(event)["folder"])
    (folder / f"here-{os.getpid()}").touch()
    deadline = time.monotonic() + 30
    while len(list(folder.glob("here-*"))) < 2:
        assert time.monotonic() < deadline, "nobody else came"
        time.sleep(0.01)
    return json.dumps({"pid": os.getpid()})
"""
BRANCH = """\
    - StartAt: {0}
      States:
        - Type: Task
          Name: {0}
          Action: FC:InvokeFunction
          Parameters: {{resourceArn: 'acs:fc:::functions/meet', invocationType: Sync, body.$: $Input}}
          OutputConstructor: {{pid.$: $Output.Body.pid}}
          End: true
"""


@pytest.mark.parametrize("clock", [RealClock(), VirtualClock(0)], ids=["real", "virtual"])
def test_branches_meet(tmp_path: Path, clock: Clock) -> None:
    project = make_project(tmp_path, HANDLERS, ["meet"], "timeout: 60")
    states = "- Type: Parallel\n  Name: Fan\n  End: true\n  Branches:\n" + BRANCH.format("A") + BRANCH.format("B")
    (tmp_path / "meeting").mkdir()
    value = {"folder": str(tmp_path / "meeting")}
    result = run_flow(project, flow_text("f", states), value, clock=clock, workers="process")
    assert result.succeeded, result.cause
    assert result.output["Branch0"]["pid"] != result.output["Branch1"]["pid"]
    assert result.calls == {"meet": 2}


def test_a_tasks_timeout_strikes_while_its_call_is_still_running(tmp_path: Path) -> None:
    source = "import time\ndef slow(event, context):\n    time.sleep(2.5)\n"
    project = make_project(tmp_path, source, ["slow"], "timeout: 60")
    task = "{Type: Task, Name: T, Action: 'FC:InvokeFunction', Timeout: 1, End: true, Parameters: "
    states = f"- {task}{{resourceArn: 'acs:fc:::functions/slow', invocationType: Sync}}}}"
    result = run_flow(project, flow_text("f", states), {}, workers="process")
    assert result.error == "FnF.TaskTimeout"
