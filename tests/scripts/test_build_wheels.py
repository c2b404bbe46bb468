"""From the lock to wheels, the settings of a build, and the command line."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from build_kit import found, project, wheel
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.testing import CliRunner

from scripts import build as build_script
from scripts.build import LIMIT, app, build
from scripts.building import (
    BuildSettings,
    NotPure,
    Target,
    Unusable,
    fetch,
    handlers_of,
    read_build_settings,
    wanted,
    wheels,
)
from scripts.building.preflight import late_imports

ROOT = Path(__file__).resolve().parents[2]
LOCK = """\
one==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
# a remark
old==2.0 ; python_full_version < '3.11' \\
    --hash=sha256:cc
patched==3.0 ; python_full_version >= '3.11.5' \\
    --hash=sha256:dd
windows==4.0 ; sys_platform == 'win32' \\
    --hash=sha256:ee
Big_One==5.0 --hash=sha256:ff
"""


def written(folder: Path, text: str = LOCK) -> Path:
    lock = folder / "requirements.lock"
    lock.write_text(text, encoding="utf-8")
    return lock


def test_only_what_holds_for_the_target_is_wanted(tmp_path: Path) -> None:
    lock = written(tmp_path)
    names = {python: [line.split("==")[0] for line in wanted(lock, Target(python))] for python in ("3.10", "3.12")}
    assert names == {"3.10": ["Big_One", "old", "one"], "3.12": ["Big_One", "one", "patched"]}
    assert wanted(lock, Target("3.12"))[1] == "one==1.0 --hash=sha256:aa --hash=sha256:bb"


def test_a_dropped_package_is_left_out_however_it_is_spelled(tmp_path: Path) -> None:
    assert "Big_One" not in str(wanted(written(tmp_path), Target("3.12"), ["big-one"]))
    with pytest.raises(Unusable, match="nothing-like-it is to be dropped but is not locked"):
        wanted(written(tmp_path), Target("3.12"), ["nothing-like-it"])


@pytest.mark.parametrize(
    ("text", "problem"), [("one==1.0\n", "no hash"), ("one = 1.0 --hash=sha256:aa\n", "no requirement")]
)
def test_a_lock_that_cannot_be_trusted_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(Unusable, match=problem):
        wanted(written(tmp_path, text), Target("3.12"))
    with pytest.raises(Unusable, match="scripts/lock"):
        wanted(tmp_path / "missing.lock", Target("3.12"))


def sdist(folder: Path, name: str, files: dict[str, str]) -> Path:
    """A source package that setuptools builds."""
    inside = folder / f"{name}-1.0"
    data = f"package_data={{'{name}': ['*']}}"
    setup = f"from setuptools import setup\nsetup(name='{name}', version='1.0', packages=['{name}'], {data})\n"
    for path, text in {"setup.py": setup, f"{name}/__init__.py": "", **files}.items():
        (inside / path).parent.mkdir(parents=True, exist_ok=True)
        (inside / path).write_text(text, encoding="utf-8")
    archive = folder / f"{name}-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(inside, f"{name}-1.0")
    return archive


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What pip would fetch: these files. The list can be filled by the test."""
    files: list[Path] = []

    def download(text: str, target: Target, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            (folder / file.name).write_bytes(file.read_bytes())

    monkeypatch.setattr(wheels, "_download", download)
    return files


def test_a_pure_source_package_is_built_here(tmp_path: Path, index: list[Path]) -> None:
    index.append(sdist(tmp_path, "plain", {"plain/a.py": "A = 1\n"}))
    (made,) = fetch(["plain==1.0"], Target("3.12"), tmp_path / "cache", BuildSettings())
    with zipfile.ZipFile(made) as archive:
        assert archive.read("plain/a.py") == b"A = 1\n"


def test_a_source_package_with_compiled_parts_is_refused_unless_it_does_without(
    tmp_path: Path, index: list[Path]
) -> None:
    index.append(sdist(tmp_path, "mixed", {"mixed/fast.so": "elf", "mixed/slow.py": ""}))
    with pytest.raises(NotPure, match=r"mixed has no wheel for python3\.12.*mixed/fast\.so") as caught:
        fetch(["mixed==1.0"], Target("3.12"), tmp_path / "cache", BuildSettings())
    assert caught.value.package == "mixed"
    (made,) = fetch(["mixed==1.0"], Target("3.12"), tmp_path / "cache", BuildSettings(pure=("mixed",)))
    with zipfile.ZipFile(made) as archive:
        assert "mixed/slow.py" in archive.namelist()
        assert "mixed/fast.so" not in archive.namelist()


def test_what_was_fetched_once_is_not_fetched_again(
    tmp_path: Path, index: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    index.append(wheel(tmp_path, "dep", {"dep.py": ""}))
    first = fetch(["dep==1.0"], Target("3.12"), tmp_path / "cache", BuildSettings())

    def refuse(*_: object) -> None:
        raise AssertionError("fetched again")

    monkeypatch.setattr(wheels, "_download", refuse)
    assert fetch(["dep==1.0"], Target("3.12"), tmp_path / "cache", BuildSettings()) == first
    with pytest.raises(AssertionError):
        fetch(["dep==1.1"], Target("3.12"), tmp_path / "cache", BuildSettings())


@pytest.mark.parametrize("table", ["drop = 'numpy'", "drop = [1]", "dorp = ['numpy']", "prune = {}", "pure = true"])
def test_settings_that_are_no_lists_of_texts_are_refused(tmp_path: Path, table: str) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(f"[tool.stepkeeper.build]\n{table}\n", encoding="utf-8")
    with pytest.raises(Unusable, match=table.split()[0]):
        read_build_settings(file)
    file.write_text("", encoding="utf-8")
    assert read_build_settings(file) == BuildSettings()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("resources: 5", "no map of resources"),
        ("resources: {}", "no fc3 function"),
        ("resources: {a: {component: fc3, props: {}}}", "resource a names no handler"),
        ("resources: [", "s.yaml"),
    ],
)
def test_a_template_without_handlers_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(Unusable, match=problem):
        handlers_of(tmp_path / "s.yaml")


