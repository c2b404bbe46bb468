"""Where an edge's label goes: on its own line, near its source, clear of nodes and of other labels where possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_FRACTIONS = (0.5, 0.35, 0.65, 0.2, 0.8)


def box_around(at: Point, width: float, height: float) -> Box:
    """Return the box of a label whose middle is at a point."""
    return at[0] - width / 2, at[1] - height / 2, at[0] + width / 2, at[1] + height / 2


def choose(points: Sequence[Point], width: float, height: float, taken: Iterable[Box]) -> Point:
    """Return the first place along a line of points where the label overlaps nothing taken; else the least bad one."""
    boxes = list(taken)
    best, least = points[0], float("inf")
    for at in _places(points, width):
        mine = box_around(at, width, height)
        overlap = sum(_overlap(mine, box) for box in boxes)
        if overlap == 0:
            return at
        if overlap < least:
            best, least = at, overlap
    return best


def _places(points: Sequence[Point], width: float) -> Iterator[Point]:
    """Yield places: horizontal runs that can carry the label first, then everything from the source on."""
    runs = list(pairwise(points))
    level = [run for run in runs if abs(run[0][1] - run[1][1]) < 1 and abs(run[0][0] - run[1][0]) > width + 12]
    for start, end in [*level, *runs]:
        for share in _FRACTIONS:
            yield start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _overlap(one: Box, other: Box) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide * high if wide > 0 and high > 0 else 0.0
