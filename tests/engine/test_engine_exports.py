"""The package's face: every export exists, is documented, and the list is sorted."""

from __future__ import annotations

import inspect

from local_sim import engine
from local_sim.engine import errors


def test_all_is_sorted_and_complete() -> None:
    assert list(engine.__all__) == sorted(engine.__all__)
    public = {
        name
        for name, value in vars(engine).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("local_sim")
    }
    assert public <= set(engine.__all__)
    assert all(hasattr(engine, name) for name in engine.__all__)


def test_every_export_has_a_docstring() -> None:
    for name in set(engine.__all__) - {"Command", "Event", "Json"}:
        assert inspect.getdoc(getattr(engine, name)), name


def test_every_error_is_in_the_tree_of_the_errors_module() -> None:
    for name, value in vars(errors).items():
        if inspect.isclass(value) and issubclass(value, Exception) and value.__module__ == errors.__name__:
            assert issubclass(value, engine.EngineError)
            assert name in (errors.__doc__ or "")
