"""What can go wrong while drawing.

GraphError                  catch it for anything below
└── LayoutMissing           the layout library is not installed
"""

from __future__ import annotations

from local_sim.errors import LocalSimError


class GraphError(LocalSimError):
    """Root of this package's errors."""


class LayoutMissing(GraphError):
    """graphlay, the layout library of the `local` extra, is not there."""

    def __init__(self) -> None:
        super().__init__("drawing needs the package graphlay: pip install 'stepkeeper[local]'")
