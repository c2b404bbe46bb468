"""Measures the fault explorer: explored runs a second, for the shipped flows.

`python scripts/bench.py explore [--flow order_saga] [--jobs 2] [--faults crash_after]` prints one table. `ms CPU a run`
is the processes' own time, their start included; it is what to compare when the machine is busy.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_sim.explore import Plan, explore

_ROOT = Path(__file__).resolve().parents[2]
_TASK = {
    "task_id": "bench-1",
    "document": {"inline": "# Contract\n\nThe buyer pays 100 each month. All documents are deleted.\n", "name": "a.md"},
}
_ORDER = {
    "task_id": "bench-1",
    "lines": [{"sku": "tea", "quantity": 2}],
    "amount": 19_900,
    "currency": "CNY",
    "method": "card-1",
    "address": "1 Lake Road",
}
CASES: Mapping[str, Mapping[str, Any]] = {"content_review": _TASK, "opc_minimal": _TASK, "order_saga": _ORDER}
"""The input of each flow."""


@dataclass(frozen=True, slots=True)
class Explored:
    """One exploration: its runs, how long it took on the wall and in CPU time (s), and how much was broken."""

    flow: str
    runs: int
    seconds: float
    cpu_seconds: float
    broken: int
    coverage: str

    @property
    def rate(self) -> float:
        """Runs a second."""
        return self.runs / self.seconds


def measure(flow: str, *, jobs: int, faults: tuple[str, ...] = ()) -> Explored:
    """Explore one flow at depth 1."""
    began, cpu = time.perf_counter(), _cpu()
    report = explore(Plan(_ROOT, flow, dict(CASES[flow]), faults=faults), jobs=jobs)
    seconds = time.perf_counter() - began
    return Explored(flow, len(report.runs), seconds, _cpu() - cpu, len(report.broken), report.coverage.text)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(argv: Sequence[str]) -> None:
    """Measure the flows that `argv` names, all by default, and print the table."""
    parser = argparse.ArgumentParser(prog="bench.py explore", description=__doc__)
    parser.add_argument("--flow", action="append", choices=sorted(CASES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--faults", default="", help="names with commas between; all by default")
    options = parser.parse_args(argv)
    faults = tuple(name for name in options.faults.split(",") if name)
    print(f"| flow | runs | time | runs/s ({options.jobs} processes) | ms CPU a run | tried | BROKEN |")
    print("| --- | ---: | ---: | ---: | ---: | --- | ---: |")
    for flow in options.flow or sorted(CASES):
        one = measure(flow, jobs=options.jobs, faults=faults)
        cpu = one.cpu_seconds * 1000 / max(one.runs, 1)
        cells = [flow, one.runs, f"{one.seconds:.1f} s", f"{one.rate:.0f}", f"{cpu:.0f}", one.coverage, one.broken]
        print(f"| {' | '.join(map(str, cells))} |")
