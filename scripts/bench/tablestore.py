"""Operations per second of the local Tablestore through the unmodified SDK, and where the time of one write goes.

The service runs in a process of its own, the clients in this one, so that two cores are in use; every write is on
disk before it is answered. Numbers: operations a second, and milliseconds an operation at the median and the 99th
percentile.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SERVER = """
import sys
from local_sim.services import ServiceHost
from local_sim.services.tablestore import TablestoreStore, create_app
with TablestoreStore(sys.argv[1]) as store, ServiceHost(create_app(store)) as host:
    print(host.endpoint, flush=True)
    sys.stdin.read()
"""
_ROOT = Path(__file__).resolve().parents[2]
_ROW_COLUMNS = [("state", "claimed"), ("token", "x" * 32), ("epoch", 1), ("hash", "h" * 64), ("payload", "p" * 400)]


@dataclass(frozen=True)
class Measured:
    """One line of the table; times in milliseconds."""

    name: str
    clients: str
    per_second: float
    p50_ms: float | None = None
    p99_ms: float | None = None

    def __str__(self) -> str:
        times = "" if self.p50_ms is None else f"{self.p50_ms:8.2f} {self.p99_ms:8.2f}"
        return f"{self.name:<34} {self.clients:>9} {self.per_second:10,.0f} {times}"


class Bench:
    """The operations that are measured, over one client and one table."""

    def __init__(self, endpoint: str) -> None:
        import tablestore as sdk
        from tablestore.retry import NoRetryPolicy

        self.sdk = sdk
        self._options = {"retry_policy": NoRetryPolicy()}
        self._endpoint = endpoint
        self.client = sdk.OTSClient(endpoint, "local", "local", "bench", **self._options)
        self._claim = sdk.Condition(sdk.RowExistenceExpectation.EXPECT_NOT_EXIST)
        self._held = self._unchanged()
        self.client.create_table(
            sdk.TableMeta("bench", [("task", "STRING"), ("entry", "STRING")]),
            sdk.TableOptions(),
            sdk.ReservedThroughput(sdk.CapacityUnit(0, 0)),
        )

    def async_client(self) -> Any:
        """Return an asyncio client; only inside a running loop."""
        return self.sdk.AsyncOTSClient(self._endpoint, "local", "local", "bench", **self._options)

    def row(self, task: str) -> Any:
        """Return a row of about 600 bytes."""
        return self.sdk.Row(self._key(task), _ROW_COLUMNS)

    def put(self, task: str) -> None:
        """Claim: PutRow with EXPECT_NOT_EXIST."""
        self.client.put_row("bench", self.row(task), self._claim)

    def get(self, task: str) -> None:
        """GetRow of a whole row."""
        _, found, _ = self.client.get_row("bench", self._key(task), max_version=1)
        if found is None:
            raise LookupError(task)

    def update(self, task: str) -> None:
        """Compare and set: UpdateRow with EXPECT_EXIST and three columns equal."""
        changes = {"PUT": [("payload", "q" * 400)]}
        self.client.update_row("bench", self.sdk.Row(self._key(task), changes), self._held)

    def batches(self, count: int, size: int) -> None:
        """`count` times BatchWriteRow of `size` rows."""
        for number in range(count):
            self._batch(f"batch-{number}", size)

    def _batch(self, prefix: str, size: int) -> None:
        items = [self.sdk.PutRowItem(self.row(f"{prefix}-{number}"), self._claim) for number in range(size)]
        request = self.sdk.BatchWriteRowRequest()
        request.add(self.sdk.TableInBatchWriteRowItem("bench", items))
        if not self.client.batch_write_row(request).is_all_succeed():
            raise LookupError(prefix)

    def scan(self) -> int:
        """Read the whole table by GetRange and return the number of rows."""
        sdk, count = self.sdk, 0
        start: Any = [("task", sdk.INF_MIN), ("entry", sdk.INF_MIN)]
        end = [("task", sdk.INF_MAX), ("entry", sdk.INF_MAX)]
        while start:
            _, start, rows, _ = self.client.get_range("bench", "FORWARD", start, end, max_version=1)
            count += len(rows)
        return count

    async def gathered_puts(self, tasks: Sequence[str]) -> None:
        """Claim all at once through the asyncio client."""
        client = self.async_client()
        await asyncio.gather(*(client.put_row("bench", self.row(task), self._claim) for task in tasks))
        await client.close()

    def _key(self, task: str) -> list[tuple[str, str]]:
        return [("task", task), ("entry", "step/v1/charge")]

    def _unchanged(self) -> Any:
        sdk = self.sdk
        held = sdk.CompositeColumnCondition(sdk.LogicalOperator.AND)
        for name, value in (("state", "claimed"), ("token", "x" * 32), ("epoch", 1)):
            held.add_sub_condition(sdk.SingleColumnCondition(name, value, sdk.ComparatorType.EQUAL, False))
        return sdk.Condition(sdk.RowExistenceExpectation.EXPECT_EXIST, held)


def measure(name: str, operation: Callable[[str], None], tasks: Sequence[str], threads: int) -> Measured:
    """Run `operation` on every task from `threads` threads."""

    def timed(task: str) -> float:
        begin = time.perf_counter()
        operation(task)
        return time.perf_counter() - begin

    begin = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        # One long share for each thread: a pool that hands out single tasks would be part of what is measured.
        shares = [tasks[number::threads] for number in range(threads)]
        times = sorted(itertools.chain(*pool.map(lambda share: [timed(task) for task in share], shares)))
    elapsed = time.perf_counter() - begin
    p50, p99 = (times[len(times) * part // 100] * 1000 for part in (50, 99))
    return Measured(name, f"{threads} thr", len(times) / elapsed, p50, p99)


def _rate(name: str, clients: str, count: int, run: Callable[[], object]) -> Measured:
    begin = time.perf_counter()
    run()
    return Measured(name, clients, count / (time.perf_counter() - begin))


def rows_of_the_table(bench: Bench, count: int) -> Iterator[Measured]:
    """Yield every measurement; `count` operations each."""
    for threads in (1, 8):
        tasks = [f"put-{threads}-{number:06}" for number in range(count)]
        yield measure("put, expecting no row", bench.put, tasks, threads)
        yield measure("get", bench.get, tasks, threads)
        yield measure("update, three columns compared", bench.update, tasks, threads)
    gathered = [f"async-{number:06}" for number in range(count)]
    yield _rate("put, expecting no row", "asyncio", count, lambda: asyncio.run(bench.gathered_puts(gathered)))
    batches = max(1, count // 100)
    yield _rate("rows in batches of 100", "1 thr", batches * 100, lambda: bench.batches(batches, 100))
    total = bench.scan()
    yield _rate("rows scanned by range", "1 thr", total, bench.scan)


def breakdown(bench: Bench, process: int, count: int) -> Iterator[str]:
    """Yield where a put's time goes: what each side computes, and the part of the client before anything is sent."""
    from tablestore.auth import RequestContext

    from scripts.bench.cpu_meter import cpu_seconds

    client, sdk = bench.client, bench.sdk
    context = RequestContext(client.credentials_provider.get_credentials())
    condition = sdk.Condition(sdk.RowExistenceExpectation.EXPECT_NOT_EXIST)
    begin = time.perf_counter()
    for number in range(count):
        row = bench.row(f"encode-{number}")
        client.protocol.make_request("PutRow", client._signer, context, "bench", row, condition, None, None)
    encode = (time.perf_counter() - begin) / count
    ours, theirs, wall = time.process_time(), cpu_seconds(process), time.perf_counter()
    for number in range(count):
        bench.put(f"cpu-{number:06}")
    yield f"  one put, one thread: {(time.perf_counter() - wall) / count * 1e6:6.0f} us"
    yield f"  client, all of it:   {(time.process_time() - ours) / count * 1e6:6.0f} us of CPU"
    yield f"  of it encode, sign:  {encode * 1e6:6.0f} us"
    if theirs is not None:
        yield f"  service:             {((cpu_seconds(process) or 0) - theirs) / count * 1e6:6.0f} us of CPU"


