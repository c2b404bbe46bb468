"""Instances of functions: memory and time limits, hooks, warmth, interpreters, and a debugger."""

from __future__ import annotations

import itertools
import json
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local_sim.project import Function
from local_sim.project.errors import Place
from local_sim.workers import DebuggerMissing, ProcessWorker
from local_sim.workers.interpreters import imported_modules, interpreter_of

HANDLERS = """\
import os, subprocess, sys, time

def pid(event, context):
    return str(os.getpid())

def who(event, context):
    function = context.function
    shown = [os.environ["FC_INSTANCE_ID"], os.environ["FC_FUNCTION_VERSION"], function.version_id, function.qualifier]
    return " ".join(shown)

def hoard(event, context):
    kept = [bytearray(os.urandom(1 << 20)) for _ in range(int(event))]
    print("holding", len(kept), flush=True)
    if context.function.name == "hoard-and-wait":
        time.sleep(60)
    return "kept"

def starts_another(event, context):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with open(event.decode(), "w") as file:
        file.write(str(child.pid))
    os._exit(1)

def initialize(context):
    print("initializing")

def slow_start(context):
    time.sleep(60)

def dying_start(context):
    os._exit(3)

def leave(context):
    print("leaving")
    open(os.environ["LEFT"], "a").write(context.function.name + "\\n")

def sulk(context):
    time.sleep(60)

def marked(event, context):
    return os.environ.get("WHICH_PYTHON", "the running one")
"""

Make = Callable[..., Function]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    code = tmp_path / "code"
    code.mkdir()
    (code / "index.py").write_text(HANDLERS, encoding="utf-8")
    place = Place("s.yaml", 1, 1)

    def function(handler: str, **fields: Any) -> Function:
        given = {"name": handler, "handler": f"index.{handler}", "runtime": "python3.12", "timeout": 30, **fields}
        return Function(code=code, place=place, handler_place=place, **given)

    return function


@pytest.fixture
def worker() -> Iterator[ProcessWorker]:
    made = ProcessWorker()
    yield made
    made.close()


