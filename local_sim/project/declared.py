"""The typed errors that functions declare, for the checker: `[tool.local-sim.errors]` of pyproject.toml."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from .errors import ProjectError, listing
from .model import Settings

EVERY_FUNCTION = "*"
"""The key for what every function may raise."""


def declared_errors(settings: Settings, functions: Collection[str], folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the declared errors by function, with those of `"*"` added to each.

    Raises ProjectError for a function that the template does not have.
    """
    declared = dict(settings.errors)
    shared = declared.pop(EVERY_FUNCTION, ())
    for name in declared:
        if name not in functions:
            where = f"{folder / 'pyproject.toml'}: [tool.local-sim.errors] {name}"
            raise ProjectError(f"{where}: {settings.template} has {listing(name, tuple(functions))}")
    if not shared:
        return declared
    return {name: tuple(dict.fromkeys((*shared, *declared.get(name, ())))) for name in functions}
