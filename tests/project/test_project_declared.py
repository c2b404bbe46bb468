"""`[tool.local-sim.errors]`: which typed errors functions declare."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import write_project

from local_sim.project import ProjectError, load_project


def declared(folder: Path, table: str) -> dict[str, tuple[str, ...]]:
    write_project(folder, "def a(e, c): ...\ndef b(e, c): ...\n", ["a", "b"])
    (folder / "pyproject.toml").write_text(f"[tool.local-sim.errors]\n{table}\n", encoding="utf-8")
    return dict(load_project(folder).settings.errors)


def test_each_function_has_its_own(tmp_path: Path) -> None:
    assert declared(tmp_path, 'a = ["Busy", "Gone"]') == {"a": ("Busy", "Gone")}


def test_a_star_is_added_to_every_function(tmp_path: Path) -> None:
    assert declared(tmp_path, '"*" = ["Busy"]\na = ["Gone", "Busy"]') == {"a": ("Busy", "Gone"), "b": ("Busy",)}


def test_a_function_that_is_not_deployed_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"errors\] aa: s\.yaml has a, b \(did you mean 'a'\?\)"):
        declared(tmp_path, 'aa = ["Busy"]')
