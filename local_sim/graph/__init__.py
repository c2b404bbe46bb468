"""Flows as pictures: `draw_flow(flow)` returns an SVG. graphlay, a layered layout engine, says where things go.

svg = draw_flow(load_flow_file("flows/review.yaml"))
"""

from .draw import draw_flow
from .errors import GraphError, LayoutMissing

__all__ = ["GraphError", "LayoutMissing", "draw_flow"]
