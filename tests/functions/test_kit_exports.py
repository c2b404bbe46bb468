"""What the package and its modules export: sorted, complete, nothing that is not there, and cheap to import."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

import functions
from functions.errors import StepkeeperError

ROOT = Path(__file__).parents[2]
MODULES = [info.name for info in pkgutil.walk_packages(functions.__path__, "functions.")]


def by_kind(name: str) -> tuple[bool, bool, str]:
    """Constants, then classes, then functions, each by name."""
    return (not name.isupper(), name[0].islower(), name)


@pytest.mark.parametrize("module", ["functions", *MODULES])
def test_exports_are_sorted_and_there(module: str) -> None:
    loaded = importlib.import_module(module)
    names = list(getattr(loaded, "__all__", []))
    assert all(hasattr(loaded, name) for name in names)
    assert names == sorted(set(names), key=by_kind)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_class_and_function_of_a_module_is_exported(module: str) -> None:
    loaded = importlib.import_module(module)
    assert loaded.__file__ is not None
    tree = ast.parse(Path(loaded.__file__).read_text(encoding="utf-8"))
    defined = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    public = {name for name in defined if not name.startswith("_")}
    assert public <= set(getattr(loaded, "__all__", [])), "private names start with an underscore"


@pytest.mark.parametrize("module", ["functions", *MODULES])
def test_everything_exported_is_documented(module: str) -> None:
    loaded = importlib.import_module(module)
    assert loaded.__doc__
    for name in getattr(loaded, "__all__", []):
        value = getattr(loaded, name)
        if isinstance(value, type | FunctionType):
            assert value.__doc__, name


def test_a_name_that_is_none_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        functions.Nothing  # noqa: B018


def test_the_errors_of_the_package_are_one_tree() -> None:
    exported = {getattr(functions, name) for name in functions.__all__}
    kinds = {kind for kind in exported if isinstance(kind, type) and issubclass(kind, Exception)}
    tree = {kind for kind in StepkeeperError.__subclasses__() if kind.__module__ == "functions.errors"}
    assert kinds == {StepkeeperError, *tree}


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, functions; print(sorted(name for name in sys.modules if name.startswith('functions.')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
