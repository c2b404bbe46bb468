"""Handlers whose code lies in several source folders, as if they had been built into one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local_sim.project import Function, Place
from local_sim.workers import HandlerNotLoadable, InProcessWorker, ProcessWorker, Worker


@pytest.fixture(params=[InProcessWorker, ProcessWorker])
def worker(request: pytest.FixtureRequest) -> Iterator[Worker]:
    made: Any = request.param()
    yield made
    made.close()


def function(root: Path, *beside: str, handler: str = "door.enter") -> Function:
    place = Place("s.yaml", 1, 1)
    folders = tuple(root / name for name in beside)
    return Function(
        name=f"f-{root.name}",
        handler=handler,
        runtime="python3.12",
        code=root,
        place=place,
        handler_place=place,
        timeout=30,
        beside=folders,
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "shared_code.py").write_text("WORD = 'shared'\n", encoding="utf-8")
    (tmp_path / "src").mkdir()
    door = "import shared_code\n\ndef enter(event, context):\n    return shared_code.WORD\n"
    (tmp_path / "src" / "door.py").write_text(door, encoding="utf-8")
    return tmp_path


def test_a_handler_of_a_further_folder_imports_what_lies_in_the_first(worker: Worker, root: Path) -> None:
    before = list(sys.path)
    result = worker.invoke(function(root, "src"), b"", "r")
    assert (result.body, result.failed) == (b"shared", False)
    assert sys.path == before


def test_without_the_further_folder_the_message_names_the_file(worker: Worker, root: Path) -> None:
    with pytest.raises(HandlerNotLoadable, match=r"door\.py.*no such file"):
        worker.prepare(function(root))


def test_the_first_folder_counts_when_two_hold_the_file(worker: Worker, root: Path) -> None:
    (root / "door.py").write_text("def enter(event, context):\n    return 'first'\n", encoding="utf-8")
    assert worker.invoke(function(root, "src"), b"", "r").body == b"first"
