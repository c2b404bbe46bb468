"""A timeline of visits and their attempts as SVG: one row a visit, time from left to right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

from local_sim.graph.draw import clean
from local_sim.graph.text import shorten

from .format import duration
from .timeline import Visit

MOST_ROWS = 150
_LABEL, _WIDTH, _ROW, _TOP, _RIGHT = 210.0, 900.0, 22.0, 26.0, 70.0
_STEPS_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800)


def draw_timeline(visits: Sequence[Visit], now_ms: int) -> str:
    """Return the SVG; empty without visits. Of more than MOST_ROWS visits the newest are drawn."""
    shown = list(visits)[-MOST_ROWS:]
    if not shown:
        return ""
    start = shown[0].start_ms
    end = max([visit.end_ms or now_ms for visit in shown] + [start + 1])
    scale = (_WIDTH - _LABEL - _RIGHT) / (end - start)
    height = _TOP + _ROW * len(shown) + 8
    box = f"0 0 {_WIDTH:.0f} {height:.0f}"
    parts = [
        f'<svg class="timeline" xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="group" aria-label="timeline">'
    ]
    parts += _axis(end - start, scale, height)
    for row, visit in enumerate(shown):
        parts += _row(visit, row, start, end, scale)
    return "".join([*parts, "</svg>"])


def _axis(span: int, scale: float, height: float) -> Iterator[str]:
    step = _step(span)
    at = 0
    while at <= span:
        x = _LABEL + at * scale
        yield f'<line class="grid" x1="{x:.1f}" y1="{_TOP - 6}" x2="{x:.1f}" y2="{height - 4:.1f}"/>'
        yield f'<text class="tick" x="{x:.1f}" y="{_TOP - 11}">{escape(duration(at))}</text>'
        at += step


def _step(span: int) -> int:
    """Return the distance of the marks in ms: at most eight of them."""
    steps = [*_STEPS_MS, *(second * 1000 for second in _STEPS_S)]
    return next((step for step in steps if span / step <= 8), max(steps[-1], span // 8 or 1))


def _row(visit: Visit, row: int, start: int, end: int, scale: float) -> Iterator[str]:
    y = _TOP + row * _ROW
    until = visit.end_ms if visit.end_ms is not None else end
    x, wide = _LABEL + (visit.start_ms - start) * scale, max(2.0, (until - visit.start_ms) * scale)
    indent = 8.0 + 12.0 * min(visit.level, 6)
    name = shorten(visit.state, 26 - 2 * min(visit.level, 6))
    yield f'<a href="#visit-{visit.event}"><text class="row" x="{indent}" y="{y + 14:.1f}">{escape(clean(name))}</text>'
    tip = f"{visit.state}: {visit.status}, {duration(until - visit.start_ms)}" + (
        f", {visit.error}" if visit.error else ""
    )
    yield (
        f'<rect class="bar {visit.status}" x="{x:.1f}" y="{y + 4:.1f}" width="{wide:.1f}" height="13" rx="3">'
        f"<title>{escape(clean(f'{visit.state}: {tip}'))}</title></rect>"
    )
    for before, after in pairwise(visit.attempts):
        yield from _pause(before.end_ms, after.start_ms, start, scale, y)
    for attempt in visit.attempts:
        if attempt.error and attempt.end_ms is not None:
            at = _LABEL + (attempt.end_ms - start) * scale
            text = f"attempt {attempt.number}: {attempt.error}"
            yield (
                f'<rect class="mark" x="{at - 1.5:.1f}" y="{y + 2:.1f}" width="3" height="17">'
                f"<title>{escape(clean(text))}</title></rect>"
            )
    yield f'<text class="length" x="{min(x + wide + 5, _WIDTH - _RIGHT + 5):.1f}" y="{y + 14:.1f}">'
    yield f"{escape(duration(until - visit.start_ms))}</text></a>"


def _pause(begin: int | None, until: int, start: int, scale: float, y: float) -> Iterator[str]:
    """The wait between two attempts, drawn light over the bar."""
    if begin is not None and until > begin:
        x = _LABEL + (begin - start) * scale
        yield f'<rect class="pause" x="{x:.1f}" y="{y + 4:.1f}" width="{(until - begin) * scale:.1f}" height="13"/>'
