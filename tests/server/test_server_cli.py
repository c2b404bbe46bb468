"""`local-sim serve`, `env`, `fault` and `stop` as commands."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from alibabacloud_fnf20190315 import models as fnf
from alibabacloud_fnf20190315.client import Client
from alibabacloud_tea_openapi.models import Config
from Tea.exceptions import TeaException

from local_sim.server import ControlClient, read_state

ROOT = Path(__file__).resolve().parents[2]


def command(folder: Path, *arguments: str) -> Any:
    return subprocess.run(
        [sys.executable, "-m", "local_sim.cli", *arguments, "--data", str(folder / "data")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_serve_in_the_background_env_fault_and_stop(tmp_path: Path) -> None:
    started = command(tmp_path, "serve", "--background")
    assert started.returncode == 0, started.stderr
    state = read_state(tmp_path / "data")
    try:
        assert state.endpoint in started.stdout
        exports = dict(
            shlex.split(line)[1].split("=", 1) for line in command(tmp_path, "env").stdout.strip().splitlines()
        )
        assert exports == dict(state.environment)
        assert command(tmp_path, "fault", "add", "--service", "fnf", "--kind", "throttle").stdout == "1\n"
        client = Client(Config(endpoint=exports["FNF_ENDPOINT"], access_key_id="a", access_key_secret="b"))
        with pytest.raises(TeaException, match="fault"):
            client.list_flows(fnf.ListFlowsRequest())
        assert '"kind": "throttle"' in command(tmp_path, "fault", "list").stdout
        assert command(tmp_path, "fault", "clear").returncode == 0
        assert client.list_flows(fnf.ListFlowsRequest()).body.flows == []
        assert "another process" in command(tmp_path, "serve").stderr
    finally:
        stopped = command(tmp_path, "stop")
    assert stopped.returncode == 0, stopped.stderr
    assert not (tmp_path / "data" / "server.json").exists()
    again = command(tmp_path, "stop")
    assert (again.returncode, "no server runs" in again.stderr) == (2, True)


def test_a_server_that_cannot_come_up_says_why(tmp_path: Path) -> None:
    refused = command(tmp_path, "serve", "--background", "--host", "0.0.0.0")
    assert refused.returncode == 2
    assert "--secret" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--debug", "f:0"], "is no port"),
        (["--debug", "f:x"], "is no port"),
        (["--debug", "f", "--workers", "in-process"], "needs --workers process"),
    ],
)
def test_a_debugger_that_cannot_be_waited_for_is_refused(tmp_path: Path, arguments: list[str], reason: str) -> None:
    refused = command(tmp_path, "serve", *arguments)
    assert (refused.returncode, reason in refused.stderr) == (2, True), refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_signal_ends_the_server_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    process = subprocess.Popen(
        [sys.executable, "-m", "local_sim.cli", "serve", "--data", str(folder)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 30
    while not (folder / "server.json").exists():
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    assert ControlClient(folder).call("GET", "status")["pid"] == process.pid
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    assert not (folder / "server.json").exists()
