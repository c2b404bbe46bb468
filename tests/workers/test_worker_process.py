"""What only child processes give: real kills, crashes survived, calls at once."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from local_sim.project import Function
from local_sim.project.errors import Place
from local_sim.workers import ProcessWorker, WorkerEnvironment

HANDLERS = """\
import os, signal, time

def pid(event, context):
    return str(os.getpid())

def hard(event, context):
    print("about to die", flush=True)
    os._exit(9)

def killed(event, context):
    os.kill(os.getpid(), signal.SIGKILL)

def forever(event, context):
    open(event.decode(), "w").write(str(os.getpid()))
    while True:
        time.sleep(60)

def meet(event, context):
    import pathlib
    folder = pathlib.Path(event.decode())
    (folder / f"here-{os.getpid()}").touch()
    while len(list(folder.glob("here-*"))) < 2:
        time.sleep(0.01)
    return "met"
"""


@pytest.fixture
def worker() -> Iterator[ProcessWorker]:
    made = ProcessWorker()
    yield made
    made.close()


def function(code: Path, name: str) -> Function:
    (code / "index.py").write_text(HANDLERS, encoding="utf-8")
    place = Place("s.yaml", 1, 1)
    return Function(
        name=name,
        handler=f"index.{name}",
        runtime="python3.12",
        code=code,
        place=place,
        handler_place=place,
        timeout=30,
    )


def test_a_handler_runs_in_another_process_and_the_same_one_again(worker: ProcessWorker, tmp_path: Path) -> None:
    first, second = (worker.invoke(function(tmp_path, "pid"), b"", "r").body for _ in range(2))
    assert first == second != str(os.getpid()).encode()


@pytest.mark.parametrize("name", ["hard", "killed"])
def test_a_crash_is_an_answer_and_the_next_call_gets_a_new_instance(
    worker: ProcessWorker, tmp_path: Path, name: str
) -> None:
    result = worker.invoke(function(tmp_path, name), b"", "r")
    assert json.loads(result.body)["errorMessage"].startswith("Process exited unexpectedly")
    assert result.logs == ("about to die\n" if name == "hard" else "")
    assert worker.invoke(function(tmp_path, "pid"), b"", "r").body.isdigit()


def test_a_timeout_kills_the_handler(worker: ProcessWorker, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    result = worker.invoke(function(tmp_path, "forever"), str(note).encode(), "r", timeout=1.5)
    assert "Function timed out after 1.5 seconds" in result.body.decode()
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), signal.SIG_DFL)


def test_calls_run_at_once(worker: ProcessWorker, tmp_path: Path) -> None:
    meet = function(tmp_path, "meet")
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda n: worker.invoke(meet, str(tmp_path).encode(), n, timeout=30), ["a", "b"]))
    assert [result.body for result in results] == [b"met", b"met"]


def test_other_endpoints_need_a_new_instance(tmp_path: Path) -> None:
    variables = {"OSS_ENDPOINT": "one"}
    made = ProcessWorker(WorkerEnvironment(lambda: variables))
    first = made.invoke(function(tmp_path, "pid"), b"", "r").body
    variables["OSS_ENDPOINT"] = "two"
    assert made.invoke(function(tmp_path, "pid"), b"", "r").body != first
    made.close()


def test_closing_ends_a_call_in_progress(tmp_path: Path) -> None:
    made, note = ProcessWorker(), tmp_path / "pid"
    ended = threading.Event()

    def call() -> None:
        made.invoke(function(tmp_path, "forever"), str(note).encode(), "r")
        ended.set()

    thread = threading.Thread(target=call)
    thread.start()
    while not (note.exists() and note.read_text()):
        threading.Event().wait(0.01)
    made.close()
    assert ended.wait(10)
    thread.join()
