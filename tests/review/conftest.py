"""One local server for all review tests of a worker, and this process's environment pointed at it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from review_kit import ROOT, Town

from local_sim.project import load_project
from local_sim.server import LocalServer


@pytest.fixture(scope="session")
def shared_town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with LocalServer(load_project(ROOT, environment={}), Path(tmp_path_factory.mktemp("town"))) as server:
        yield Town(server)


@pytest.fixture
def town(shared_town: Town, monkeypatch: pytest.MonkeyPatch) -> Iterator[Town]:
    for name, value in shared_town.environment.items():
        monkeypatch.setenv(name, value)
    yield shared_town
    shared_town.server.faults.clear()
