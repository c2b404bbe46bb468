"""The benchmark runs what it says it runs; it never judges times."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from local_sim.definition import load_flow
from scripts.bench.engine import Measurement, main, row
from scripts.bench.engine_cases import CASES, as_text
from scripts.bench.engine_subjects import reason_to_skip

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", [name for name in CASES if "100000" not in name])
def test_every_case_is_a_sound_flow(name: str) -> None:
    case = CASES[name]()
    assert load_flow(as_text(case), max_bytes=10**9).name == "bench"
    assert case.steps >= 1


def test_a_measurement_is_taken_in_a_process_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    (one,) = main(["--runs", "1", "--case", "wait-300", "--subject", "engine"])
    assert (one.case, one.subject, one.steps, one.skipped) == ("wait-300", "engine", 1, "")
    assert 0 < one.seconds < one.cold_seconds
    assert 5 < one.peak_mib < 500
    assert "| wait of 300 s | engine |" in capsys.readouterr().out


def test_what_cannot_run_says_why() -> None:
    case = CASES["wait-300"]()
    assert reason_to_skip("moto", "wait-300", case) == "has no virtual time"
    assert reason_to_skip("engine", "wait-300", case) == ""
    assert row(Measurement("wait-300", "moto", skipped="has no virtual time")).endswith("| - | has no virtual time |")


def test_the_script_lists_its_benchmarks() -> None:
    done = subprocess.run([sys.executable, "scripts/bench.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "engine" in done.stdout
    unknown = subprocess.run([sys.executable, "scripts/bench.py", "none"], cwd=ROOT, capture_output=True, check=False)
    assert unknown.returncode == 2
