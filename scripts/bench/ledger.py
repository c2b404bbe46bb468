"""The ledger beside AWS Lambda Powertools' idempotency: requests per step, steps a second, and three faults.

Both servers (the local Tablestore, moto's DynamoDB) run in processes of their own, and each worker in one too. The
other side of the fault probes honours idempotency keys; whether it is handed one is up to the contender.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ledger import Compensation, Credentials, EffectKind, Ledger, LedgerSettings, StepRequest, provision
from scripts.bench.ledger_neighbour import SERVER as MOTO
from scripts.bench.ledger_neighbour import Died, Powertools

_TABLESTORE = """
import sys
from local_sim.services import ServiceHost
from local_sim.services.tablestore import TablestoreStore, create_app
with TablestoreStore(sys.argv[1]) as store, ServiceHost(create_app(store)) as host:
    print(host.endpoint, flush=True)
    sys.stdin.read()
"""
_ROOT = Path(__file__).resolve().parents[2]
_SHORT_LEASE = 0.3


class Stepkeeper:
    """Steps through the ledger; counts the requests the SDK sends."""

    name = "Stepkeeper on Tablestore"

    def __init__(self, endpoint: str, lease_seconds: float) -> None:
        self._settings = LedgerSettings(
            tablestore_endpoint=endpoint, tablestore_instance="local", oss_bucket="", lease_seconds=lease_seconds
        )
        self.ledger = Ledger.open(self._settings, credentials=_credentials)
        self.requests: list[str] = []
        self._client = self.ledger._store._client
        self._send = self._client.connection.send_receive
        self._client.connection.send_receive = self._count

    def provision(self) -> None:
        """Create the tables."""
        provision(self._settings, credentials=_credentials)

    def run(self, task: str, step: str, effect: Callable[[str | None], Any]) -> Any:
        """Run a step; the ledger hands its effect the step's idempotency key."""
        request = StepRequest(
            task, "v", step, {"step": step}, kind=EffectKind.IDEMPOTENT, compensation=Compensation("undo", step)
        )
        return self.ledger.run(request, lambda context: effect(context.idempotency_key)).value

    def compensate(self, task: str) -> None:
        """Undo every step of a task."""
        self.ledger.saga(task, "v").compensate({"undo": lambda context: None})

    def dying(self) -> Stepkeeper:
        """Return a worker that dies before it saves a result."""
        self._client.connection.send_receive = self._die
        return self

    def revive(self) -> None:
        """End the dying."""
        self._client.connection.send_receive = self._count

    def _count(self, url: str, *request: Any) -> Any:
        self.requests.append(url.lstrip("/"))
        return self._send(url, *request)

    def _die(self, url: str, *request: Any) -> Any:
        if url == "/UpdateRow":
            raise Died
        return self._count(url, *request)


Contender = Stepkeeper | Powertools
_KINDS: dict[str, type[Contender]] = {"stepkeeper": Stepkeeper, "powertools": Powertools}


@dataclass(frozen=True)
class Fault:
    """What a fault probe saw: effects at the other side, runs of the effect, and the answer a later call gets."""

    effects: int
    runs: int
    answer: Any


class Outside:
    """The other side: it counts what takes effect, and drops a repeat that comes with a known key."""

    def __init__(self) -> None:
        self.effects = 0
        self.runs = 0
        self._known: set[str] = set()

    def apply(self, key: str | None) -> None:
        """Take effect once per key, or each time without one."""
        self.runs += 1
        if key is None or key not in self._known:
            self.effects += 1
        if key is not None:
            self._known.add(key)


def crash_between_effect_and_save(contender: Contender, task: str) -> Fault:
    """The worker dies after its effect and before it saves the result; the step is called again."""
    outside = Outside()

    def effect(key: str | None) -> str:
        outside.apply(key)
        return "owner"

    with contextlib.suppress(Died):
        contender.dying().run(task, "A", effect)
    contender.revive()
    time.sleep(_SHORT_LEASE * 1.2)
    answer = contender.run(task, "A", effect)
    return Fault(outside.effects, outside.runs, answer)


