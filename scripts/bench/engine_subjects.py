"""One measurement in a process of its own: `python -m scripts.bench.engine_subjects SUBJECT CASE` prints JSON.

`{"seconds", "steps", "peak_mib"}`, or `{"skipped": reason}`. Seconds are those of the run alone: definitions are loaded
before, and the garbage collector is as Python sets it. Peak memory is that of the whole process.
"""

from __future__ import annotations

import heapq
import importlib.util
import json
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from .engine_cases import CASES, Case, as_text

_FOLDER = Path(__file__).parent / "neighbours"
_SMALL = "Type: StateMachine\nName: warm\nStartAt: a\nStates: [{Type: Pass, Name: a, End: true}]\n"
_PATIENCE_SECONDS = 30
_MOTO_MOST = 1_000
"""moto takes seconds for a thousand states; ten thousand would only say so again."""


def bare_engine(case: Case) -> float:
    """Run on the engine alone, with a driver that fires timers under virtual time."""
    from local_sim.definition import load_flow
    from local_sim.engine import Execution, Limits, Started, StartTimer, Status, TaskSubmitted, TimerFired

    flow = load_flow(as_text(case), max_bytes=10**9)
    limits = Limits(max_events=None, max_io_bytes=None if "10,000 items" in case.name else 64 * 1024)
    started = time.perf_counter()
    execution = Execution(flow, name="bench", secret=b"bench", limits=limits)
    timers: list[tuple[int, int]] = []
    commands = execution.handle(Started(0, case.input, "bench"))
    for waiting in execution.waiting:
        commands += execution.handle(TaskSubmitted(0, waiting.task_id))
    while execution.status is Status.RUNNING:
        for command in commands:
            if isinstance(command, StartTimer):
                heapq.heappush(timers, (command.due_ms, command.timer_id))
        due_ms, timer_id = heapq.heappop(timers)
        commands = execution.handle(TimerFired(due_ms, timer_id))
    seconds = time.perf_counter() - started
    if execution.status is not Status.SUCCEEDED or not execution.history:
        raise RuntimeError(f"{execution.error}: {execution.cause}")
    return seconds


def with_journal(case: Case) -> float:
    """Run as `local-sim run` does: definition read, journal on disk, workers. The published event limit holds."""
    from local_sim.clock import VirtualClock
    from local_sim.cloud import LocalCloud
    from local_sim.project import Project
    from local_sim.runner import run_flow

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        flow = root / "bench.json"
        flow.write_text(as_text(case), encoding="utf-8")
        project = Project(root)
        asked = {"Bench:Ask": lambda parameters: None}
        with LocalCloud(project, root / "data") as cloud:
            # The first run of a process imports what runs need; "cold" shows that.
            run_flow(project, _SMALL, {}, data_dir=root / "data", cloud=cloud, clock=VirtualClock())
            started = time.perf_counter()
            result = run_flow(
                project, flow, case.input, data_dir=root / "data", cloud=cloud, clock=VirtualClock(), actions=asked
            )
            seconds = time.perf_counter() - started
    if result.status.value != "Succeeded":
        raise RuntimeError(f"{result.error}: {result.cause}")
    return seconds


def check(case: Case) -> float:
    """Check a definition, everything imported."""
    from local_sim.definition import check_flow

    text = as_text(case)
    check_flow(text)
    started = time.perf_counter()
    report = check_flow(text)
    seconds = time.perf_counter() - started
    if not report.ok:
        raise RuntimeError("the definition is not sound")
    return seconds


def moto(case: Case) -> float:
    """Run on moto's Step Functions, in this process, through boto3."""
    import boto3  # type: ignore[import-untyped]
    from moto import mock_aws

    os.environ.update(AWS_ACCESS_KEY_ID="bench", AWS_SECRET_ACCESS_KEY="bench", AWS_DEFAULT_REGION="us-east-1")  # noqa: S106
    role = "arn:aws:iam::123456789012:role/bench"
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        client = boto3.client("stepfunctions")
        made = client.create_state_machine(name="bench", definition=json.dumps(case.asl), roleArn=role)
        started = time.perf_counter()
        run = client.start_execution(stateMachineArn=made["stateMachineArn"], input=json.dumps(case.input))
        status = "RUNNING"
        while status == "RUNNING":
            time.sleep(0.002)
            status = client.describe_execution(executionArn=run["executionArn"])["status"]
        seconds = time.perf_counter() - started
    if status != "SUCCEEDED":
        raise RuntimeError(status)
    return seconds