def message(body: bytes) -> str:
    document = json.loads(body)
    assert list(document) == ["errorMessage"], "an exit and a timeout have neither type nor stack"
    return str(document["errorMessage"])


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def gone(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("name", ["hoard", "hoard-and-wait"], ids=["seen at its end", "seen while it runs"])
def test_more_memory_than_allowed_ends_the_process_as_documented(worker: ProcessWorker, make: Make, name: str) -> None:
    function = replace(make("hoard", memory=128), name=name)
    result = worker.invoke(function, b"200", "r1")
    assert (result.error_type, result.status) == ("UnhandledInvocationError", 200)
    pattern = r"Process exited unexpectedly before completing request \(duration: \d+ms, maxMemoryUsage: (\d+)MB\)"
    found = re.fullmatch(pattern, message(result.body))
    assert found is not None
    assert int(found[1]) > 128
    small = worker.invoke(replace(function, name="hoard"), b"10", "r2")
    assert (small.body, small.error_type) == (b"kept", "")
    assert 10 < small.memory_mb < 128


def test_memory_is_the_instances_own_not_the_servers(worker: ProcessWorker, make: Make) -> None:
    ballast = bytearray(os.urandom(1 << 20)) * 150
    assert worker.invoke(make("pid", memory=128), b"", "r").memory_mb < 100 < len(ballast) >> 20


def test_what_a_handler_started_ends_with_its_instance(worker: ProcessWorker, make: Make, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    worker.invoke(make("starts_another"), str(file).encode(), "r")
    eventually(lambda: gone(int(file.read_text())))
    assert worker.instances() == []


def test_an_initializers_log_comes_before_the_first_calls(worker: ProcessWorker, make: Make) -> None:
    function = make("pid", initializer="index.initialize")
    logs = [worker.invoke(function, b"", f"r{number}").logs for number in range(2)]
    assert ["initializing" in text for text in logs] == [True, False]


@pytest.mark.parametrize(
    ("hook", "text"), [("slow_start", "Function timed out after 1 seconds"), ("dying_start", "Process exited")]
)
def test_an_initializer_has_its_own_time_and_its_own_error(
    worker: ProcessWorker, make: Make, hook: str, text: str
) -> None:
    function = make("pid", initializer=f"index.{hook}", initializer_timeout=1)
    result = worker.invoke(function, b"", "r")
    assert (result.status, result.error_type) == (200, "InitializationError")
    assert message(result.body).startswith(text)
    assert worker.instances() == []


def test_an_idle_instance_expires_after_its_pre_stop_hook(make: Make, tmp_path: Path) -> None:
    left = tmp_path / "left"
    function = make("pid", pre_stop="index.leave", environment={"LEFT": str(left)})
    worker = ProcessWorker(idle_seconds=0.1)
    try:
        first = int(worker.invoke(function, b"", "r1").body)
        eventually(lambda: gone(first) and worker.instances() == [])
        assert left.read_text() == "pid\n"
        assert int(worker.invoke(function, b"", "r2").body) != first
    finally:
        worker.close()
    assert left.read_text() == "pid\npid\n", "closing stops idle instances in order too"


def test_a_pre_stop_hook_has_its_time_and_no_more(make: Make) -> None:
    worker = ProcessWorker()
    pid = int(worker.invoke(make("pid", pre_stop="index.sulk", pre_stop_timeout=1), b"", "r").body)
    worker.close()
    assert gone(pid)


def test_instances_are_told_and_versions_do_not_share_them(worker: ProcessWorker, make: Make) -> None:
    latest, second = make("who"), make("who", version="2")
    shown = [worker.invoke(function, b"", "r").body.decode().split() for function in (latest, second, latest)]
    assert [line[1:] for line in shown] == [["LATEST", "LATEST"], ["2", "2", "2"], ["LATEST", "LATEST"]]
    assert shown[0][0] == shown[2][0] != shown[1][0]
    assert {(info.id, info.version) for info in worker.instances()} == {(shown[0][0], "LATEST"), (shown[1][0], "2")}


@pytest.fixture
def python_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An interpreter of another name that says so to what it runs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    other = folder / "python3.10"
    other.write_text(f'#!/bin/sh\nWHICH_PYTHON=3.10 exec {sys.executable} "$@"\n', encoding="utf-8")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return other


def test_the_python_of_the_runtime_runs_a_function_when_it_is_installed(
    worker: ProcessWorker, make: Make, python_on_path: Path
) -> None:
    assert worker.invoke(make("marked", runtime="python3.10"), b"", "r").body == b"3.10"
    assert worker.invoke(replace(make("marked"), name="other", runtime="python3.9"), b"", "r").body == (
        b"the running one"
    )


def test_an_interpreter_without_the_codes_modules_is_left_alone(
    make: Make, python_on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = make("marked", runtime="python3.10")
    module = function.handler.rpartition(".")[0]
    handler = function.code / f"{module}.py"
    handler.write_text(handler.read_text(encoding="utf-8") + "\nfrom kit.other import f\n", encoding="utf-8")
    (function.code / "kit").mkdir()
    (function.code / "kit" / "__init__.py").touch()
    text = "from . import near\n\ndef f():\n    import no_such_module_anywhere.part\n"
    (function.code / "kit" / "other.py").write_text(text, encoding="utf-8")
    (function.code / "kit" / "near.py").write_text("import json, ..broken\n", encoding="utf-8")
    (function.code / "unused.py").write_text("import another_missing_one\n", encoding="utf-8")
    assert imported_modules([function.code], module) == {"no_such_module_anywhere"}
    assert interpreter_of(function, {}) == sys.executable
    monkeypatch.setenv("LOCAL_SIM_PYTHON3_10", str(python_on_path))
    assert interpreter_of(function, {}) == str(python_on_path), "one that is named is taken as it is"


def test_without_debugpy_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DebuggerMissing, match="pip install debugpy") as caught:
        ProcessWorker(debug={"f": 5678})
    assert caught.value.function == "f"


class Editor:
    """As much of the debug adapter protocol as an editor needs to attach, stop once and go on."""

    def __init__(self, port: int) -> None:
        self._numbers = itertools.count(1)
        deadline = time.monotonic() + 30
        while True:
            try:
                self._socket = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        self._socket.settimeout(30)
        self._stream = self._socket.makefile("rb")

    def ask(self, command: str, **arguments: Any) -> None:
        text = json.dumps(
            {"seq": next(self._numbers), "type": "request", "command": command, "arguments": arguments}
        ).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n" % len(text) + text)

    def until(self, kind: str, name: str) -> dict[str, Any]:
        while True:
            size = int(self._stream.readline().partition(b":")[2])
            self._stream.readline()
            found: dict[str, Any] = json.loads(self._stream.read(size))
            if found["type"] == kind and found.get("event" if kind == "event" else "command") == name:
                return found

    def close(self) -> None:
        self._stream.close()
        self._socket.close()


def test_an_editor_attaches_and_stops_at_a_breakpoint_past_the_timeout(make: Make) -> None:
    pytest.importorskip("debugpy")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    function = make("pid", timeout=1)
    worker = ProcessWorker(debug={"pid": port})
    answers: list[bytes] = []
    caller = threading.Thread(target=lambda: answers.append(worker.invoke(function, b"", "r").body))
    caller.start()
    try:
        editor = Editor(port)
        editor.ask("initialize", adapterID="test", clientID="test")
        editor.ask("attach", justMyCode=True)
        editor.until("event", "initialized")
        line = HANDLERS.splitlines().index("    return str(os.getpid())") + 1
        path = str(function.code / "index.py")
        editor.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": line}])
        editor.ask("configurationDone")
        stopped = editor.until("event", "stopped")["body"]
        assert (stopped["reason"], answers) == ("breakpoint", [])
        time.sleep(1.2)  # longer than the function's timeout, which a debugged call does not have
        editor.ask("continue", threadId=stopped["threadId"])
        caller.join(30)
        assert [int(answer) > 0 for answer in answers] == [True]
        editor.close()
    finally:
        worker.close()
        caller.join(30)
