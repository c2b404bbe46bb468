"""Every shipped step and compensation, stopped before and after every single request it sends, and gone on with.

However often and wherever it was stopped, the world outside (shop, objects, notices) and the record are the same as
after a run that nothing stopped: each effect took place exactly once.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest
from stopped_kit import Point, Scene, Stage
from stopped_scenes import SCENES, Wanted

STEPS = {scene.name: scene for scene in SCENES}


def points(stage: Stage, scene: Scene, wanted: Wanted, pairs: int) -> Iterator[tuple[Point, ...]]:
    """Yield every single point of a scene and so many of two in a row (chosen by the scene's name), each checked."""
    task_id, _, requests = scene.play(stage)
    whole = stage.seen(task_id)
    assert (tuple(whole["shop"]), tuple(whole["notices"])) == (wanted.shop, wanted.notices)
    assert len(whole["objects"]) == wanted.objects
    left: dict[Point, int] = {}
    for point in itertools.product(range(requests), ("before", "after")):
        left[point] = check(stage, scene, (point,), whole)
        yield (point,)
    both = [(one, two) for one in left for two in itertools.product(range(left[one]), ("before", "after"))]
    for stops in random.Random(scene.name).sample(both, min(pairs, len(both))):
        check(stage, scene, stops, whole)
        yield stops


def check(stage: Stage, scene: Scene, stops: tuple[Point, ...], whole: Any) -> int:
    """Play a scene with its stops to the end; returns how many requests the last process sent."""
    task_id, processes, requests = scene.play(stage, stops)
    assert processes == len(stops) + 1, f"{scene.name} was never stopped at {stops}"
    assert stage.seen(task_id) == whole, f"{scene.name} stopped at {stops}"
    return requests


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", STEPS)
def test_stopped_at_any_request_its_effect_takes_place_exactly_once(stage: Stage, name: str) -> None:
    scene = STEPS[name]
    wanted = SCENES[scene]
    found = set(points(stage, scene, wanted, wanted.pairs))
    print(f"{name}: {len(found)} distinct crash points")
    # Each request has two points, and the least of handlers (a reading one) sends one request.
    assert len(found) >= wanted.pairs + 2


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", STEPS)
def test_soak_stopped_twice_at_every_pair_of_requests(stage: Stage, name: str) -> None:
    found = sum(1 for _ in points(stage, STEPS[name], SCENES[STEPS[name]], 10**9))
    print(f"{name}: {found} distinct crash points")
    assert found > 0
