"""A server on a temporary folder, real clients for it, and small flows."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from alibabacloud_fc20230330.client import Client as FcClient
from alibabacloud_fnf20190315 import models as fnf
from alibabacloud_fnf20190315.client import Client as FnfClient
from alibabacloud_tea_openapi.models import Config

from local_sim.project import Project
from local_sim.server import LocalServer

ECHO = "MNS:Echo"
"""An action that answers its Parameters; tests register a callable for it."""


class World:
    """A server with clients, and what its registered actions have seen."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder = folder
        self.options = options
        self.seen: list[Any] = []
        self.tokens: list[str] = []
        self.server = self._server()

    def _server(self) -> LocalServer:
        return LocalServer(
            Project(self.folder),
            self.folder / "data",
            registered={ECHO: self._echo, **self.options.pop("registered", {})},
            **self.options,
        )

    def _echo(self, call: Any) -> Any:
        self.seen.append(call.parameters)
        if call.token:
            self.tokens.append(call.token)
        return call.parameters or {}

    def restart(self) -> None:
        """Stop the server and start another on the same folder."""
        self.server.stop()
        self.server = self._server().start()

    @property
    def fnf(self) -> FnfClient:
        return FnfClient(Config(endpoint=self.server.endpoint, access_key_id="id", access_key_secret="secret"))

    @property
    def fc(self) -> FcClient:
        return FcClient(
            Config(
                endpoint=self.server.endpoint, access_key_id="id", access_key_secret="secret", region_id="cn-hangzhou"
            )
        )

    def create(self, name: str, *states: dict[str, Any], mode: str = "Standard", **fields: Any) -> None:
        self.fnf.create_flow(
            fnf.CreateFlowRequest(
                name=name, definition=flow(name, *states, **fields), description="", type="FDL", execution_mode=mode
            )
        )

    def begin(self, flow_name: str, name: str, given: Any = None, **more: Any) -> Any:
        request = fnf.StartExecutionRequest(
            flow_name=flow_name, execution_name=name, input=json.dumps(given or {}), **more
        )
        return self.fnf.start_execution(request).body

    def end_of(self, flow_name: str, name: str, seconds: int = 8) -> Any:
        request = fnf.DescribeExecutionRequest(flow_name=flow_name, execution_name=name, wait_time_seconds=seconds)
        return self.fnf.describe_execution(request).body

    def history(self, flow_name: str, name: str) -> list[Any]:
        request = fnf.GetExecutionHistoryRequest(flow_name=flow_name, execution_name=name, limit=999)
        return self.fnf.get_execution_history(request).body.events

    def wait_for_tokens(self, count: int) -> list[str]:
        """Return the callback tokens handed out, once there are `count`."""
        self.until(lambda: len(self.tokens) >= count)
        return self.tokens

    def until(self, condition: Callable[[], bool], seconds: float = 10) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it never came true"
            threading.Event().wait(0.005)


def flow(name: str, *states: dict[str, Any], **fields: Any) -> str:
    """Return a definition as JSON text: the states in order, the last one ending it."""
    chain = [dict(state) for state in states]
    for here, following in itertools.pairwise(chain):
        if here["Type"] not in ("Fail", "Succeed", "Choice"):
            here.setdefault("Next", following["Name"])
    if chain[-1]["Type"] not in ("Fail", "Succeed"):
        chain[-1].setdefault("End", True)
    head = {"Type": "StateMachine", "SpecVersion": "v1", "Name": name, "StartAt": chain[0]["Name"]}
    return json.dumps({**head, **fields, "States": chain})


def echo(name: str, **fields: Any) -> dict[str, Any]:
    """A Task that answers its Parameters."""
    task = {"Type": "Task", "Name": name, "Action": ECHO, "TaskMode": "RequestComplete"}
    return {**task, "Parameters": {"said": name}, **fields}


def callback(name: str, **fields: Any) -> dict[str, Any]:
    """A Task that waits for its report."""
    parameters = {"token.$": "$Context.Current.TaskToken"}
    return echo(name, TaskMode="WaitForCustomCallback", Parameters=parameters, **{"Timeout": 1000, **fields})


def wait(name: str, seconds: int) -> dict[str, Any]:
    return {"Type": "Wait", "Name": name, "Seconds": seconds}


def passing(name: str, **fields: Any) -> dict[str, Any]:
    return {"Type": "Pass", "Name": name, **fields}
