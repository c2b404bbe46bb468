"""Gives everything a place. Each part is laid out by itself, from the inside out: no edge crosses its border."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .errors import LayoutMissing
from .labels import Box, Point, box_around, choose
from .model import Edge, Kind, Line, Node, Part
from .text import shorten, width_of, wrap

NAME_SIZE, NOTE_SIZE, LABEL_SIZE = 13.0, 11.0, 11.0
LINE_HEIGHT = 16.0
PADDING = 14.0
HEADER = 30.0
GAP = 24.0
_DOT = 16.0
_NAME_COLUMNS, _NOTE_COLUMNS, _LABEL_COLUMNS = 22, 34, 40
_OPTIONS: Mapping[str, Any] = {
    "direction": "topbottom",
    "spacing": {"layer_gap": 56.0, "node_gap": 36.0},
    "cycles": {"strategy": "follow_flow"},
}
_WEIGHTS = {Line.NEXT: 1.0, Line.CHOICE: 0.8, Line.ERROR: 0.2}
"""How much an edge wants to be short and straight: the good path makes the spine."""


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A node with its box (`x`, `y` are the upper left corner), its lines of text and its placed parts."""

    node: Node
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    note: str
    parts: tuple[PlacedPart, ...]


@dataclass(frozen=True, slots=True)
class PlacedEdge:
    """An edge as a line of points, and the middle of its label (None without one)."""

    edge: Edge
    points: tuple[Point, ...]
    label: str
    label_at: Point | None


@dataclass(frozen=True, slots=True)
class PlacedPart:
    """A part in its own coordinates, from 0, 0; `x` and `y` say where it stands in the node around it."""

    heading: str
    width: float
    height: float
    nodes: tuple[PlacedNode, ...]
    edges: tuple[PlacedEdge, ...]
    x: float = 0.0
    y: float = 0.0


def place(part: Part) -> PlacedPart:
    """Lay out a part and everything inside it. Raises LayoutMissing without graphlay."""
    sized = [_size(node) for node in part.nodes]
    layout = _layout(sized, part.edges)
    left, top = layout.bounds["min"]["x"], layout.bounds["min"]["y"]
    nodes = [_move(node, found) for node, found in zip(sized, layout.nodes, strict=True)]
    edges = _label_edges(part.edges, [_points(found) for found in layout.edges], nodes)
    boxes = [_label_box(edge) for edge in edges if edge.label_at is not None]
    left = min([left, *(box[0] for box in boxes)])
    right = max([layout.bounds["max"]["x"], *(box[2] for box in boxes)])
    bottom = max([layout.bounds["max"]["y"], *(box[3] for box in boxes)])
    return PlacedPart(
        part.heading,
        right - left,
        bottom - top,
        tuple(replace(node, x=node.x - left, y=node.y - top) for node in nodes),
        tuple(_shift(edge, -left, -top) for edge in edges),
    )


def _layout(nodes: Sequence[PlacedNode], edges: Sequence[Edge]) -> Any:
    try:
        import graphlay
    except ImportError:
        raise LayoutMissing from None
    graph = graphlay.Graph()
    for node in nodes:
        rank = "first" if node.node.kind is Kind.START else "free"
        graph.node(node.node.name, width=node.width, height=node.height, rank=rank)
    for edge in edges:
        graph.edge(edge.source, edge.target, weight=_WEIGHTS[edge.line])
    return graphlay.layout(graph, options=_OPTIONS)


def _size(node: Node) -> PlacedNode:
    if node.kind in (Kind.START, Kind.END):
        return PlacedNode(node, 0, 0, _DOT, _DOT, (), "", ())
    if node.parts:
        return _size_group(node)
    lines, note = wrap(node.name, _NAME_COLUMNS, 3), shorten(node.note, _NOTE_COLUMNS)
    wide = max(*(width_of(line, NAME_SIZE) for line in lines), width_of(note, NOTE_SIZE))
    height = LINE_HEIGHT * (len(lines) + 1) + PADDING
    return PlacedNode(node, 0, 0, max(120.0, wide + 2 * PADDING + 8), height, tuple(lines), note, ())


def _size_group(node: Node) -> PlacedNode:
    """Put a group's parts beside each other under its own name."""
    lines, note = (shorten(node.name, 60),), shorten(node.note, 60)
    headings = any(part.heading for part in node.parts)
    top = HEADER + (LINE_HEIGHT if headings else 0) + PADDING
    x, height, parts = PADDING, 0.0, []
    for part in map(place, node.parts):
        width = max(part.width, width_of(shorten(part.heading, _LABEL_COLUMNS), LABEL_SIZE))
        inside = x + (width - part.width) / 2
        parts.append(PlacedPart(part.heading, part.width, part.height, part.nodes, part.edges, inside, top))
        x += width + GAP
        height = max(height, part.height)
    titles = width_of(lines[0], NAME_SIZE) + width_of(note, NOTE_SIZE) + 3 * PADDING
    return PlacedNode(node, 0, 0, max(x - GAP + PADDING, titles), top + height + PADDING, lines, note, tuple(parts))


def _move(node: PlacedNode, found: Mapping[str, Any]) -> PlacedNode:
    centre = found["center"]
    return replace(node, x=centre["x"] - node.width / 2, y=centre["y"] - node.height / 2)


def _points(found: Mapping[str, Any]) -> tuple[Point, ...]:
    return tuple((point["x"], point["y"]) for point in found["points"])


def _label_edges(
    edges: Sequence[Edge], lines: Sequence[tuple[Point, ...]], nodes: Sequence[PlacedNode]
) -> list[PlacedEdge]:
    taken = [(node.x, node.y, node.x + node.width, node.y + node.height) for node in nodes]
    placed: list[PlacedEdge] = []
    for edge, points in zip(edges, lines, strict=True):
        label = shorten(edge.label, _LABEL_COLUMNS)
        at = choose(points, width_of(label, LABEL_SIZE) + 8, LINE_HEIGHT, taken) if label else None
        placed.append(PlacedEdge(edge, points, label, at))
        if at is not None:
            taken.append(_label_box(placed[-1]))
    return placed


def _label_box(edge: PlacedEdge) -> Box:
    return box_around(edge.label_at or (0, 0), width_of(edge.label, LABEL_SIZE) + 8, LINE_HEIGHT)


def _shift(edge: PlacedEdge, x: float, y: float) -> PlacedEdge:
    points = tuple((at[0] + x, at[1] + y) for at in edge.points)
    label = None if edge.label_at is None else (edge.label_at[0] + x, edge.label_at[1] + y)
    return replace(edge, points=points, label_at=label)
