"""The legend: which line and which shape means what."""

from __future__ import annotations

from .model import Kind, Line
from .shapes import outline

LEGEND_WIDTH, LEGEND_HEIGHT = 520.0, 34.0
_LINES = ((Line.NEXT, "next"), (Line.ERROR, "caught error"))
_SHAPES = ((Kind.TASK, "task"), (Kind.CALLBACK, "waits for a callback"), (Kind.CHOICE, "choice"))


def legend(x: float, y: float) -> str:
    """Return the legend's SVG, its upper left corner at x, y."""
    parts = [f'<g class="legend" transform="translate({x:.1f} {y:.1f})">']
    at = 0.0
    for line, text in _LINES:
        kind = line.value
        parts.append(f'<path class="edge {kind}" d="M{at:.1f} 10h30" marker-end="url(#head-{kind})"/>')
        parts.append(f'<text class="note left" x="{at + 38:.1f}" y="14">{text}</text>')
        at += 48 + 6.5 * len(text)
    for shape, text in _SHAPES:
        parts.append(f'<g class="{shape.value}" transform="translate({at:.1f} 0)">{outline(shape, 34, 20)}</g>')
        parts.append(f'<text class="note left" x="{at + 41:.1f}" y="14">{text}</text>')
        at += 52 + 6.5 * len(text)
    return "".join([*parts, "</g>\n"])
