"""Flows as pictures: `draw_flow(flow)` returns an SVG. graphlay, a layered layout engine, says where things go.

svg = draw_flow(load_flow_file("flows/review.yaml"))

To draw the same flow often, with how far executions are: `draw(lay_out(flow), Progress(...))`.
"""

from .draw import Layout, draw, draw_flow, lay_out
from .errors import GraphError, LayoutMissing
from .model import Progress

__all__ = ["GraphError", "Layout", "LayoutMissing", "Progress", "draw", "draw_flow", "lay_out"]
