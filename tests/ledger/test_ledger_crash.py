"""A crash before and after every single request, then a crash at every request of the recovery, and so on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from ledger_kit import DirectWire, Faults, TurnableClock, ledger_over
from ledger_story import Story

from ledger import EffectKind

IDEMPOTENT, PROBED, LOCAL, UNDECLARED = (
    EffectKind.IDEMPOTENT,
    EffectKind.PROBED,
    EffectKind.LOCAL,
    EffectKind.UNDECLARED,
)
# Kind of the effect, kind of its compensation, whether the effect completes the latter, how many crashes in a row,
# and how many distinct crash points must come out (a larger tree of three crashes in a row is cut there).
TALES = [
    (IDEMPOTENT, IDEMPOTENT, True, 2, 120),
    (PROBED, PROBED, True, 2, 120),
    (UNDECLARED, UNDECLARED, True, 2, 100),
    (LOCAL, UNDECLARED, False, 2, 80),
    (IDEMPOTENT, PROBED, False, 3, 530),
    (PROBED, IDEMPOTENT, True, 3, 550),
    (UNDECLARED, LOCAL, False, 3, 500),
]
assert sum(tale[-1] for tale in TALES) >= 2_000
_tasks = itertools.count()

Crashes = tuple[tuple[int, str], ...]


def tell(wire: DirectWire, kinds: tuple[EffectKind, EffectKind, bool], crashes: Crashes) -> tuple[bool, int]:
    """Tell one story with a crash per process; returns whether the last one came about, and the last one's requests."""

    def wires(number: int) -> Faults:
        at, when = crashes[number] if 0 <= number < len(crashes) else (-1, "")
        return Faults(wire, lambda count, url: f"crash_{when}" if count == at else None)

    story = Story(f"crash-{next(_tasks)}", *kinds[:2], TurnableClock(), wires, completes_compensation=kinds[2])
    story.tell()
    requests = story.last_wire.count
    story.check(ledger_over(wire, story.clock))
    return story.processes > len(crashes), requests


def explore(wire: DirectWire, kinds: tuple[EffectKind, EffectKind, bool], depth: int) -> Iterator[Crashes]:
    """Yield every sequence of up to `depth` crashes that came about, having checked each story to its end."""
    waiting: list[tuple[Crashes, int]] = [((), tell(wire, kinds, ())[1])]
    while waiting:
        crashes, requests = waiting.pop()
        for point in itertools.product(range(requests), ("before", "after")):
            longer = (*crashes, point)
            happened, left = tell(wire, kinds, longer)
            if not happened:
                continue
            yield longer
            if len(longer) < depth:
                waiting.append((longer, left))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("kind", "undo_kind", "completes", "depth", "least"), TALES)
def test_a_crash_at_any_request_leaves_exactly_one_effect(
    wire: DirectWire, kind: EffectKind, undo_kind: EffectKind, completes: bool, depth: int, least: int
) -> None:
    found = explore(wire, (kind, undo_kind, completes), depth)
    points = set(itertools.islice(found, least) if depth > 2 else found)
    print(f"{len(points)} distinct crash points")
    assert len(points) >= least


SOAK_POINTS = 25_000


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("kind", list(EffectKind))
def test_soak_a_hundred_thousand_crash_points(wire: DirectWire, kind: EffectKind) -> None:
    """Up to four crashes in a row, for each pair of kinds: 25,000 distinct points a kind of effect, four kinds."""
    trees = [explore(wire, (kind, undo_kind, True), 4) for undo_kind in EffectKind]
    share = SOAK_POINTS // len(trees)
    count = sum(len(set(itertools.islice(tree, share))) for tree in trees)
    print(f"{count} distinct crash points")
    assert count == SOAK_POINTS