@contextlib.contextmanager
def served(folder: str) -> Iterator[tuple[str, int]]:
    """Run the service in a child process; yields its endpoint and process id."""
    command = [sys.executable, "-c", _SERVER, str(Path(folder) / "ots.db")]
    with subprocess.Popen(  # noqa: S603 - this interpreter and the text above
        command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        if child.stdin is None or child.stdout is None:
            raise RuntimeError("the child has no pipes")
        yield child.stdout.readline().strip(), child.pid
        child.stdin.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; `argv` as on the command line."""
    parser = argparse.ArgumentParser(prog="bench tablestore", description=__doc__)
    parser.add_argument("--count", type=int, default=4000, help="operations for each line (default %(default)s)")
    parser.add_argument(
        "--quiet-client",
        action="store_true",
        help="set the SDK's logger to WARNING: by default it formats every request as text for a log nobody reads",
    )
    chosen = parser.parse_args(argv)
    from tablestore import OTSClient

    if chosen.quiet_client:
        logging.getLogger(OTSClient.DEFAULT_LOGGER_NAME).setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder, served(folder) as (endpoint, process):
        bench = Bench(endpoint)
        print(f"{'Tablestore':<34} {'clients':>9} {'per second':>10} {'p50 ms':>8} {'p99 ms':>8}")
        for line in rows_of_the_table(bench, chosen.count):
            print(line)
        print("where the time of a put goes")
        for text in breakdown(bench, process, max(1, chosen.count // 4)):
            print(text)
    return 0


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, in which the SDK's name is this file's
    sys.exit(main())
