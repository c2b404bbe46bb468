"""One local server for all review tests of a worker, and this process's environment pointed at it.

The server is a process of its own that runs handlers inside itself: quicker to start than a process a function, and it
lends nobody's environment but its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from review_kit import ROOT, Town

from local_sim.server import ControlClient, start_background


@pytest.fixture(scope="session")
def shared_town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = Path(tmp_path_factory.mktemp("town"))
    start_background(["--data", str(folder), "--project", str(ROOT), "--workers", "in-process"], folder)
    control = ControlClient(folder)
    yield Town(control)
    control.stop()


@pytest.fixture
def town(shared_town: Town, monkeypatch: pytest.MonkeyPatch) -> Iterator[Town]:
    for name, value in shared_town.environment.items():
        monkeypatch.setenv(name, value)
    yield shared_town
    shared_town.heal()
