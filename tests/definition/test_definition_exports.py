"""What the two rooms export, and that their error trees hold together."""

from __future__ import annotations

import subprocess
import sys

import pytest

import local_sim.definition as definition
import local_sim.expression as expression
from local_sim.errors import LocalSimError


@pytest.mark.parametrize("package", [definition, expression])
def test_the_list_of_exports_is_complete_and_sorted(package: object) -> None:
    names = package.__all__  # type: ignore[attr-defined]
    assert len(names) == len(set(names))
    assert all(hasattr(package, name) for name in names)
    for group in (str.isupper, lambda name: name[0].isupper() and not name.isupper(), lambda name: name[0].islower()):
        members = [name for name in names if group(name)]
        assert members == sorted(members)


def test_one_except_takes_every_definition_error() -> None:
    for kind in (definition.InvalidFlowError, definition.UnreadableFlowError):
        assert issubclass(kind, definition.DefinitionError)
    assert issubclass(definition.DefinitionError, LocalSimError)


def test_one_except_takes_every_expression_error() -> None:
    for kind in (
        expression.UnknownNameError,
        expression.ArityError,
        expression.NotAllowedHereError,
        expression.TooDeepError,
    ):
        assert issubclass(kind, expression.ExpressionSyntaxError)
    for kind in (expression.ExpressionSyntaxError, expression.EvaluationError):
        assert issubclass(kind, expression.ExpressionError)


def test_importing_the_room_loads_neither_yaml_nor_the_regular_expressions() -> None:
    """The command line has 0.2 s from start to first result."""
    dear = ("yaml", "re2", "hashlib", "difflib", "typer")
    code = f"import sys, local_sim.definition; print([name for name in {dear} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
