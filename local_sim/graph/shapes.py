"""The outlines: hexagons for callbacks, cut corners for choices, boxes and pills for the rest."""

from __future__ import annotations

from .labels import Point
from .model import Kind
from .place import PlacedNode

_CUT = 14.0


def outline(kind: Kind, width: float, height: float) -> str:
    """Return the SVG element of a node's outline, its upper left corner at 0, 0."""
    if kind is Kind.CALLBACK:
        return _polygon(
            (_CUT, 0), (width - _CUT, 0), (width, height / 2), (width - _CUT, height), (_CUT, height), (0, height / 2)
        )
    if kind is Kind.CHOICE:
        c, w, h = min(_CUT, height / 3), width, height
        return _polygon((c, 0), (w - c, 0), (w, c), (w, h - c), (w - c, h), (c, h), (0, h - c), (0, c))
    radius = {Kind.WAIT: height / 2, Kind.SUCCEED: height / 2, Kind.GROUP: 10.0, Kind.FAIL: 2.0}.get(kind, 6.0)
    return f'<rect class="shape" width="{width:.1f}" height="{height:.1f}" rx="{radius:.1f}"/>'


def to_border(point: Point, node: PlacedNode) -> Point:
    """Move an edge's end from a node's box onto its outline, where the outline leaves the box's corners free."""
    x, y = point
    depth = _depth(node, x)
    if abs(y - node.y) < 0.5:
        return x, y + depth
    return (x, y - depth) if abs(y - node.y - node.height) < 0.5 else point


def _depth(node: PlacedNode, x: float) -> float:
    """Return how far below the box's upper edge the outline is at `x`."""
    inside = min(x - node.x, node.x + node.width - x)
    if node.node.kind is Kind.CHOICE:
        return max(0.0, _CUT - inside)
    if node.node.kind is Kind.CALLBACK:
        return max(0.0, _CUT - inside) / _CUT * node.height / 2
    radius = node.height / 2
    if node.node.kind in (Kind.WAIT, Kind.SUCCEED) and 0 <= inside < radius:
        return float(radius - (radius**2 - (radius - inside) ** 2) ** 0.5)
    return 0.0


def _polygon(*points: Point) -> str:
    return f'<polygon class="shape" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'