def ministack(case: Case) -> float:
    """Run on MiniStack's Step Functions: its server in a child process, asked through boto3."""
    import boto3

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    environment = {**os.environ, "GATEWAY_PORT": str(port), "SERVICES": "stepfunctions", "LOG_LEVEL": "ERROR"}
    server = subprocess.Popen(
        [sys.executable, "-m", "ministack"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        keys = {"aws_access_key_id": "bench", "aws_secret_access_key": "bench", "region_name": "us-east-1"}
        client = boto3.client("stepfunctions", endpoint_url=f"http://127.0.0.1:{port}", **keys)
        _wait_for(port)
        role = "arn:aws:iam::000000000000:role/bench"
        made = client.create_state_machine(name="bench", definition=json.dumps(case.asl), roleArn=role)
        started = time.perf_counter()
        run = client.start_execution(stateMachineArn=made["stateMachineArn"], input=json.dumps(case.input))
        status = "RUNNING"
        while status == "RUNNING":
            if time.perf_counter() - started > _PATIENCE_SECONDS:
                raise RuntimeError(f"no result within {_PATIENCE_SECONDS} s")
            time.sleep(0.002)
            status = client.describe_execution(executionArn=run["executionArn"])["status"]
        seconds = time.perf_counter() - started
    finally:
        server.kill()
        server.wait()
    if status != "SUCCEEDED":
        raise RuntimeError(status)
    return seconds


def _wait_for(port: int) -> None:
    for _ in range(600):
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the server does not answer")


def aws_local_stepfunctions(case: Case) -> dict[str, float]:
    """Run on the npm package, in Node."""
    payload = json.dumps({"definition": case.asl, "input": case.input})
    command = ["node", "run.mjs"]
    try:
        done = subprocess.run(  # noqa: S603 - our own script
            command, cwd=_FOLDER, input=payload, capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"no result within {_PATIENCE_SECONDS} s") from None
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else "node failed")
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


SUBJECTS: dict[str, Callable[[Case], float | dict[str, float]]] = {
    "engine": bare_engine,
    "local-sim run": with_journal,
    "check": check,
    "moto": moto,
    "ministack": ministack,
    "aws-local-stepfunctions": aws_local_stepfunctions,
}


def reason_to_skip(subject: str, name: str, case: Case) -> str:
    """Say why a subject does not run a case; empty when it does."""
    if (subject == "check") != name.startswith("check"):
        return "another subject's case"
    if subject == "local-sim run" and (case.steps > 1000 or name == "map-1000"):
        return "over the 5,000 events of an execution"
    if subject in ("moto", "ministack", "aws-local-stepfunctions"):
        return _neighbour_skips(subject, case)
    return ""


def _neighbour_skips(subject: str, case: Case) -> str:
    if case.asl is None:
        return "has no virtual time"
    if subject == "moto":
        return (
            "takes too long" if case.steps > _MOTO_MOST else "" if importlib.util.find_spec("moto") else "not installed"
        )
    if subject == "ministack":
        return "" if importlib.util.find_spec("ministack") else "not installed"
    if not (_FOLDER / "node_modules" / "aws-local-stepfunctions").is_dir():
        return "not installed: npm install in scripts/bench/neighbours"
    return ""


def peak_mib() -> float:
    """Return the most memory this process has held, in MiB."""
    # Where there is /proc: ru_maxrss of a child starts at what its parent held when it forked.
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"^VmHWM:\s+(\d+) kB", status.read_text(encoding="ascii"), re.MULTILINE)
        if found:
            return int(found[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(argv: list[str]) -> None:
    """Measure once and print."""
    subject, name = argv
    case = CASES[name]()
    if reason := reason_to_skip(subject, name, case):
        print(json.dumps({"skipped": reason}))
        return
    measured = SUBJECTS[subject](case)
    found = measured if isinstance(measured, dict) else {"seconds": measured, "peak_mib": peak_mib()}
    print(json.dumps({"steps": case.steps, **found}))


if __name__ == "__main__":
    main(sys.argv[1:])
