"""Measures the console's pages: p95 and weight of each, with 10,000 executions stored and a history of 5,000 events.

The server runs in a child process; pages are asked for one after the other over one connection, as a browser does.
"Weight" is the page with its styles and script before compression. `main(["--executions", "10000"])`; run as
`python scripts/bench.py console`.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import quantiles

_FLOWS = {
    "work": """
Type: StateMachine
SpecVersion: v1
Name: work
StartAt: Work
States:
  - Type: Task
    Name: Work
    Action: "MNS:Work"
    Parameters: {n.$: $Input.n}
    Catch: [{Errors: [FnF.ALL], Next: Sorry}]
    Next: Ask
  - {Type: Pass, Name: Ask, Next: Done}
  - {Type: Succeed, Name: Done}
  - {Type: Fail, Name: Sorry, Code: Sorry, Detail: "no"}
""",
    "laps": """
Type: StateMachine
SpecVersion: v1
Name: laps
StartAt: Begin
States:
  - {Type: Pass, Name: Begin, OutputConstructor: {n: 0}, Next: Lap}
  - {Type: Pass, Name: Lap, OutputConstructor: {n.$: "intAdd($Input.n, 1)"}, Next: More}
  - {Type: Choice, Name: More, Branches: [{Condition: $Input.n < 620, Next: Lap}], Default: Done}
  - {Type: Succeed, Name: Done}
""",
}
_SERVER = """
import asyncio, json, sys, threading
from pathlib import Path
from local_sim.actions import ActionFailure
from local_sim.project import Project
from local_sim.server import LocalServer
folder, count = Path(sys.argv[1]), int(sys.argv[2])
def work(call):
    if call.parameters["n"] % 7 == 0:
        raise ActionFailure("Seventh", "a seventh one")
    return {}
with LocalServer(Project(folder), folder / "data", registered={"MNS:Work": work}) as server:
    async def fill():
        source = server._core.source
        def begun(n):
            return source.start("work", f"run-{n}", json.dumps({"task_id": f"t-{n}", "n": n}))
        for begin in range(0, count, 200):
            await asyncio.gather(*map(begun, range(begin, min(count, begin + 200))))
        await source.start("laps", "long", "{}")
        await server._core.settle()
    server._thread.run(fill())
    print(server.endpoint, flush=True)
    threading.Event().wait()
"""
PAGES = {
    "overview": "/console",
    "flows": "/console/flows",
    "a flow": "/console/flows/laps",
    "executions": "/console/executions",
    "executions, failed": "/console/executions?status=Failed",
    "executions, a task id": "/console/executions?text=t-77",
    "executions, a day": "/console/executions?from=2026-01-01",
    "an execution": "/console/executions/work/run-7",
    "an execution of 5,000 events": "/console/executions/laps/long",
    "its history, last page": "/console/executions/laps/long/history?page=49",
    "one of its visits": "/console/executions/laps/long/visits/2",
    "waiting": "/console/waiting",
    "faults": "/console/faults",
}
_ASSETS = ("/console/static/console.css", "/console/static/graph.css", "/console/static/console.js")


@dataclass(frozen=True)
class Measurement:
    """Milliseconds (median and 95th percentile of all requests) and bytes of one page; `gzip` is what travels."""

    page: str
    median_ms: float
    p95_ms: float
    weight: int
    gzip: int


def main(argv: Sequence[str] | None = None) -> list[Measurement]:
    """Measure, print a table (or JSON) and return the measurements."""
    parser = argparse.ArgumentParser(prog="bench.console", description="Time and weight of the console's pages.")
    parser.add_argument("--executions", type=int, default=10_000, help="how many are stored")
    parser.add_argument("--requests", type=int, default=100, help="requests of each page")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(argv)
    with _served(options.executions) as address:
        results = [_measure(address, name, path, options.requests) for name, path in PAGES.items()]
    print(json.dumps([asdict(result) for result in results]) if options.json else _table(results))
    return results


@contextlib.contextmanager
def _served(count: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="bench-console-") as folder:
        flows = Path(folder) / "flows"
        flows.mkdir()
        for name, text in _FLOWS.items():
            (flows / f"{name}.yaml").write_text(text, encoding="utf-8")
        process = subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-c", _SERVER, folder, str(count)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip().removeprefix("http://")
        finally:
            process.kill()
            process.wait()


def _measure(address: str, name: str, path: str, requests: int) -> Measurement:
    connection = http.client.HTTPConnection(address)
    times = []
    for _ in range(requests):
        begin = time.perf_counter()
        _get(connection, path)
        times.append((time.perf_counter() - begin) * 1000)
    assets = sum(len(_get(connection, asset)) for asset in _ASSETS)
    weight = len(_get(connection, path)) + assets
    packed = len(_get(connection, path, {"Accept-Encoding": "gzip"}))
    connection.close()
    cuts = quantiles(times, n=20)
    return Measurement(name, round(cuts[9], 1), round(cuts[18], 1), weight, packed)


def _get(connection: http.client.HTTPConnection, path: str, headers: dict[str, str] | None = None) -> bytes:
    connection.request("GET", path, headers=headers or {})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status} {body[:200]!r}")
    return body


def _table(results: list[Measurement]) -> str:
    lines = ["| page | median | p95 | weight | page alone, gzip |", "| --- | ---: | ---: | ---: | ---: |"]
    for one in results:
        times = f"{one.median_ms:.1f} ms | {one.p95_ms:.1f} ms"
        lines.append(f"| {one.page} | {times} | {one.weight / 1000:.0f} KB | {one.gzip / 1000:.1f} KB |")
    return "\n".join(lines)
