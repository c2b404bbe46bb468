"""Runs every check that goes beyond what load_flow refuses.

Checks look at what could be read, even when other parts have errors.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .check_errors import check_errors
from .check_expressions import check_expressions
from .check_graph import check_graph
from .check_maps import check_maps
from .check_tasks import check_tasks
from .collector import Collector
from .scopes import ScopeInfo


def run_checks(
    scopes: Sequence[ScopeInfo],
    collector: Collector,
    *,
    functions: Mapping[str, Collection[str] | None] | None = None,
    express: bool = False,
) -> None:
    """Add the findings of every check to the collector. `scopes` has outer scopes before inner ones."""
    check_graph(scopes, collector)
    check_expressions(scopes, collector)
    check_errors(scopes, collector, functions)
    check_tasks(scopes, collector, functions, express=express)
    check_maps(scopes, collector)
