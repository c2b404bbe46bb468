"""The tree of runs: which faults are tried where, and files put back after each."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from local_sim.explore import Boundary
from local_sim.explore.faults import Catalogue
from local_sim.explore.files import read_tree, write_tree
from local_sim.explore.forks import Explorer, Share, writer
from local_sim.explore.model import BoundaryKind

WAIT = Boundary(0, BoundaryKind.WAIT, "Cool")
END = Boundary(0, BoundaryKind.END, "Pay", function="pay")


def explored(folder: Path, depth: int, share: Share, *, over: bool = False) -> tuple[Explorer, list[dict[str, Any]]]:
    """Go through three boundaries; each copy tells what it met, and ends."""
    reader, descriptor = os.pipe()
    tell = writer(descriptor)
    explorer = Explorer(Catalogue({}, (), versions=True), tell, folder)
    explorer.depth, explorer.share, explorer.over = depth, share, lambda: over
    for boundary in (END, WAIT, END):
        explorer.at(boundary)
    if explorer.copied:
        (folder / "mine").write_text("x", encoding="utf-8")
        tell({"met": [placed.id for placed in explorer.taken]})
        os._exit(0)
    os.close(descriptor)
    with open(reader, "rb") as pipe:
        return explorer, [json.loads(line) for line in pipe.read().splitlines()]


def met(told: list[dict[str, Any]]) -> list[list[str]]:
    return [one["met"] for one in told]


def test_each_fault_has_a_run_of_its_own(tmp_path: Path) -> None:
    explorer, told = explored(tmp_path, 1, Share())
    assert met(told) == [["0.crash_after"], ["0.reply_lost"], ["1.version"], ["2.crash_after"], ["2.reply_lost"]]
    assert (explorer.tried, explorer.known) == (5, 5)


def test_pairs_follow_their_first_fault(tmp_path: Path) -> None:
    _, told = explored(tmp_path, 2, Share())
    pairs = [one for one in met(told) if len(one) == 2]
    seconds = ["1.version", "2.crash_after", "2.reply_lost"]
    assert pairs[:3] == [["0.crash_after", second] for second in seconds]
    assert len(pairs) == 3 + 3 + 2
    assert len(told) == 5 + 8


def test_shares_are_disjoint_and_together_everything(tmp_path: Path) -> None:
    one = met(explored(tmp_path, 1, Share(0, 2))[1])
    two = met(explored(tmp_path, 1, Share(1, 2))[1])
    assert sorted(one + two) == sorted(met(explored(tmp_path, 1, Share())[1]))
    assert len(one) == 3


def test_without_a_budget_faults_are_known_and_not_tried(tmp_path: Path) -> None:
    explorer, told = explored(tmp_path, 1, Share(), over=True)
    assert told == []
    assert (explorer.tried, explorer.known) == (0, 5)


def test_files_are_as_they_were_after_each_run(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("1", encoding="utf-8")
    explored(tmp_path, 1, Share())
    assert read_tree(tmp_path) == {str(tmp_path / "kept"): b"1"}


def test_a_forced_fault_happens_without_a_copy(tmp_path: Path) -> None:
    explorer = Explorer(Catalogue({}, (), versions=True), lambda item: None, tmp_path, forced={1: "version"})
    assert [explorer.at(one) for one in (END, WAIT, END)] == [None, "version", None]
    assert not explorer.copied


def test_a_tree_is_put_back_whole(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "one").write_bytes(b"1")
    tree = read_tree(tmp_path)
    (tmp_path / "a" / "one").write_bytes(b"2")
    (tmp_path / "new" / "deep").mkdir(parents=True)
    (tmp_path / "new" / "deep" / "file").write_bytes(b"3")
    (tmp_path / "a" / "b").rmdir()
    write_tree(tmp_path, tree)
    assert read_tree(tmp_path) == tree
