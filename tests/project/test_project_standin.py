"""Source folders that stand in for a built code folder ([tool.local-sim] code)."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import write_project

from local_sim.project import load_project
from local_sim.project.errors import ProjectError


def project(folder: Path, code: str) -> Path:
    write_project(folder, functions=["pay"])
    template = (folder / "s.yaml").read_text(encoding="utf-8")
    (folder / "s.yaml").write_text(template.replace("code: ./\n", "code: ./build/code\n"), encoding="utf-8")
    (folder / "pyproject.toml").write_text(f"[tool.local-sim]\n{code}\n", encoding="utf-8")
    return folder


def test_the_named_folders_stand_in_for_the_built_one(tmp_path: Path) -> None:
    folder = project(tmp_path, 'code = { "build/code" = [".", "src/entry"] }')
    function = load_project(folder, environment={}).function("pay")
    assert (function.code, function.beside) == (tmp_path.resolve(), ((tmp_path / "src/entry").resolve(),))


@pytest.mark.parametrize("code", ["", 'code = { "other" = ["."] }'])
def test_without_a_stand_in_the_code_folder_itself_is_used(tmp_path: Path, code: str) -> None:
    function = load_project(project(tmp_path, code), environment={}).function("pay")
    assert (function.code, function.beside) == ((tmp_path / "build/code").resolve(), ())


@pytest.mark.parametrize("code", ['code = "."', 'code = { "build/code" = "." }', 'code = { "build/code" = [] }'])
def test_a_stand_in_that_is_no_list_of_folders_is_named(tmp_path: Path, code: str) -> None:
    with pytest.raises(ProjectError, match=r"code.*source folders"):
        load_project(project(tmp_path, code), environment={})
