"""Servers on temporary folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from served_world import World

from local_sim.clock import VirtualClock


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A server in real time."""
    made = World(tmp_path)
    made.server.start()
    yield made
    made.server.stop()


@pytest.fixture
def still_world(tmp_path: Path) -> Iterator[World]:
    """A server whose clock moves only by `server.advance`."""
    made = World(tmp_path, clock=VirtualClock())
    made.server.start()
    yield made
    made.server.stop()
