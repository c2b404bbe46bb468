"""The local cloud in one table: flows, what waits, Tablestore, OSS and start-up, with moto's server beside it.

    python scripts/bench.py cloud --waiting 1000 10000

Servers run in processes of their own. Every write of ours is on disk before it is answered; moto keeps all in memory.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.bench import cloud_servers as servers
from scripts.bench.cloud_servers import FlowServer
from scripts.bench.cpu_meter import Meter, cpu_seconds

_WORKERS = {"in-process": "in-process workers", "process": "child-process workers"}


@dataclass(frozen=True)
class Line:
    """A row of the table; `unit` says what `value` counts, times are milliseconds.

    `server_ms` and `client_ms` are CPU time of one operation on each side, without workers in other processes.
    """

    what: str
    server: str
    clients: int
    value: float
    unit: str
    p50_ms: float | None = None
    p99_ms: float | None = None
    server_ms: float | None = None
    client_ms: float | None = None

    def __str__(self) -> str:
        times = (self.p50_ms, self.p99_ms, self.server_ms, self.client_ms)
        shown = " | ".join("-" if each is None else f"{each:.2f}" for each in times)
        number = f"{self.value:,.0f}" if self.value >= 10 else f"{self.value:.2f}"
        return f"| {self.what} | {self.server} | {self.clients} | {number} {self.unit} | {shown} |"


def flows(what: str, name: str, server: FlowServer, clients: int, seconds: float) -> Line:
    """Run flows one after another in `clients` threads; times are from StartExecution to Succeeded."""
    times: list[float] = []
    deadline = time.perf_counter() + seconds

    def work(number: int) -> None:
        client, index = server.client(), 0
        while (begin := time.perf_counter()) < deadline:
            client.run(f"{name}-{clients}-{number}-{index}")
            times.append(time.perf_counter() - begin)
            index += 1

    meter, begin = Meter(server.pid), time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(work, range(clients)))
    rate = len(times) / (time.perf_counter() - begin)
    times.sort()
    p50, p99 = (times[len(times) * part // 100] * 1000 for part in (50, 99))
    return Line(what, name, clients, rate, "executions/s", p50, p99, *meter.each_ms(len(times)))


def waiting(count: int) -> Iterator[Line]:
    """Let `count` executions wait for a callback at once; memory for each, and how fast they were started."""
    with servers.local_sim("--workers", "in-process") as server:
        before, begin = server.resident_bytes(), time.perf_counter()

        def start(number: int) -> None:
            client = server.client()
            for index in range(number, count, 8):
                client.call("StartExecution", FlowName="ask", ExecutionName=f"e{index}", Input="{}")

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(start, range(8)))
        rate = count / (time.perf_counter() - begin)
        client = server.client()
        while client.call("ListExecutions", FlowName="ask", Status="Starting", Limit="1").get("Executions"):
            time.sleep(0.1)
        time.sleep(2)  # the last calls are being answered
        each = (server.resident_bytes() - before) / count / 1000
    yield Line(f"{count:,} waiting for a callback", "local_sim", 8, each, "KB each")
    yield Line("their starts", "local_sim", 8, rate, "executions/s")


def start_up(project: Path, name: str, runs: int) -> Line:
    """Median time of `local-sim serve` from the process's start to its first answer, the data folder being there."""
    with tempfile.TemporaryDirectory(prefix="bench-cloud-") as folder:
        data, times, cpu = Path(folder) / "data", [], []
        for _ in range(runs + 1):
            begin = time.perf_counter()
            with servers.serving(project, data) as server:
                times.append(time.perf_counter() - begin)
                cpu.append((cpu_seconds(server.pid) or 0) * 1000)
    times, cpu = times[1:], cpu[1:]  # the first start makes the folder
    middle = statistics.median
    return Line(f"start-up, {name}", "local_sim", 1, middle(times), "s", server_ms=middle(cpu))


def _start_up_moto(runs: int) -> Line:
    times, cpu = [], []
    for _ in range(runs):
        begin = time.perf_counter()
        with servers.moto() as server:
            times.append(time.perf_counter() - begin)
            cpu.append((cpu_seconds(server.pid) or 0) * 1000)
    return Line("start-up", "moto", 1, statistics.median(times), "s", server_ms=statistics.median(cpu))


def _start_ups(runs: int) -> Iterator[Line]:
    with tempfile.TemporaryDirectory(prefix="bench-cloud-") as folder:
        yield start_up(servers.small_project(Path(folder)), "one function", runs)
    yield start_up(servers.ROOT, "this repository", runs)
    yield _start_up_moto(runs)


def _flow_lines(seconds: float) -> Iterator[Line]:
    for kind, what in _WORKERS.items():
        with servers.local_sim("--workers", kind) as server:
            flows("warm", "warm", server, 1, 0.5)
            for clients in (1, 8):
                yield flows(f"flow of 6 tasks, {what}", "local_sim", server, clients, seconds)
    with servers.moto() as server:
        flows("warm", "warm", server, 1, 0.5)
        for clients in (1, 8):
            yield flows("flow of 6 Pass states", "moto", server, clients, seconds)


def _tablestore_lines(count: int) -> Iterator[Line]:
    from scripts.bench import tablestore

    with tempfile.TemporaryDirectory() as folder, tablestore.served(folder) as (endpoint, process):
        bench = tablestore.Bench(endpoint)
        for threads in (1, 8):
            tasks = [f"put-{threads}-{number:06}" for number in range(count)]
            for what, operation in (
                ("conditional put", bench.put),
                ("get", bench.get),
                ("conditional update", bench.update),
            ):
                meter = Meter(process)
                seen = tablestore.measure(what, operation, tasks, threads)
                times = (seen.p50_ms, seen.p99_ms, *meter.each_ms(count))
                yield Line(f"Tablestore {what}", "local_sim", threads, seen.per_second, "/s", *times)


def _oss_lines(seconds: float) -> Iterator[Line]:
    from scripts.bench import oss

    for seen in oss.measure(seconds, (1, 8)):
        what = f"OSS {seen.operation} {seen.size}"
        times = (None, None, seen.server_ms, seen.client_ms)
        yield Line(what, seen.server, seen.clients, seen.per_second, "/s", *times)


def main(argv: Sequence[str] | None = None) -> list[Line]:
    """Print the table row by row and return the rows."""
    parser = argparse.ArgumentParser(prog="bench cloud", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each rate is measured (%(default)s)")
    parser.add_argument("--count", type=int, default=2000, help="Tablestore operations per row (%(default)s)")
    parser.add_argument("--waiting", type=int, nargs="*", default=[1000], help="how many executions wait at once")
    parser.add_argument("--runs", type=int, default=5, help="starts of each server (%(default)s)")
    parser.add_argument(
        "--only", nargs="+", choices=["start", "flows", "waiting", "tablestore", "oss"], help="parts of the table"
    )
    chosen = parser.parse_args(argv)
    parts: dict[str, Any] = {
        "start": lambda: _start_ups(chosen.runs),
        "flows": lambda: _flow_lines(chosen.seconds),
        "waiting": lambda: (line for count in chosen.waiting for line in waiting(count)),
        "tablestore": lambda: _tablestore_lines(chosen.count),
        "oss": lambda: _oss_lines(chosen.seconds),
    }
    print("| what | on | clients | rate | p50 ms | p99 ms | server CPU ms | client CPU ms |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    lines: list[Line] = []
    for name, make in parts.items():
        if chosen.only is None or name in chosen.only:
            for line in make():
                print(line, flush=True)
                lines.append(line)
    return lines


if __name__ == "__main__":
    main()
