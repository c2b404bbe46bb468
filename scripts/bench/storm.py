"""Simulates a retry storm: 1,000 clients of a service that is down for 20 seconds, with and without load feedback.

`python scripts/bench.py storm --svg docs/img/retry-storm.svg` prints requests a second and draws them. Everything is
virtual and comes from one seed. Without feedback every client retries a second later; with it, pauses have full jitter
and clients that are refused hold back (`functions.upstream.LoadFeedback`).
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from functions.upstream import LoadFeedback

SEED = 20261201
DOWN = range(10, 30)
_ATTEMPTS = 6
_PARTS = {"before, 0-10 s": slice(0, 10), "down, 10-30 s": slice(10, 30), "after, 90-120 s": slice(90, 120)}
_OVERLOAD = 1.5

_WIDTH, _LEFT, _FLOOR = 720, 56, 244
_HEAD = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} 280" role="img" aria-label="a retry storm">
<style>text{{font:12px system-ui,sans-serif;fill:#5b6b7b}}line{{stroke:#8b9aa8;stroke-opacity:.35}}
rect{{fill:#c02b2b;fill-opacity:.1}}</style>
<text x="{_LEFT}" y="20">requests a second; red: plain retries, green: load feedback and jitter; shaded: down</text>
"""


@dataclass(frozen=True)
class Service:
    """A service that answers `capacity` requests a second, and only a third of that when it is asked far too much."""

    capacity: int = 300

    def answers(self, second: int, asked: int) -> int:
        """Return how many of the requests of a second are answered."""
        if second in DOWN:
            return 0
        overloaded = asked > _OVERLOAD * self.capacity
        return min(asked, self.capacity // 3 if overloaded else self.capacity)


def simulate(*, feedback: bool, clients: int = 1_000, seconds: int = 120, rate: float = 0.2) -> list[int]:
    """Return the requests the service gets each second; each client has something new to ask `rate` times a second."""
    chance, service, now = random.Random(SEED), Service(), [0.0]  # noqa: S311 - a simulation

    def made() -> LoadFeedback:
        return LoadFeedback(clock=lambda: now[0], draw=chance.random, window_seconds=30)

    feedbacks = [made() for _ in range(clients)]
    due: list[list[tuple[int, int]]] = [[] for _ in range(seconds + 64)]
    load = []
    for second in range(seconds):
        now[0] = float(second)
        wanted = [(client, 1) for client in range(clients) if chance.random() < rate] + due[second]
        sent = [one for one in wanted if not feedback or feedbacks[one[0]].allows()]
        load.append(len(sent))
        answered = set(chance.sample(range(len(sent)), service.answers(second, len(sent))))
        for place, (client, attempt) in enumerate(sent):
            if place in answered:
                feedbacks[client].accepted()
            elif attempt < _ATTEMPTS:
                pause = round(chance.uniform(0, min(30, 2**attempt))) if feedback else 1
                due[second + max(1, pause)].append((client, attempt + 1))
    return load


def main(argv: Sequence[str] | None = None) -> None:
    """Simulate, print, and draw where asked to."""
    parser = argparse.ArgumentParser(prog="bench.storm", description="A retry storm, simulated with 1,000 clients.")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the two runs into FILE")
    options = parser.parse_args(argv)
    plain, gentle = simulate(feedback=False), simulate(feedback=True)
    print("| requests a second | without feedback | with feedback and jitter |\n| --- | ---: | ---: |")
    for name, part in (
        ("before, 0-10 s", slice(0, 10)),
        ("down, 10-30 s", slice(10, 30)),
        ("after, 90-120 s", slice(90, 120)),
    ):
        print(f"| {name} | {_mean(plain[part])} | {_mean(gentle[part])} |")
    print(f"| most in any second | {max(plain)} | {max(gentle)} |")
    if options.svg is not None:
        options.svg.write_text(draw(plain, gentle), encoding="utf-8")


def _mean(values: Sequence[int]) -> str:
    return f"{sum(values) / len(values):.0f}"


def draw(plain: Sequence[int], gentle: Sequence[int]) -> str:
    """Return the two runs as an SVG line chart."""
    most = max(*plain, *gentle, 1)
    across, up = (_WIDTH - _LEFT - 16) / (len(plain) - 1), (_FLOOR - 36) / most

    def line(values: Sequence[int], colour: str) -> str:
        points = " ".join(f"{_LEFT + n * across:.1f},{_FLOOR - value * up:.1f}" for n, value in enumerate(values))
        return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'

    parts = [_HEAD]
    parts.append(
        f'<rect x="{_LEFT + DOWN.start * across:.1f}" y="36" width="{len(DOWN) * across:.1f}" height="{_FLOOR - 36}"/>'
    )
    for value in range(0, most + 1, 300):
        y = _FLOOR - value * up
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - 16}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value}</text>')
    parts += [
        f'<text x="{_LEFT + second * across:.1f}" y="{_FLOOR + 22}" text-anchor="middle">{second} s</text>'
        for second in range(0, len(plain) + 1, 20)
    ]
    return "".join([*parts, line(plain, "#c02b2b"), line(gentle, "#2f9a4d"), "</svg>\n"])