def test_a_build_is_whole_and_the_same_each_time(tmp_path: Path, index: list[Path]) -> None:
    root = project(tmp_path / "p", "import dep\n\n\ndef pay(event, context): ...\n")
    (root / "functions/requirements.lock").write_text("dep==1.0 --hash=sha256:aa\n", encoding="utf-8")
    index.append(wheel(tmp_path, "dep", {"dep.py": "X = 1\n"}))
    here = Target(f"3.{sys.version_info[1]}")
    said: list[str] = []
    first = build(root, root / "build", here, said.append)
    assert (first.problems, first.packages, first.handlers) == ((), 1, ("fc_handlers.pay",))
    assert first.zipped == first.archive.stat().st_size
    assert [line[:3] for line in said] == ["1/4", "2/4", "3/4", "4/4"]
    before = found(first.folder)
    (first.folder / "stray.py").write_text("", encoding="utf-8")
    second = build(root, root / "build", here)
    assert (second.sha256, found(second.folder)) == (first.sha256, before)
    assert sorted(path.name for path in (root / "build").iterdir()) == ["cache", "code", "code.zip"]


def test_a_build_that_fails_leaves_the_one_before(tmp_path: Path, index: list[Path]) -> None:
    root = project(tmp_path / "p")
    here = Target(f"3.{sys.version_info[1]}")
    before = found(build(root, root / "build", here).folder)
    (root / "pyproject.toml").write_text("[tool.stepkeeper.build]\nprune = ['x/*']\n", encoding="utf-8")
    with pytest.raises(Unusable):
        build(root, root / "build", here)
    assert found(root / "build/code") == before


def run(monkeypatch: pytest.MonkeyPatch, root: Path, *arguments: str) -> Any:
    monkeypatch.setattr(build_script, "ROOT", root)
    return CliRunner().invoke(app, ["--python", f"3.{sys.version_info[1]}", *arguments])


def test_the_command_says_what_was_built(tmp_path: Path, index: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(monkeypatch, project(tmp_path / "p"), "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["handlers"], told["problems"]) == (["fc_handlers.pay"], [])
    assert len(told["sha256"]) == 64
    assert "all work" in run(monkeypatch, tmp_path / "p").output


def test_a_handler_that_does_not_import_is_status_1(
    tmp_path: Path, index: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(monkeypatch, project(tmp_path / "p", "import left_out\n"))
    assert result.exit_code == 1
    assert "fc_handlers.pay (function shop-pay): module 'left_out' is missing" in result.output


def test_a_package_over_the_limit_is_status_1(
    tmp_path: Path, index: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(monkeypatch, project(tmp_path / "p"), "--limit", "10")
    assert (result.exit_code, "10 are allowed" in result.output) == (1, True)


def test_a_project_that_cannot_be_built_is_status_2_with_one_line(
    tmp_path: Path, index: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(tmp_path / "p")
    (root / "functions/requirements.lock").unlink()
    result = run(monkeypatch, root)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "run scripts/lock" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize("python", ["3", "2.7", "312", "latest"])
def test_an_unknown_python_is_status_2(python: str) -> None:
    result = CliRunner().invoke(app, ["--python", python])
    assert (result.exit_code, "3.10 and 3.12" in result.output) == (2, True)


def test_help_has_examples_and_the_exit_status() -> None:
    result = CliRunner().invoke(app, ["--help"])
    assert (result.exit_code, "Examples:" in result.output, "Exit status:" in result.output) == (0, True, True)


def test_the_functions_packages_are_those_of_the_project_and_the_lock_holds_every_import() -> None:
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    document = toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(document["dependency-groups"]["functions"]) <= set(document["project"]["dependencies"])
    files = [file for name in ("functions", "ledger") for file in (ROOT / name).rglob("*.py")]
    tops = {module.split(".")[0] for module in late_imports(ROOT, files)} - {"functions", "ledger"}
    homes = importlib.metadata.packages_distributions()
    needed = {canonicalize_name(homes[top][0]) for top in tops - set(sys.stdlib_module_names)}
    declared = {canonicalize_name(Requirement(line).name) for line in document["dependency-groups"]["functions"]}
    assert needed == declared
    locked = {
        canonicalize_name(line.split("==")[0]) for line in wanted(ROOT / "functions/requirements.lock", Target("3.12"))
    }
    assert declared <= locked


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("python", ["3.12", "3.10"])
def test_the_real_package_is_small_whole_and_the_same_each_time(tmp_path: Path, python: str) -> None:
    first = build(ROOT, tmp_path / "a", Target(python))
    assert first.problems == ()
    assert first.zipped < LIMIT
    assert len(first.handlers) == len(handlers_of(ROOT / "s.yaml")) >= 11
    assert build(ROOT, tmp_path / "b", Target(python)).sha256 == first.sha256
