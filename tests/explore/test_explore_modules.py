"""What modules remember is kept apart for each process that runs them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from local_sim.explore.fibers import Hub, Instance, WorldClock
from local_sim.explore.modules import ModuleState, _Cache

SOURCE = """
SEEN = []
TABLE = {"fixed": 1}
count = 0

class Kept:
    all = set()

def remember(what):
    global count
    count += 1
    SEEN.append(what)
    TABLE[what] = count
    Kept.all.add(what)
    return count
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "explored_memory.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield __import__("explored_memory")
    sys.modules.pop("explored_memory", None)


def state(module: ModuleType) -> ModuleState:
    assert module.__file__ is not None
    found = ModuleState([Path(module.__file__).parent], frozenset())
    found.learn()
    return found


def test_each_process_has_its_own_memory_and_gets_it_back(module: Any) -> None:
    memory, one, two = state(module), Instance(1, "f"), Instance(2, "f")
    memory.enter(one)
    assert module.remember("a") == 1
    memory.enter(two)
    assert (module.SEEN, module.TABLE, module.Kept.all, module.count) == ([], {"fixed": 1}, set(), 0)
    assert module.remember("b") == 1
    memory.enter(one)
    assert module.SEEN == ["a"]
    assert module.remember("c") == 2
    assert module.Kept.all == {"a", "c"}


def test_a_dead_process_leaves_nothing_behind(module: Any) -> None:
    memory, one = state(module), Instance(1, "f")
    memory.enter(one)
    module.remember("a")
    one.dead = True
    memory.enter(Instance(2, "f"))
    assert module.SEEN == []
    assert one.state is None


def test_modules_of_others_are_left_alone(module: Any, tmp_path: Path) -> None:
    assert not ModuleState([tmp_path / "elsewhere"], frozenset()).mine(module)
    assert not ModuleState([tmp_path], frozenset({"explored_memory"})).mine(module)
    assert ModuleState([tmp_path], frozenset()).mine(module)


def test_a_cache_is_one_a_process() -> None:
    hub, calls = Hub(WorldClock(0), "s"), []
    import functools

    cached = _Cache(hub, lambda what: calls.append(what) or len(calls), functools.lru_cache)
    got: list[int] = []
    for number in (1, 1, 2):
        hub.spawn(Instance(number, "f"), lambda: got.append(cached("x")))
        while hub.run(None):
            pass
    assert got == [1, 1, 2]
    cached.cache_clear()
    assert cached.cache_info().currsize == 0
