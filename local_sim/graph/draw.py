"""Writes the SVG: shapes, lines, labels, a legend; light and dark by the reader's setting. All text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from local_sim.definition.model import Flow

from .from_flow import part_of
from .labels import Point
from .legend import LEGEND_HEIGHT, LEGEND_WIDTH, legend
from .model import Kind, Line, Progress
from .place import HEADER, LABEL_SIZE, LINE_HEIGHT, PADDING, PlacedEdge, PlacedNode, PlacedPart, place
from .shapes import outline, to_border
from .style import STYLE
from .text import shorten, width_of

_MARGIN = 24.0
_TITLE = 34.0
# What XML 1.0 cannot hold at all, escaped or not.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Layout:
    """A flow with a place for everything: laying out is the dear part, drawing the same layout again is cheap."""

    title: str
    part: PlacedPart


def lay_out(flow: Flow) -> Layout:
    """Return where everything goes. Raises LayoutMissing when graphlay is not installed."""
    return Layout(clean(flow.name or "flow"), place(part_of(flow)))


def draw_flow(flow: Flow) -> str:
    """Return the flow as an SVG document. Raises LayoutMissing when graphlay is not installed."""
    return draw(lay_out(flow))


def draw(layout: Layout, progress: Progress | None = None, *, embedded: bool = False) -> str:
    """Return a layout as an SVG document.

    With `progress` states and edges have the classes of an execution. `embedded` leaves the stylesheet and the legend
    out: the page around it has them.
    """
    told, part, title = progress or Progress(), layout.part, layout.title
    width = max(part.width, LEGEND_WIDTH) + 2 * _MARGIN
    height = part.height + _TITLE + LEGEND_HEIGHT + 2 * _MARGIN
    body = "\n".join(_part(part, (width - part.width) / 2, _MARGIN + _TITLE, told))
    style = "" if embedded else f"<style>{STYLE}</style>"
    foot = "" if embedded else legend((width - LEGEND_WIDTH) / 2, height - LEGEND_HEIGHT - _MARGIN / 2)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
        f' height="{height:.0f}" role="img" aria-label={quoteattr(title)}>\n'
        f"<title>{escape(title)}</title>\n{style}\n{_MARKERS}"
        f'<rect class="page" width="100%" height="100%"/>\n'
        f'<text class="title" x="{width / 2:.1f}" y="{_MARGIN + 12:.1f}">{escape(title)}</text>\n'
        f"{body}\n{foot}</svg>\n"
    )


def clean(text: str) -> str:
    """Return a text without what XML cannot hold."""
    return _CONTROL.sub("\ufffd", text)


_MARKERS = (
    "<defs>"
    + "".join(
        f'<marker id="head-{line.value}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
        f' orient="auto">'
        f'<path class="head {line.value}" d="M0 0L8 4L0 8z"/></marker>'
        for line in Line
    )
    + "</defs>\n"
)


def _part(part: PlacedPart, x: float, y: float, progress: Progress) -> Iterator[str]:
    yield f'<g transform="translate({x:.1f} {y:.1f})">'
    by_name = {node.node.name: node for node in part.nodes}
    for node in part.nodes:
        yield from _node(node, progress)
    for edge in part.edges:
        yield _line(edge, by_name[edge.edge.source], by_name[edge.edge.target], progress)
    for edge in part.edges:
        if edge.label_at is not None:
            yield _label(edge, edge.label_at)
    yield "</g>"


def _node(node: PlacedNode, progress: Progress) -> Iterator[str]:
    kind = node.node.kind.value
    if node.node.kind in (Kind.START, Kind.END):
        yield f'<circle class="{kind}" cx="{node.x + node.width / 2:.1f}" cy="{node.y + node.height / 2:.1f}" r="7"/>'
        return
    mark = progress.marks.get(node.node.name, "")
    classes = f"{kind} {mark}".rstrip()
    yield f'<g class="{classes}" transform="translate({node.x:.1f} {node.y:.1f})">'
    yield f"<title>{escape(clean(f'{node.node.name}: {node.node.note}'))}</title>"
    yield outline(node.node.kind, node.width, node.height)
    yield from (_group_text(node) if node.parts else _text(node))
    for part in node.parts:
        yield _heading(part)
        yield from _part(part, part.x, part.y, progress)
    yield "</g>"


def _text(node: PlacedNode) -> Iterator[str]:
    middle = node.width / 2
    y = PADDING / 2 + LINE_HEIGHT * 0.8
    for line in node.lines:
        yield f'<text class="name" x="{middle:.1f}" y="{y:.1f}">{escape(clean(line))}</text>'
        y += LINE_HEIGHT
    yield f'<text class="note" x="{middle:.1f}" y="{y:.1f}">{escape(clean(node.note))}</text>'


def _group_text(node: PlacedNode) -> Iterator[str]:
    y = HEADER / 2 + 5
    yield f'<text class="name left" x="{PADDING:.1f}" y="{y:.1f}">{escape(clean(node.lines[0]))}</text>'
    right = node.width - PADDING
    yield f'<text class="note right" x="{right:.1f}" y="{y:.1f}">{escape(clean(node.note))}</text>'


def _heading(part: PlacedPart) -> str:
    x, y = part.x + part.width / 2, part.y - PADDING / 2 - 2
    return f'<text class="note" x="{x:.1f}" y="{y:.1f}">{escape(clean(shorten(part.heading, 32)))}</text>'


def _line(edge: PlacedEdge, source: PlacedNode, target: PlacedNode, progress: Progress) -> str:
    points = list(edge.points)
    points[0] = to_border(points[0], source)
    points[-1] = to_border(points[-1], target)
    kind = edge.edge.line.value
    taken = " taken" if (edge.edge.source, edge.edge.target) in progress.taken else ""
    tip = f"<title>{escape(clean(edge.edge.label))}</title>" if edge.edge.label else ""
    return f'<path class="edge {kind}{taken}" d="{_rounded(points)}" marker-end="url(#head-{kind})">{tip}</path>'


def _rounded(points: list[Point], radius: float = 7.0) -> str:
    """Return path data with the corners rounded."""
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        start, end = _towards(corner, before, radius), _towards(corner, after, radius)
        parts.append(f"L{start[0]:.1f} {start[1]:.1f}Q{corner[0]:.1f} {corner[1]:.1f} {end[0]:.1f} {end[1]:.1f}")
    parts.append(f"L{points[-1][0]:.1f} {points[-1][1]:.1f}")
    return "".join(parts)


def _towards(start: Point, end: Point, distance: float) -> Point:
    length = ((end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2) ** 0.5
    share = min(distance, length / 2) / length if length else 0.0
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _label(edge: PlacedEdge, at: Point) -> str:
    wide = width_of(edge.label, LABEL_SIZE) + 6
    kind = edge.edge.line.value
    return (
        f'<rect class="plate" x="{at[0] - wide / 2:.1f}" y="{at[1] - 8:.1f}" width="{wide:.1f}" height="15" rx="3"/>'
        f'<text class="label {kind}" x="{at[0]:.1f}" y="{at[1] + 3.5:.1f}">{escape(clean(edge.label))}'
        f"<title>{escape(clean(edge.edge.label))}</title></text>"
    )
