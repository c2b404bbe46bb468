"""The two servers that `bench.py cloud` compares, each a process of its own, and a client that costs almost nothing.

`LocalSim` is `local-sim serve` on a small project with one function; `Moto` is moto's server, told to really run state
machines. Both are asked through plain keep-alive connections, so that the servers are what is measured.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import urlencode, urlsplit

ROOT = Path(__file__).resolve().parents[2]
_PATIENCE_SECONDS = 120
_HANDLER = "def handle(event, context):\n    return event\n"
_TEMPLATE = """
edition: 3.0.0
name: bench
access: default
resources:
  work:
    component: fc3
    props: {region: cn-hangzhou, functionName: work, runtime: python3.10, handler: index.handle, code: ./code}
"""
_FORM = {"content-type": "application/x-www-form-urlencoded"}
_MOTO = """
import logging, threading
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print("http://%s:%s" % server.get_host_and_port(), flush=True)
threading.Event().wait()
"""
_SIGNED = "AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/states/aws4_request, SignedHeaders=host, Signature=0"


class FlowServer(Protocol):
    """A server that runs flows, in the process `pid`."""

    @property
    def pid(self) -> int:
        """The process."""
        ...

    def client(self) -> FlowClient:
        """Return a client with a connection of its own, for one thread."""
        ...


class FlowClient(Protocol):
    """What the measurements ask of a server."""

    def run(self, name: str) -> None:
        """Run the six-step flow under `name` to its end; raises RuntimeError unless it succeeds."""
        ...


@dataclass(frozen=True)
class LocalSim:
    """A running `local-sim serve`: its address and its process."""

    endpoint: str
    pid: int

    def client(self) -> LocalClient:
        """Return a client for one thread."""
        return LocalClient(self.endpoint)

    def resident_bytes(self) -> int:
        """Return the memory of the process, where the system tells it; else 0."""
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1]
        except OSError:
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


class LocalClient:
    """CloudFlow's API over one connection."""

    def __init__(self, endpoint: str) -> None:
        self._connection = _connection(endpoint)

    def call(self, action: str, **parameters: str) -> Any:
        """Return the answer's document; raises RuntimeError for an error."""
        self._connection.request("POST", "/", urlencode({"Action": action, **parameters}), _FORM)
        document = json.loads(self._connection.getresponse().read())
        if "Code" in document:
            raise RuntimeError(f"{document['Code']}: {document['Message']}")
        return document

    def run(self, name: str) -> None:
        """Run the six-task flow."""
        self.call("StartExecution", FlowName="six", ExecutionName=name, Input="{}")
        ended = self.call("DescribeExecution", FlowName="six", ExecutionName=name, WaitTimeSeconds="60")
        if ended["Status"] != "Succeeded":
            raise RuntimeError(str(ended))


@dataclass(frozen=True)
class Moto:
    """A running moto server with a state machine of six Pass states: its Tasks would need Docker."""

    endpoint: str
    pid: int
    machine: str

    def client(self) -> MotoClient:
        """Return a client for one thread."""
        return MotoClient(self.endpoint, self.machine)


class MotoClient:
    """Step Functions' API over one connection."""

    def __init__(self, endpoint: str, machine: str = "") -> None:
        self._connection = _connection(endpoint)
        self._machine = machine

    def call(self, action: str, **parameters: str) -> Any:
        """Return the answer's document; raises RuntimeError for an error."""
        headers = {
            "content-type": "application/x-amz-json-1.0",
            "x-amz-target": f"AWSStepFunctions.{action[0].upper()}{action[1:]}",
            "authorization": _SIGNED,
        }
        self._connection.request("POST", "/", json.dumps(parameters), headers)
        answer = self._connection.getresponse()
        document = json.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(str(document))
        return document

    def run(self, name: str) -> None:
        """Run the six-state machine, asking for its end every millisecond."""
        execution = self.call("startExecution", stateMachineArn=self._machine, name=name, input="{}")["executionArn"]
        while (status := self.call("describeExecution", executionArn=execution)["status"]) == "RUNNING":
            time.sleep(0.001)
        if status != "SUCCEEDED":
            raise RuntimeError(status)


