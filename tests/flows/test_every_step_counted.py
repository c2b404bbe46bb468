"""What every shipped step and compensation costs in requests to Tablestore, counted on the wire.

A step's own row: two writes and no read when it is fresh, a refused write and a read when it is repeated. Undoing it:
two writes, after one range read for the whole unwind.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from stopped_kit import Scene, Stage
from stopped_scenes import SCENES

STEPS = {scene.name: scene for scene in SCENES if not scene.name.startswith("undo")}
UNDOES = {scene.name: scene for scene in SCENES if scene.name.startswith("undo")}
# The entry as it stands in a request's body; what follows it there is no letter.
STEP_ROW = re.compile(rb"step/[\w-]+/(\w+)")
FRESH, REPEAT = ["PutRow", "UpdateRow"], ["PutRow", "GetRow"]
PINS = ["GetRow"]
# What a step sends beside its own row: the task's pins (once per task and process), or its business itself.
BESIDE = {
    "ValidateInput": ["PutRow", "PutRow"],  # begins the task
    "AcceptOrder": ["PutRow", "PutRow"],
    "HumanReview": ["PutRow", "PutRow", "GetRange", "GetRow", "GetRow", "GetRow"],  # the review is an entry of its own
    "NeedInput": [],
    "ManualReview": [],
    "RecordDecision": ["GetRange", "GetRow", "UpdateRow"],  # settles the step that failed
}


class Counted:
    """Every request of a stage's processes to Tablestore, with the step whose row it is about ("" for others)."""

    def __init__(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        self._send = stage.wires.send_receive
        self._sent: list[tuple[str, str]] = []
        monkeypatch.setattr(stage.wires, "send_receive", self._counted)

    def _counted(self, url: str, headers: Any, body: bytes) -> Any:
        found = STEP_ROW.search(body)
        self._sent.append((url.strip("/"), found.group(1).decode() if found else ""))
        return self._send(url, headers, body)

    def taken(self, step: str) -> tuple[list[str], list[str]]:
        """Return what was sent since the last time: about this step's row, and about all others."""
        sent, self._sent = self._sent, []
        return [kind for kind, row in sent if row == step], [kind for kind, row in sent if row != step]

    def by_step(self) -> Counter[tuple[str, str]]:
        """Return how often each kind was sent about each step's row since the last time."""
        sent, self._sent = self._sent, []
        return Counter(sent)


@pytest.fixture
def counted(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(stage, monkeypatch)


def begun(stage: Stage, scene: Scene, counted: Counted) -> tuple[str, Any]:
    """Set the stage for a scene, in a process of its own."""
    task_id = f"counted-{scene.name}".replace(" ", "-")
    given = scene.before(stage, task_id)
    stage.process()
    counted.by_step()
    return task_id, given


@pytest.mark.parametrize("name", [name for name in STEPS if name != "CheckExistingResult"])
def test_a_fresh_step_costs_two_writes_and_a_repeat_two_requests(stage: Stage, counted: Counted, name: str) -> None:
    scene = STEPS[name]
    task_id, given = begun(stage, scene, counted)
    scene.act(stage, given)
    own, others = counted.taken(name)
    assert own == FRESH
    assert sorted(others) == sorted(BESIDE.get(name, PINS))
    scene.act(stage, given)
    own, others = counted.taken(name)
    assert own == REPEAT
    if name != "HumanReview":  # an open review is looked for before the step, so that a lost notice is sent again
        assert others == []
    stage.seen(task_id)


def test_a_step_that_only_reads_asks_the_ledger_nothing(stage: Stage, counted: Counted) -> None:
    scene = STEPS["CheckExistingResult"]
    task_id, given = begun(stage, scene, counted)
    scene.act(stage, given)
    assert counted.by_step() == Counter()
    stage.seen(task_id)


@pytest.mark.parametrize("name", UNDOES)
def test_an_unwind_costs_one_range_read_and_two_writes_a_compensation(
    stage: Stage, counted: Counted, name: str
) -> None:
    scene = UNDOES[name]
    task_id, given = begun(stage, scene, counted)
    scene.act(stage, given)
    sent = counted.by_step()
    assert stage.ledger is not None
    rows = stage.ledger.rows(task_id)
    undone = {row.step for row in rows if row.direction == "compensate" and row.state == "done"}
    assert undone
    closed = {row.step for row in rows if row.state in ("irreversible", "tombstone")}
    on_steps = {key: count for key, count in sent.items() if key[1] and key[0] != "GetRange"}
    assert on_steps == {("UpdateRow", step): 2 if step in undone else 1 for step in undone | closed}
    assert sum(count for (kind, _), count in sent.items() if kind == "GetRange") == 1
    counted.by_step()
    scene.act(stage, given)
    again = counted.by_step()
    assert sum(again.values()) == 2  # the range read, and how many were skipped as repeats
    assert not any(kind in ("UpdateRow", "GetRow") for kind, _ in again)
    stage.seen(task_id)
