"""`[tool.local-sim.errors]` against the code of the functions, read without running it."""

from __future__ import annotations

import ast
import functools
import inspect
from pathlib import Path

import pytest

from functions import errors as kit
from local_sim.definition import check_flow
from local_sim.project import Project, load_project
from local_sim.project.declared import EVERY_FUNCTION
from local_sim.project.loader import read_settings

ROOT = Path(__file__).parents[2]
TYPED = {
    name
    for name, kind in inspect.getmembers(kit, inspect.isclass)
    if issubclass(kind, kit.StepkeeperError) and kind is not kit.StepkeeperError
}
# What may come out of the kit for every step: the ledger's and the parser's errors by their typed names.
KIT = ("functions.faults", "functions.events", "functions.bucket")
# Modules through which a handler reaches code that is not its own: step.py and faults.py know all errors.
SHARED = {"functions.errors", "functions.step", "functions.faults", "functions.compensations"}


def file_of(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None


@functools.cache
def tree_of(module: str) -> ast.Module:
    file = file_of(module)
    assert file is not None, module
    return ast.parse(file.read_text(encoding="utf-8"))


@functools.cache
def made_in(module: str) -> frozenset[str]:
    """The typed errors that a module makes: calls of their classes anywhere in it."""
    calls = (node.func for node in ast.walk(tree_of(module)) if isinstance(node, ast.Call))
    return frozenset(func.id for func in calls if isinstance(func, ast.Name)) & TYPED


def imported(module: str) -> set[str]:
    found = set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("functions"):
            inner = {f"{node.module}.{name.name}" for name in node.names}
            found |= {name for name in (*inner, str(node.module)) if file_of(name)}
    return found


def reached(module: str) -> set[str]:
    seen, ahead = set(), [module]
    while ahead:
        current = ahead.pop()
        if current not in seen and current not in SHARED:
            seen.add(current)
            ahead.extend(imported(current))
    # What is imported of another handler is a helper of its, not its body.
    return {name for name in seen if name == module or not name.startswith("functions.handlers")}


@pytest.fixture(scope="module")
def project() -> Project:
    return load_project(ROOT)


HANDLERS = sorted(path.stem for path in (ROOT / "functions/handlers").glob("[a-z]*.py"))


@pytest.mark.parametrize("handler", HANDLERS)
def test_a_function_declares_what_its_code_makes(handler: str, project: Project) -> None:
    declared = set(project.settings.errors[f"stepkeeper-{handler.replace('_', '-')}"])
    assert made_in(f"functions.handlers.{handler}") <= declared
    shared = set(read_settings(ROOT).errors[EVERY_FUNCTION])
    makes = set().union(*map(made_in, reached(f"functions.handlers.{handler}")))
    assert declared - shared <= makes
    assert makes <= declared | shared


def test_what_every_function_declares_is_what_the_kit_makes() -> None:
    shared = set(read_settings(ROOT).errors[EVERY_FUNCTION])
    assert shared == set().union(*map(made_in, KIT))
    assert shared <= TYPED


def test_every_function_of_s_yaml_declares_its_errors(project: Project) -> None:
    assert set(project.settings.errors) == set(project.functions)


@pytest.mark.parametrize(
    ("flow", "old", "new", "code", "says"),
    [
        ("order_saga", "[OrderRefused]", "[OrderRefuzed]", "SK404", "nothing here raises 'OrderRefuzed'"),
        ("order_saga", "Errors: [FnF.ALL]", "Errors: [FnF.TaskTimeout]", "SK405", "SystemFault"),
        ("content_review", "[ResultConflict]", "[ResultConflct]", "SK404", "nothing here raises 'ResultConflct'"),
    ],
)
def test_a_rule_missing_or_misspelt_in_a_shipped_flow_is_found(
    flow: str, old: str, new: str, code: str, says: str, project: Project
) -> None:
    text = (ROOT / f"flows/{flow}.yaml").read_text(encoding="utf-8")
    assert old in text
    report = check_flow(text.replace(old, new), functions=project.settings.errors)
    found = [finding for finding in report.findings if finding.code == code]
    assert found, report.codes()
    assert any(says in finding.message for finding in found)
