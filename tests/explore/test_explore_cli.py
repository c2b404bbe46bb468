"""`local-sim explore`: its exit status, its reports, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from local_sim.cli.explore import read_budget
from local_sim.explore import BadPlan

FOREIGN = Path(__file__).parent / "foreign"
SALE = '{"order": "o-1", "seat": "A1", "amount": 50}'

pytestmark = pytest.mark.timeout(300)


def cli(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "local_sim.cli", "explore", *words]
    return subprocess.run(command, cwd=FOREIGN, capture_output=True, text=True, check=False)


def test_a_report_on_the_screen_as_json_and_as_a_page(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = cli("tickets", "-i", SALE, "--faults", "crash_after,version", "--jobs", "1", "--json", "--html", str(page))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["coverage"]["tried"] == report["coverage"]["known"] == len(report["runs"]) > 5
    assert report["matrix"]["Cool"] == {"version": {"recovered": 1}}
    text = page.read_text(encoding="utf-8")
    assert "<h1>Fault exploration of tickets</h1>" in text
    assert "Nothing is broken in what was tried." in text


def test_the_screen_says_what_was_looked_at_and_that_nothing_is_safe_untried() -> None:
    done = cli("tickets", "-i", SALE, "--faults", "version", "--budget", "0s", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert "tried 0 of 1 (0 %) of boundaries x faults, seed 0" in done.stdout
    assert "Only these faults were looked at: version" in done.stdout
    assert "nothing is said about the rest" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nosuch", "-i", SALE), "nosuch"),
        (("tickets", "-i", "{"), "is not JSON"),
        (("tickets", "-i", SALE, "--depth", "3"), "--depth: is 1 or 2, not 3"),
        (("tickets", "-i", SALE, "--jobs", "99"), "--jobs: is 1 to 64, not 99"),
        (("tickets", "-i", SALE, "--faults", "fire"), "there is no fault 'fire'"),
        (("tickets", "-i", SALE, "--budget", "soon"), "wants a time such as 60s"),
        (("tickets", "-i", SALE, "--replay", "x"), "wants a run's id"),
        (("tickets", "-i", SALE, "--replay", "9999.twice"), "has no boundary 9999"),
        (("tickets", "-i", SALE, "--decide", "Nobody=yes"), "wants STATE=VALUE"),
    ],
)
def test_bad_input_is_refused_in_one_line(words: tuple[str, ...], said: str) -> None:
    done = cli(*words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_budget_is_read() -> None:
    assert [read_budget(text) for text in ("", "60s", "5m", "1.5h", "7")] == [None, 60, 300, 5400, 7]
    with pytest.raises(BadPlan):
        read_budget("1d")
