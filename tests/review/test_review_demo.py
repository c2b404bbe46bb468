"""`./scripts/demo --page`: the flow on a server, its review in a browser, its progress in the terminal."""

from __future__ import annotations

import subprocess
import sys
import threading
import uuid
from pathlib import Path

import pytest
from review_kit import ROOT, Town, decide

from scripts.demo_main import main
from scripts.demo_page import PageDemo

pytestmark = pytest.mark.xdist_group("review")


def test_the_link_is_printed_for_each_round_and_the_end_is_told(town: Town) -> None:
    task, said, ended = f"demo-{uuid.uuid4().hex[:8]}", [], []
    demo = PageDemo(task, dict(town.environment), said.append)
    demo.start(ROOT / "docs/examples/service-agreement.md")
    waiting = threading.Thread(target=lambda: ended.append(demo.wait()), daemon=True)
    waiting.start()
    for number, decision in ((1, "more_info"), (2, "approved")):
        town.until(lambda number=number: any(f"Round {number} waits" in line for line in said))
        (line,) = [line for line in said if f"Round {number} waits" in line]
        assert decide(line.split()[-1], decision, comment="Which deadline?").status_code == 303
    waiting.join(20)
    assert ended == ["Succeeded"]
    assert [line.strip() for line in said if "GenerateDraft" in line] == ["✓ GenerateDraft"] * 2
    assert said[-1] == "  ✓ Completed"


def test_a_document_that_cannot_be_read_is_said_to_wait_for_somebody_else(town: Town, tmp_path: Path) -> None:
    file = tmp_path / "broken.pdf"
    file.write_bytes(b"%PDF-1.7 broken")
    task, said, ended = f"demo-{uuid.uuid4().hex[:8]}", [], []
    demo = PageDemo(task, dict(town.environment), said.append)
    demo.start(file)
    waiting = threading.Thread(target=lambda: ended.append(demo.wait()), daemon=True)
    waiting.start()
    town.until(lambda: any(" waits, and " in line for line in said))
    assert said[-1] == "\nNeedInput waits, and this demo answers reviews only; stop with Ctrl-C."
    assert not [line for line in said if "Open in a browser" in line]
    town.stopped(task)
    waiting.join(20)  # not left behind: it reads the environment of the test
    assert ended == ["Stopped"]


def test_there_has_to_be_a_run_to_go_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--page", "--resume", "--data", str(tmp_path)]) == 2
    assert "start one with ./scripts/demo --page" in capsys.readouterr().out


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_the_command_serves_and_stops_again(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scripts.demo_main", "--page", "--data", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, encoding="utf-8") as running:
        assert running.stdout is not None
        for line in running.stdout:
            if line.strip().startswith("http://"):
                assert decide(line.strip(), "approved").status_code == 303
            if "The result lies in" in line:
                break
    assert running.returncode == 0
    assert not (tmp_path / "server.json").exists()