@contextmanager
def local_sim(*options: str) -> Iterator[LocalSim]:
    """Run `local-sim serve` with `options` on a project with the flows `six` and `ask`."""
    with tempfile.TemporaryDirectory(prefix="bench-cloud-") as folder:
        project = small_project(Path(folder))
        with serving(project, Path(folder) / "data", *options) as server:
            client = server.client()
            task = {"Type": "Task", "Action": "FC:InvokeFunction"}
            where = {"resourceArn": "acs:fc:::functions/work", "body": {"x": 1}}
            steps = [{**task, "Name": f"S{n}", "TaskMode": "RequestComplete", "Parameters": where} for n in range(6)]
            ask = {**task, "Name": "A", "TaskMode": "WaitForCustomCallback", "Parameters": where, "Timeout": 86400}
            for name, states in (("six", steps), ("ask", [ask])):
                client.call("CreateFlow", Name=name, Definition=_chain(name, states), Description="", Type="FDL")
            yield server


def small_project(folder: Path) -> Path:
    """Write a project with one function and return where it is."""
    project = folder / "project"
    (project / "code").mkdir(parents=True)
    (project / "code" / "index.py").write_text(_HANDLER, encoding="utf-8")
    (project / "s.yaml").write_text(_TEMPLATE, encoding="utf-8")
    return project


@contextmanager
def serving(project: Path, data: Path, *options: str) -> Iterator[LocalSim]:
    """Run `local-sim serve` on a project and a data folder until it answers, then to the end of the block."""
    command = [sys.executable, "-m", "local_sim.cli", "serve", "--project", str(project), "--data", str(data)]
    environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - this interpreter and our own module
            [*command, *options], stdout=subprocess.DEVNULL, stderr=said, env=environment, cwd=project
        )
        try:
            yield LocalSim(_answering(data, process, said), process.pid)
        finally:
            process.terminate()
            process.wait()


def _answering(data: Path, process: subprocess.Popen[bytes], said: IO[bytes]) -> str:
    """Return the endpoint once a first request is answered; raises RuntimeError with what the process `said`."""
    from local_sim.server import ServerNotRunning, read_state

    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            state = read_state(data)
        except ServerNotRunning:
            time.sleep(0.002)
            continue
        if state.pid == process.pid:
            LocalClient(state.endpoint).call("DescribeRegions")
            return state.endpoint
    said.seek(0)
    raise RuntimeError(f"local-sim serve did not start: {said.read().decode(errors='replace')[-2000:]}")


@contextmanager
def moto() -> Iterator[Moto]:
    """Run moto's server with a state machine of six Pass states."""
    process = subprocess.Popen(  # noqa: S603 - this interpreter and the text above
        [sys.executable, "-c", _MOTO], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        endpoint = process.stdout.readline().strip() if process.stdout else ""
        connection = _connection(endpoint)
        setting = json.dumps({"stepfunctions": {"execute_state_machine": True}})
        connection.request("POST", "/moto-api/config", setting, {"content-type": "application/json"})
        connection.getresponse().read()
        states: dict[str, Any] = {f"S{n}": {"Type": "Pass", "Next": f"S{n + 1}"} for n in range(5)}
        states["S5"] = {"Type": "Pass", "End": True}
        definition = json.dumps({"StartAt": "S0", "States": states})
        role = "arn:aws:iam::123456789012:role/bench"
        made = MotoClient(endpoint).call("createStateMachine", name="six", definition=definition, roleArn=role)
        yield Moto(endpoint, process.pid, made["stateMachineArn"])
    finally:
        process.kill()
        process.wait()


def _connection(endpoint: str) -> http.client.HTTPConnection:
    address = urlsplit(endpoint)
    return http.client.HTTPConnection(address.hostname or "", address.port, timeout=_PATIENCE_SECONDS)


def _chain(name: str, states: list[dict[str, Any]]) -> str:
    for here, following in itertools.pairwise(states):
        here["Next"] = following["Name"]
    states[-1]["End"] = True
    head = {"Type": "StateMachine", "SpecVersion": "v1", "Name": name, "StartAt": states[0]["Name"]}
    return json.dumps({**head, "States": states})
