"""Measures object storage: puts and gets per second of our OSS service and of moto's server, taking turns.

Both are served from a child process and asked by the same `oss2` client from this one; ours flushes every put to disk,
moto keeps it in memory. `main(["--seconds", "3", "--json"])`; run as `python -m scripts.bench.oss`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import oss2

from scripts.bench.cpu_meter import Meter

SIZES = {"1 KB": 1_000, "10 MB": 10_000_000}
_KEY, _SECRET = "bench-key", "bench-secret"
_OURS = """
import sys, threading
from local_sim.clock import RealClock
from local_sim.services import ServiceHost
from local_sim.services.oss import OssStore, create_app
store = OssStore(sys.argv[1])
host = ServiceHost(create_app(store, credentials={sys.argv[2]: sys.argv[3]}, clock=RealClock())).start()
print(host.endpoint, flush=True)
threading.Event().wait()
"""
_MOTO = """
import logging, threading
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print("http://%s:%s" % server.get_host_and_port(), flush=True)
threading.Event().wait()
"""

_SERVERS = {"local_sim": _OURS, "moto": _MOTO}


@dataclass(frozen=True)
class Measurement:
    """Operations per second of `server` for one operation, object size and number of client threads.

    `server_ms` and `client_ms` are the CPU time of one operation on each side.
    """

    server: str
    operation: str
    size: str
    clients: int
    per_second: float
    server_ms: float
    client_ms: float


def main(argv: Sequence[str] | None = None) -> list[Measurement]:
    """Measure, print a table (or JSON) and return the measurements."""
    parser = argparse.ArgumentParser(prog="bench.oss", description="OSS puts and gets per second, moto beside it.")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each operation is repeated")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8], help="numbers of client threads")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(argv)
    results = list(measure(options.seconds, options.clients))
    print(json.dumps([asdict(result) for result in results]) if options.json else _table(results))
    return results


def measure(seconds: float, clients: Sequence[int]) -> Iterator[Measurement]:
    """Start both servers and measure every operation for `seconds` with each number of client threads."""
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(_served(script)) for name, script in _SERVERS.items()}
        yield from _measure(servers, seconds, clients)


@contextlib.contextmanager
def _served(script: str) -> Iterator[tuple[str, int]]:
    root = Path(__file__).parents[2]
    with tempfile.TemporaryDirectory(prefix="bench-oss-") as folder:
        process = subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-c", script, folder, _KEY, _SECRET],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=root,
            env={**os.environ, "PYTHONPATH": "."},
        )
        try:
            yield process.stdout.readline().strip() if process.stdout else "", process.pid
        finally:
            process.kill()
            process.wait()


def _measure(servers: Mapping[str, tuple[str, int]], seconds: float, clients: Sequence[int]) -> Iterator[Measurement]:
    """Measure each operation on one server and at once on the other, so that a busy machine is unfair to neither."""
    for endpoint, _ in servers.values():
        _bucket(endpoint).create_bucket()
    for size, length in SIZES.items():
        for threads in clients:
            for name, operation in _operations(length).items():
                for server, (endpoint, process) in servers.items():
                    meter = Meter(process)
                    rate, count = _rate(endpoint, operation, threads, seconds)
                    yield Measurement(server, name, size, threads, rate, *meter.each_ms(count))


def _operations(length: int) -> dict[str, Callable[[Any, int], None]]:
    data = os.urandom(length)

    def put(bucket: Any, number: int) -> None:
        bucket.put_object(f"key-{number}", data)

    def get(bucket: Any, number: int) -> None:
        if len(bucket.get_object(f"key-{number}").read()) != length:
            raise RuntimeError("short answer")

    return {"put": put, "get": get}


def _rate(endpoint: str, operation: Callable[[Any, int], None], threads: int, seconds: float) -> tuple[float, int]:
    """Repeat `operation` in `threads` threads, each with a client and key of its own; return rate and count."""

    def run(number: int) -> tuple[int, float]:
        bucket = _bucket(endpoint)
        operation(bucket, number)  # opens the connection
        begin, count = time.perf_counter(), 0
        while (elapsed := time.perf_counter() - begin) < seconds:
            operation(bucket, number)
            count += 1
        return count, elapsed

    with ThreadPoolExecutor(threads) as pool:
        counts = list(pool.map(run, range(threads)))
    return sum(count / elapsed for count, elapsed in counts), sum(count for count, _ in counts)


def _bucket(endpoint: str) -> Any:
    # Checked CRCs cost the client more than the servers take; moto sends none, so they are off for both.
    return oss2.Bucket(oss2.Auth(_KEY, _SECRET), endpoint, "bench-bucket", enable_crc=False)


def _table(results: Sequence[Measurement]) -> str:
    lines = [f"{'server':<10} {'op':<4} {'size':>6} {'clients':>7} {'per second':>11}"]
    for each in results:
        what = f"{each.server:<10} {each.operation:<4} {each.size:>6} {each.clients:>7}"
        lines.append(f"{what} {each.per_second:>11.1f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
