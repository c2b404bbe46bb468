"""The fault explorer: tries every failure at every boundary of a flow, and says how each ends.

`explore(Plan(...))` is what `local-sim explore` does. `@invariant` marks a rule of a project's own; it is given a
`Run`. An outside service may return `Effect`s from an `effects()` of its app. docs/explore.md tells the whole.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .coordinate import explore as explore
    from .errors import BadPlan as BadPlan
    from .errors import ExploreError as ExploreError
    from .errors import ExplorerDied as ExplorerDied
    from .invariants import invariant as invariant
    from .model import Answer as Answer
    from .model import Boundary as Boundary
    from .model import Effect as Effect
    from .model import Placed as Placed
    from .model import Plan as Plan
    from .model import Run as Run
    from .model import Verdict as Verdict
    from .report import Coverage as Coverage
    from .report import Report as Report

__all__ = [
    "Answer",
    "BadPlan",
    "Boundary",
    "Coverage",
    "Effect",
    "ExploreError",
    "ExplorerDied",
    "Placed",
    "Plan",
    "Report",
    "Run",
    "Verdict",
    "explore",
    "invariant",
]

_HOMES = {
    "BadPlan": "errors",
    "Coverage": "report",
    "ExploreError": "errors",
    "ExplorerDied": "errors",
    "Report": "report",
    "explore": "coordinate",
    "invariant": "invariants",
}


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'model')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
