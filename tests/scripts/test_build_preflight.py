"""The look at the finished folder: every handler and every late import, by the name of what is missing (case C52)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from build_kit import project, wheel

from scripts.building import Problem, Target, find_interpreter, lay_out, preflight

HERE = Target(f"{sys.version_info[0]}.{sys.version_info[1]}")
HANDLERS = {"shop-pay": "fc_handlers.pay"}
with_and_without = pytest.mark.parametrize("interpreter", [sys.executable, None], ids=["imported", "looked at"])
GOOD = "def pay(event, context):\n    return '{}'\n"


def looked(
    tmp_path: Path, interpreter: str | None, handlers: str, wheels: list[Path] | None = None, **modules: str
) -> list[Problem]:
    folder = tmp_path / "code"
    lay_out(project(tmp_path / "p", handlers, **modules), wheels or [], folder)
    return preflight(folder, HANDLERS, HERE, interpreter)


@with_and_without
def test_a_folder_that_works_has_no_problem(tmp_path: Path, interpreter: str | None) -> None:
    dep = wheel(tmp_path, "dep", {"dep/__init__.py": "", "dep/inner.py": ""})
    late = "def run():\n    import dep.inner\n    from dep import inner\n"
    handlers = "import json\nfrom functions import late\nfrom functions.late import run as pay\n"
    assert looked(tmp_path, interpreter, handlers, [dep], late=late) == []


@with_and_without
def test_a_missing_dependency_is_named_with_the_place_that_wants_it(tmp_path: Path, interpreter: str | None) -> None:
    problems = looked(tmp_path, interpreter, "import left_out\n" + GOOD)
    assert any("module 'left_out' is missing" in problem.reason for problem in problems)
    if interpreter:
        assert problems[0] == Problem("fc_handlers.pay", "module 'left_out' is missing", "shop-pay")
    assert any("fc_handlers.py:1" in problem.reason for problem in problems)


@with_and_without
def test_what_is_imported_late_is_looked_for_too(tmp_path: Path, interpreter: str | None) -> None:
    late = "from __future__ import annotations\n\n\ndef run():\n    import left_out.inner\n"
    (problem,) = looked(tmp_path, interpreter, GOOD, late=late)
    assert problem.handler == "left_out.inner"
    assert problem.reason == "module 'left_out' is missing (wanted by functions/late.py:5)"


@with_and_without
def test_what_only_a_type_checker_imports_is_not_wanted(tmp_path: Path, interpreter: str | None) -> None:
    late = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import left_out\n"
    assert looked(tmp_path, interpreter, GOOD, late=late) == []


@with_and_without
def test_a_handler_that_is_not_defined_is_named(tmp_path: Path, interpreter: str | None) -> None:
    assert looked(tmp_path, interpreter, "def other(event, context): ...\n") == [
        Problem("fc_handlers.pay", "'pay' is not defined in fc_handlers.py", "shop-pay")
    ]


@with_and_without
def test_a_handlers_file_that_is_not_there_is_named(tmp_path: Path, interpreter: str | None) -> None:
    folder = tmp_path / "code"
    lay_out(project(tmp_path / "p"), [], folder)
    (problem,) = preflight(folder, {"shop-pay": "index.pay"}, HERE, interpreter)
    assert (problem.handler, problem.reason) == ("index.pay", "module 'index' is missing")


@with_and_without
def test_a_syntax_error_is_told_with_its_line(tmp_path: Path, interpreter: str | None) -> None:
    problems = looked(tmp_path, interpreter, "x = 1\ndef pay(event context): ...\n")
    assert "fc_handlers.py:2" in problems[0].reason
    assert "syntax error" in problems[0].reason


def test_syntax_of_a_newer_python_is_found_without_that_python(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    newer = "try:\n    pass\nexcept* ValueError:\n    pass\n\n\n" + GOOD
    lay_out(project(tmp_path / "p", newer), [], folder)
    problems = preflight(folder, HANDLERS, Target("3.10"), None)
    assert any("syntax error at fc_handlers.py" in problem.reason for problem in problems)


def test_nothing_outside_the_folder_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/left_out.py").write_text("", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "elsewhere"))
    for module in ("left_out", "pytest"):
        problems = looked(tmp_path / module, sys.executable, f"import {module}\n" + GOOD)
        assert problems[0].reason == f"module {module!r} is missing"


def test_a_handler_that_ends_the_process_is_told(tmp_path: Path) -> None:
    (problem, *_) = looked(tmp_path, sys.executable, "raise SystemExit(3)\n")
    assert problem.reason == "SystemExit: 3"
    (problem,) = looked(tmp_path / "b", sys.executable, "import os\nos._exit(3)\n")
    assert "ended with 3" in problem.reason


def test_an_import_leaves_nothing_behind(tmp_path: Path) -> None:
    looked(tmp_path, sys.executable, GOOD)
    assert not list((tmp_path / "code").rglob("__pycache__"))


def test_an_interpreter_is_of_the_targets_version_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_interpreter(HERE) == sys.executable
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert find_interpreter(Target("3.99")) is None
    fake = tmp_path / "python3.98"
    fake.write_text("#!/bin/sh\necho 3 97\n", encoding="utf-8")
    fake.chmod(0o755)
    assert find_interpreter(Target("3.98")) is None
    fake.write_text("#!/bin/sh\necho 3 98\n", encoding="utf-8")
    assert find_interpreter(Target("3.98")) == str(fake)
