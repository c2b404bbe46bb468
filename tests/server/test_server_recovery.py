"""kill -9 of the server under load: nothing acknowledged is lost, nothing is done twice, every execution ends."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from alibabacloud_fnf20190315 import models as fnf
from alibabacloud_fnf20190315.client import Client
from alibabacloud_tea_openapi.models import Config
from served_world import flow, wait
from Tea.exceptions import TeaException

from local_sim.server import ServerState, read_state

_START_SECONDS = 600  # a long run has the lowest priority on a machine that may be busy
FUNCTIONS = """
import json, os, pathlib
def work(event, context):
    given = json.loads(event)
    folder = pathlib.Path(os.environ["MARKS"])
    name = f"{given['run']}.{given['step']}"
    with open(folder / name, "a") as file:
        file.write("x")
    return json.dumps({"step": given["step"]})
def ask(event, context):
    given = json.loads(event)
    folder = pathlib.Path(os.environ["MARKS"])
    (folder / f"{given['run']}.token").write_text(given["token"])
    return "{}"
"""
TEMPLATE = """
edition: 3.0.0
name: crash
access: default
resources:
  work:
    component: fc3
    props: {{region: cn-hangzhou, functionName: work, runtime: python3.10, handler: index.work, code: ./code,
             timeout: 30, environmentVariables: {{MARKS: "{marks}"}}}}
  ask:
    component: fc3
    props: {{region: cn-hangzhou, functionName: ask, runtime: python3.10, handler: index.ask, code: ./code,
             timeout: 30, environmentVariables: {{MARKS: "{marks}"}}}}
"""


def task(name: str, function: str, mode: str = "RequestComplete", **body: Any) -> dict[str, Any]:
    parameters = {"resourceArn": f"acs:fc:::functions/{function}", "body": {"run.$": "$Context.Execution.Name", **body}}
    return {
        "Type": "Task",
        "Name": name,
        "Action": "FC:InvokeFunction",
        "TaskMode": mode,
        "Parameters": parameters,
        **({} if mode == "RequestComplete" else {"Timeout": 600}),
    }


class Victim:
    """A server process that can be killed and started again on the same folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.marks = folder / "marks"
        self.marks.mkdir()
        code = folder / "project" / "code"
        code.mkdir(parents=True)
        (code / "index.py").write_text(FUNCTIONS)
        (folder / "project" / "s.yaml").write_text(TEMPLATE.format(marks=self.marks))
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> ServerState:
        data = self.folder / "data"
        (data / "server.json").unlink(missing_ok=True)
        command = [sys.executable, "-m", "local_sim.cli", "serve", "--data", str(data), "--workers", "in-process"]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--project", str(self.folder / "project")],
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONFAULTHANDLER": "1", "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
            )
        deadline = time.monotonic() + _START_SECONDS
        while not (data / "server.json").exists():
            if time.monotonic() > deadline:
                self.process.send_signal(signal.SIGABRT)  # leaves where it hangs in the log
                self.process.wait()
            assert self.process.poll() is None, (self.folder / "log").read_text()[-3000:]
            time.sleep(0.01)
        return read_state(data)

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


def client_of(state: ServerState) -> Client:
    return Client(Config(endpoint=state.endpoint, access_key_id="a", access_key_secret="b", read_timeout=5000))


class Load:
    """Starts executions and answers their callbacks until told to stop; keeps what was acknowledged."""

    def __init__(self, victim: Victim) -> None:
        self.victim = victim
        self.started: set[str] = set()
        self.reported: dict[str, str] = {}
        self.count = 0
        self.lock = threading.Lock()

    def run(self, client: Client, stop: threading.Event) -> None:
        while not stop.is_set():
            with self.lock:
                self.count += 1
                name = f"run-{self.count}"
            with contextlib.suppress(Exception):  # a killed server answers nothing; only acknowledgements count
                client.start_execution(fnf.StartExecutionRequest(flow_name="f", execution_name=name, input="{}"))
                self.started.add(name)
                self.report(client)

    def wait_for_more(self) -> None:
        """Return once the server has acknowledged something more, so that no round is without load."""
        deadline, before = time.monotonic() + _START_SECONDS, len(self.started)
        while len(self.started) == before:
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def report(self, client: Client) -> None:
        for path in list(self.victim.marks.glob("*.token")):
            token, run = path.read_text(), path.name.partition(".")[0]
            if not token or run in self.reported:
                continue
            try:
                client.report_task_succeeded(fnf.ReportTaskSucceededRequest(task_token=token, output='{"yes": true}'))
                self.reported[run] = token
            except TeaException as error:
                if error.code == "TaskAlreadyCompleted":
                    self.reported[run] = token


def crash_rounds(tmp_path: Path, rounds: int, seed: int) -> None:
    print(f"seed {seed}")
    chance = random.Random(seed)
    victim = Victim(tmp_path)
    load = Load(victim)
    try:
        state = victim.start()
        definition = flow(
            "f",
            task("A", "work", step="a"),
            task("Ask", "ask", "WaitForCustomCallback", **{"token.$": "$Context.Current.TaskToken"}),
            wait("W", 1),
            task("B", "work", step="b"),
        )
        client_of(state).create_flow(fnf.CreateFlowRequest(name="f", definition=definition, description="", type="FDL"))
        for number in range(rounds):
            print(f"round {number}, {len(load.started)} acknowledged", flush=True)
            stop = threading.Event()
            threads = [threading.Thread(target=load.run, args=(client_of(state), stop)) for _ in range(2)]
            for thread in threads:
                thread.start()
            load.wait_for_more()
            time.sleep(chance.uniform(0, 0.5))
            victim.kill()
            stop.set()
            for thread in threads:
                thread.join()
            state = victim.start()
        check_everything(victim, load, client_of(state), rounds)
    finally:
        victim.kill()


def check_everything(victim: Victim, load: Load, client: Client, rounds: int) -> None:
    assert load.started
    deadline = time.monotonic() + _START_SECONDS
    open_runs = set(load.started)
    while open_runs:
        assert time.monotonic() < deadline, f"still open: {sorted(open_runs)[:5]}"
        load.report(client)
        for run in sorted(open_runs):
            request = fnf.DescribeExecutionRequest(flow_name="f", execution_name=run)
            body = client.describe_execution(request).body  # ExecutionNotExists here: an acknowledged start was lost
            if body.status == "Running":
                continue
            assert (body.status, json.loads(body.output)["Body"]) == ("Succeeded", {"step": "b"})
            open_runs.discard(run)
    for run in load.started:
        history = client.get_execution_history(
            fnf.GetExecutionHistoryRequest(flow_name="f", execution_name=run, limit=999)
        ).body.events
        assert [event.event_id for event in history] == list(range(1, len(history) + 1))
        assert sum(event.type == "TaskSucceeded" for event in history) == 3
        for step in "ab":
            # At-least-once: a call is repeated only when the server died while it was open, at most once a round.
            assert 1 <= len((victim.marks / f"{run}.{step}").read_text()) <= 1 + rounds


def test_executions_survive_kill_nine_under_load(tmp_path: Path) -> None:
    crash_rounds(tmp_path, rounds=3, seed=random.SystemRandom().randrange(2**32))


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_executions_survive_two_hundred_kills(tmp_path: Path) -> None:
    crash_rounds(tmp_path, rounds=200, seed=random.SystemRandom().randrange(2**32))
