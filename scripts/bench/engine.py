"""Measures the engine: speed and memory beside `local-sim run` and local interpreters of the neighbouring languages.

`python scripts/bench.py engine [--runs 5] [--case chain-1000] [--subject engine]` prints one table of medians, each
measurement in a process of its own. `npm install` in scripts/bench/neighbours adds the Node one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .engine_cases import CASES
from .engine_subjects import SUBJECTS

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Measurement:
    """Medians of one subject on one case; `skipped` says why there are none.

    `seconds` are of the run alone, `cold_seconds` of the whole process.
    """

    case: str
    subject: str
    seconds: float = 0.0
    steps: int = 0
    peak_mib: float = 0.0
    cold_seconds: float = 0.0
    skipped: str = ""

    @property
    def rate(self) -> float:
        """Steps a second."""
        return self.steps / self.seconds if self.seconds else 0.0


def measure(subject: str, case: str, runs: int) -> Measurement:
    """Run one subject on one case `runs` times, each in a fresh process."""
    found: list[dict[str, float]] = []
    walls: list[float] = []
    for _ in range(runs):
        started = time.perf_counter()
        done = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", "scripts.bench.engine_subjects", subject, case],
            cwd=_ROOT,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        walls.append(time.perf_counter() - started)
        if done.returncode:
            return Measurement(case, subject, skipped=_last_words(done.stderr))
        answer = json.loads(done.stdout)
        if "skipped" in answer:
            return Measurement(case, subject, skipped=answer["skipped"])
        found.append(answer)
    seconds, peak = (statistics.median(one[key] for one in found) for key in ("seconds", "peak_mib"))
    return Measurement(case, subject, seconds, int(found[0]["steps"]), peak, statistics.median(walls))


def row(one: Measurement) -> str:
    """Return a measurement as a line of a Markdown table."""
    case = CASES[one.case]()
    name = f"checking a flow of {case.steps:,} states" if one.subject == "check" else case.name
    if one.skipped:
        return f"| {name} | {one.subject} | - | - | - | {one.skipped} |"
    seconds = one.cold_seconds if one.case == "cold" else one.seconds
    rate = "-" if one.case == "cold" or one.subject == "check" or one.steps == 1 else f"{one.rate:,.0f} {case.unit}/s"
    return f"| {name} | {one.subject} | {_time(seconds)} | {rate} | {one.peak_mib:,.0f} MiB | |"


def main(argv: Sequence[str] | None = None) -> list[Measurement]:
    """Print the table; return what it shows."""
    parser = argparse.ArgumentParser(prog="bench.py engine", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="measurements whose median is shown")
    parser.add_argument("--case", action="append", choices=list(CASES))
    parser.add_argument("--subject", action="append", choices=list(SUBJECTS))
    chosen = parser.parse_args(argv)
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, medians of {chosen.runs} runs\n")
    print("| what | on | time | rate | peak memory | note |")
    print("| --- | --- | ---: | ---: | ---: | --- |")
    results: list[Measurement] = []
    for case in chosen.case or CASES:
        for subject in chosen.subject or SUBJECTS:
            one = measure(subject, case, chosen.runs)
            if one.skipped == "another subject's case":
                continue
            results.append(one)
            print(row(one), flush=True)
    return results


def _last_words(stderr: str) -> str:
    lines = stderr.strip().splitlines() or ["nothing said"]
    return f"failed: {lines[-1][:100]}"


def _time(seconds: float) -> str:
    return f"{seconds * 1000:,.2f} ms" if seconds < 0.1 else f"{seconds:,.2f} s"


if __name__ == "__main__":
    main()
