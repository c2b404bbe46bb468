"""The ledger over a real socket whose requests are dropped, doubled, late, reordered and throttled at random.

The faults are the local cloud's own (`local-sim fault`), between the published SDK and the store; processes also crash.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ledger_kit import Faults as Crashes
from ledger_kit import TurnableClock, ledger_over, local_credentials, settings
from ledger_story import Story

from ledger import EffectKind, RealClock
from ledger.client import _new_client as new_sdk_client
from ledger.tables import create_tables
from local_sim.services import FaultKind, FaultRule, Faults
from local_sim.services.host import ServiceHost
from local_sim.services.tablestore import Credentials, TablestoreStore, create_app, fault_dialect

KINDS = (
    FaultKind.DROP_BEFORE,
    FaultKind.DROP_AFTER,
    FaultKind.APPLIED_THEN_ERROR,
    FaultKind.DUPLICATE,
    FaultKind.LATE,
    FaultKind.REORDER,
    FaultKind.THROTTLE,
)
APIS = ("PutRow", "UpdateRow", "GetRow", "GetRange", "*")
RUNS, SOAK_RUNS = 20, 2_000
_LAST_FAULTY_PROCESS = 25


class Line:
    """A socket to the store behind the faults, and how often each kind struck."""

    def __init__(self, endpoint: str, faults: Faults) -> None:
        client = new_sdk_client(settings(tablestore_endpoint=endpoint), local_credentials)
        self.faults, self.send, self.struck = faults, client.connection.send_receive, Counter[str]()
        create_tables(client, settings(), RealClock())

    def arm(self, rng: random.Random) -> None:
        self.quiet()
        for kind in rng.sample(KINDS, rng.randint(2, len(KINDS))):
            rate = rng.choice((0.1, 0.2, 0.4))
            self.faults.add(FaultRule("ots", rng.choice(APIS), kind, rate, seed=rng.randrange(10**9), delay_ms=5))

    def quiet(self) -> None:
        self.struck.update(hit.kind.value for hit in self.faults.hits)
        self.faults.clear()


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Line]:
    store, faults = TablestoreStore(Path(tmp_path_factory.mktemp("wire")) / "store.db"), Faults()
    app = faults.wrap(create_app(store, credentials=Credentials()), fault_dialect())
    with ServiceHost(app, name="tablestore") as host:
        yield Line(host.endpoint, faults)
    store.close()


def run_once(line: Line, seed: int) -> None:
    """One story: a step and its undoing, told to the end however often the wire breaks or a process dies."""
    rng, clock = random.Random(seed), TurnableClock()
    line.arm(rng)

    def crash(count: int, url: str) -> str | None:
        return rng.choice(("crash_before", "crash_after")) if rng.random() < 0.05 else None

    def wires(number: int) -> Any:
        if number < 0 or number > _LAST_FAULTY_PROCESS:
            line.quiet()
            return line.send
        return Crashes(line.send, crash, clock)

    kinds = rng.choice(list(EffectKind)), rng.choice(list(EffectKind))
    story = Story(f"wire-{seed}", *kinds, clock, wires, begins=rng.random() < 0.3)
    try:
        story.tell()
        line.quiet()
        story.check(ledger_over(line.send, clock))
    except BaseException as error:
        raise AssertionError(f"seed {seed}, kinds {kinds}") from error


def run_many(line: Line, seeds: range) -> None:
    print(f"seeds {seeds.start} to {seeds.stop - 1}")
    line.struck.clear()
    for seed in seeds:
        run_once(line, seed)
    print(f"{len(seeds)} runs, faults: {dict(line.struck)}")
    assert line.struck.total() > len(seeds)


@pytest.mark.parametrize("part", range(3))
def test_over_a_socket_that_breaks_at_random_no_effect_is_doubled_or_lost(line: Line, part: int) -> None:
    run_many(line, range(part * RUNS, (part + 1) * RUNS))


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_soak_two_thousand_random_runs_over_a_socket(line: Line) -> None:
    base = random.SystemRandom().randrange(10**9)
    run_many(line, range(base, base + SOAK_RUNS))