def late_worker(contender: Contender, task: str, *, fails: bool) -> Fault:
    """A worker outlives its lease unnoticed; a newer owner finishes; then the late one finishes or fails."""
    outside, taken, finished = Outside(), threading.Event(), threading.Event()

    def late(key: str | None) -> str:
        _stop_renewals(contender)
        taken.set()
        finished.wait(30)
        if fails:
            raise RuntimeError("late")
        outside.apply(key)
        return "late"

    def owner(key: str | None) -> str:
        outside.apply(key)
        return "owner"

    def quietly() -> None:
        with contextlib.suppress(Exception):
            contender.run(task, "A", late)

    thread = threading.Thread(target=quietly)
    thread.start()
    taken.wait(30)
    time.sleep(_SHORT_LEASE * 1.2)
    contender.run(task, "A", owner)
    finished.set()
    thread.join()
    answer = contender.run(task, "A", owner)
    return Fault(outside.effects, outside.runs, answer)


def _stop_renewals(contender: Contender) -> None:
    """A stalled machine renews nothing. Powertools has no renewals."""
    if isinstance(contender, Stepkeeper):
        keeper = contender.ledger._runner._keeper
        for _, _, _, over in keeper._due:
            over.set()


def requests_per_step(contender: Contender) -> dict[str, float]:
    """Return the mean number of requests of a first run, a repeat and (ledger only) a compensation."""
    count = 20
    contender.run("warm", "S", lambda key: "x")
    found: dict[str, float] = {}
    for name in ("fresh", "repeat"):
        contender.requests.clear()
        for number in range(count):
            contender.run("requests", f"S{number}", lambda key: "x")
        found[name] = len(contender.requests) / count
    if isinstance(contender, Stepkeeper):
        contender.requests.clear()
        contender.compensate("requests")
        found["undo"] = (len(contender.requests) - 1) / count
    return found


def work(kind: str, endpoint: str, task: str, steps: int) -> None:
    """Run `steps` fresh steps; the body of a worker process."""
    contender = _KINDS[kind](endpoint, 30)
    for number in range(steps):
        contender.run(task, f"S{number}", lambda key: "x")


def steps_per_second(kind: str, endpoint: str, workers: int, steps: int) -> float:
    """Return the fresh steps a second of `workers` processes together, without their start."""
    label = f"speed-{workers}"
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for phase, each in (("warm", 3), (label, steps // workers)):
            begun = time.perf_counter()
            list(pool.map(work, *zip(*[(kind, endpoint, f"{phase}-{n}", each) for n in range(workers)], strict=True)))
    return (steps // workers) * workers / (time.perf_counter() - begun)


@contextlib.contextmanager
def server(code: str, *arguments: str) -> Iterator[str]:
    """Run a server in a process of its own; yields its address."""
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(  # noqa: S603 (our own interpreter and code)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.stdout.readline().strip()
        process.stdin.close()
        process.wait(10)


def measure(kind: str, endpoint: str, steps: int) -> list[str]:
    """Measure one contender; returns its lines of the table."""
    _KINDS[kind](endpoint, 30).provision()
    contender = _KINDS[kind](endpoint, 29)
    counted = ", ".join(f"{name} {value:.2f}" for name, value in requests_per_step(contender).items())
    lines = [f"{contender.name}", f"  requests per step         {counted}"]
    for workers in (1, 8):
        rate = steps_per_second(kind, endpoint, workers, steps)
        lines.append(f"  steps/s, {workers} worker{'s' if workers > 1 else ' '}        {rate:,.0f}")
    brief = _KINDS[kind](endpoint, _SHORT_LEASE)
    for name, fault in (
        ("crash before the save", crash_between_effect_and_save(brief, "fault-1")),
        ("late worker finishes", late_worker(brief, "fault-2", fails=False)),
        ("late worker fails", late_worker(brief, "fault-3", fails=True)),
    ):
        lines.append(f"  {name:<25} {fault.effects} effect(s) in {fault.runs} run(s), answer {fault.answer!r}")
    return lines


def main(argv: Sequence[str]) -> int:
    """Run the bench: `--steps N` fresh steps per measurement."""
    parser = argparse.ArgumentParser(prog="bench.py ledger", description=__doc__)
    parser.add_argument("--steps", type=int, default=800, help="fresh steps per measurement (default 800)")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        with server(_TABLESTORE, str(Path(folder) / "store.db")) as endpoint:
            print("\n".join(measure("stepkeeper", endpoint, options.steps)))
        with server(MOTO) as endpoint:
            print("\n".join(measure("powertools", endpoint, options.steps)))
    return 0


def _credentials() -> Credentials:
    return Credentials("local", "local")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
