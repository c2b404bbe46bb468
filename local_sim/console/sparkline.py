"""A row of numbers as a small SVG line."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

_WIDTH, _HEIGHT = 120.0, 28.0


def sparkline(values: Sequence[float]) -> Markup:
    """Return the SVG; empty for fewer than two numbers."""
    if len(values) < 2:
        return Markup()
    high = max(max(values), 1e-9)
    step = _WIDTH / (len(values) - 1)
    points = " ".join(
        f"{number * step:.1f},{_HEIGHT - 2 - value / high * (_HEIGHT - 4):.1f}" for number, value in enumerate(values)
    )
    box = f"0 0 {_WIDTH:.0f} {_HEIGHT:.0f}"
    return Markup(  # noqa: S704 - numbers only
        f'<svg class="spark" viewBox="{box}" width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}" aria-hidden="true">'
        f'<polyline points="{points}"/></svg>'
    )
