"""The published Node SDKs against the server. Skipped, with the reason, where Node or the registry is missing."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import io
import json
import os
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from local_sim.project import Project
from local_sim.server import LocalServer

HERE = Path(__file__).parent
SOURCE = """
def handler(event, context):
    if event == b"fail":
        raise ValueError("as asked")
    return event
"""
DEFINITION = {
    "Type": "StateMachine",
    "SpecVersion": "v1",
    "Name": "f",
    "StartAt": "A",
    "States": [{"Type": "Pass", "Name": "A", "End": True}],
}


@pytest.fixture(scope="session")
def modules() -> Path:
    """A folder outside the tree with the packages installed once for every package.json."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node or npm is not installed")
    wanted = (HERE / "package.json").read_bytes()
    cache = Path(tempfile.gettempdir()) / f"stepkeeper-node-{hashlib.sha256(wanted).hexdigest()[:12]}"
    cache.mkdir(exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (cache / "installed").exists():
            (cache / "package.json").write_bytes(wanted)
            command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
            done = subprocess.run(command, cwd=cache, capture_output=True, text=True, timeout=110, check=False)
            if done.returncode:
                pytest.skip(f"the Node packages cannot be installed: {done.stderr.strip()[-300:]}")
            (cache / "installed").touch()
    return cache / "node_modules"


def run(modules: Path, script: str, **environment: str) -> Any:
    done = subprocess.run(
        ["node", str(HERE / script)],
        env={**os.environ, "NODE_PATH": str(modules), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.mark.parametrize("secret", [None, "s3cret"])
def test_cloudflow_with_the_node_sdk(modules: Path, tmp_path: Path, secret: str | None) -> None:
    with LocalServer(Project(tmp_path), tmp_path / "data", secret=secret) as server:
        settings = {"FNF_ENDPOINT": server.endpoint, "DEFINITION": json.dumps(DEFINITION), "SECRET": secret or ""}
        seen = run(modules, "cloudflow.js", **settings)
    assert (seen["created"], seen["again"], seen["started"]) == ("f", "FlowAlreadyExists", "e")
    assert (seen["status"], json.loads(seen["output"])) == ("Succeeded", {"x": "文"})
    assert seen["events"] >= 4
    assert seen["report"][0] == "InvalidArgument"
    assert (seen["schedules"], seen["gone"]) == (1, "FlowNotExists")


def test_function_compute_with_the_node_sdk(modules: Path, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("index.py", SOURCE)
    with LocalServer(Project(tmp_path), tmp_path / "data", workers="in-process") as server:
        packed = base64.b64encode(buffer.getvalue()).decode()
        seen = run(modules, "function_compute.js", FC_ENDPOINT=server.endpoint, ZIP=packed)
    assert (seen["created"], seen["status"], seen["body"]) == ("f", 200, '{"x":1}')
    assert (seen["failedStatus"], seen["errorType"]) == (200, "UnhandledInvocationError")
    assert seen["missing"] == "FunctionNotFound"
