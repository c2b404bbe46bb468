"""What the package shows: complete, lazy, documented, and typed."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import ledger
from ledger import errors

ROOT = Path(__file__).resolve().parents[2]


def test_every_exported_name_is_there_and_documented() -> None:
    assert list(ledger.__all__) == sorted(ledger.__all__)
    for name in ledger.__all__:
        value = getattr(ledger, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name


def test_the_type_checker_sees_the_same_names() -> None:
    tree = ast.parse((ROOT / "ledger" / "__init__.py").read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    imported = {alias.name for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported == set(ledger.__all__)


def test_every_error_is_exported_and_has_one_root() -> None:
    found = {name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)}
    assert found <= set(ledger.__all__)
    assert all(issubclass(getattr(errors, name), errors.LedgerError) for name in found)
    assert all(name in (errors.__doc__ or "") for name in found)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = ledger.nonsense


def test_importing_the_ledger_loads_no_sdk() -> None:
    code = (
        "import sys, ledger; from ledger import Ledger, provision, OssBlobs, Saga, StepRequest; "
        "bad = {'tablestore', 'oss2', 'aiohttp'} & set(sys.modules); sys.exit(f'loaded {bad}' if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_opening_a_store_prints_nothing() -> None:
    code = (
        "from ledger import *; Ledger.open(LedgerSettings(tablestore_endpoint='http://127.0.0.1:9', "
        "tablestore_instance='x'), credentials=lambda: Credentials('a', 'b'))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_no_module_of_the_ledger_imports_the_local_cloud() -> None:
    for path in (ROOT / "ledger").glob("*.py"):
        assert "local_sim" not in path.read_text(), path.name
