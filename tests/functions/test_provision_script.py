"""`python -m scripts.provision` makes what is missing and is quiet about what is there."""

from __future__ import annotations

import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from loopback import closed_port

from scripts.provision import provision

ROOT = Path(__file__).parents[2]


def script(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scripts.provision", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60
    )


def test_it_makes_tables_and_bucket_once(cloud: pytest.MonkeyPatch) -> None:
    name = uuid.uuid4().hex[:8]
    cloud.setenv("STEPKEEPER_LEDGER_TABLE", f"ledger_{name}")
    cloud.setenv("OSS_BUCKET", f"bucket-{name}")
    first, second = provision(), provision()
    assert first.tables == second.tables
    assert f"ledger_{name}" in first.tables
    assert (first.bucket_made, second.bucket_made) == (True, False)


def test_the_command_says_what_it_did(cloud: pytest.MonkeyPatch) -> None:
    name = "bucket-" + uuid.uuid4().hex[:8]
    cloud.setenv("OSS_BUCKET", name)
    assert f"bucket {name}: bucket: nothing -> made, private" in script().stdout
    again = script()
    assert again.returncode == 0
    assert name not in again.stdout


def test_nobody_listening_is_said_without_a_traceback(cloud: pytest.MonkeyPatch) -> None:
    cloud.setenv("OSS_ENDPOINT", f"http://127.0.0.1:{closed_port()}")
    done = script()
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "OSS" in done.stderr
