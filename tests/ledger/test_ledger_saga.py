"""Unwinding: order, repeats, failures, tombstones, savepoints, what cannot be undone."""

from __future__ import annotations

from typing import Any

import pytest
from ledger_kit import WV, Crash, DirectWire, TurnableClock, ledger_over

from ledger import (
    Compensation,
    CompensationContext,
    CompensationFailed,
    Direction,
    EffectKind,
    InvalidKey,
    Ledger,
    OutcomeUncertain,
    Probe,
    ProbeMissing,
    StepBusy,
    StepClosed,
    StepContext,
    StepRequest,
    UndoStatus,
    UnknownCompensation,
    UnknownSavepoint,
)


class Boom(Exception):
    pass


class Refused(Exception):
    effect_applied = False


class World:
    """Runs steps called by letters and undoes them, keeping count."""

    def __init__(self, ledger: Ledger, task: str) -> None:
        self.ledger, self.task = ledger, task
        self.did: list[str] = []
        self.undid: list[str] = []
        self.broken: set[str] = set()

    def run(self, step: str, raises: type[BaseException] | None = None, **more: Any) -> Any:
        def effect(context: StepContext) -> Any:
            self.did.append(step)
            if raises:
                raise raises
            return {"made": step}

        fields = {"kind": EffectKind.IDEMPOTENT, "compensation": Compensation("undo", {"step": step}), **more}
        return self.ledger.run(StepRequest(self.task, WV, step, 1, **fields), effect)

    def undo(self, context: CompensationContext) -> Any:
        assert isinstance(context.arguments, dict)
        if context.step in self.broken:
            raise Boom(context.step)
        self.undid.append(context.step)
        return None

    def unwind(self, **more: Any) -> list[tuple[str, str]]:
        report = self.ledger.saga(self.task, WV).compensate({"undo": self.undo}, **more)
        return [(step.step, step.status.value) for step in report.steps]


@pytest.fixture
def world(ledger: Ledger, task: str) -> World:
    return World(ledger, task)


def statuses(error: CompensationFailed) -> list[tuple[str, str]]:
    return [(step.step, step.status.value) for step in error.report.steps]


def test_all_steps_are_undone_in_the_reverse_order_of_completion(world: World) -> None:
    for step in ("reserve", "charge", "ship"):
        world.run(step)
    assert world.unwind() == [("ship", "compensated"), ("charge", "compensated"), ("reserve", "compensated")]
    assert world.undid == ["ship", "charge", "reserve"]


def test_the_order_is_that_of_completion_and_not_of_starting(world: World) -> None:
    def outer(context: StepContext) -> Any:
        world.run("inner")
        return None

    request = StepRequest(world.task, WV, "outer", 1, kind=EffectKind.LOCAL, compensation=Compensation("undo", {}))
    world.ledger.run(request, outer)
    world.unwind()
    assert world.undid == ["outer", "inner"]


def test_skewed_clocks_do_not_change_the_order(wire: DirectWire, clock: TurnableClock, task: str) -> None:
    worlds = [World(ledger_over(wire, clock.skewed(skew)), task) for skew in (3_600_000, 0, -3_600_000)]
    for step, world in zip(("first", "second", "third"), worlds, strict=True):
        world.run(step)
    worlds[1].unwind()
    assert worlds[1].undid == ["third", "second", "first"]


def test_a_compensation_costs_two_writes(world: World, wire: DirectWire) -> None:
    world.run("A")
    world.run("B")
    wire.requests.clear()
    world.unwind()
    assert wire.requests == ["GetRange"] + ["UpdateRow"] * 4


def test_a_repeat_undoes_nothing_again(world: World) -> None:
    world.run("A")
    world.unwind()
    assert world.unwind() == [("A", "skipped_repeat")]
    assert world.undid == ["A"]


def test_an_undone_step_neither_runs_nor_replays(world: World) -> None:
    world.run("A")
    world.unwind()
    with pytest.raises(StepClosed) as caught:
        world.run("A")
    assert caught.value.state == "compensated"
    assert world.did == ["A"]


def test_c37_undo_before_the_step_leaves_a_tombstone(world: World) -> None:
    assert world.unwind(steps=["A"]) == [("A", "nothing_to_undo")]
    with pytest.raises(StepClosed) as caught:
        world.run("A")
    assert caught.value.state == "tombstone"
    assert world.unwind(steps=["A"]) == [("A", "skipped_repeat")]
    assert (world.did, world.undid) == ([], [])


def test_it_stops_at_a_failing_one_and_a_repeat_resumes_there(world: World) -> None:
    for step in ("A", "B", "C"):
        world.run(step)
    world.broken = {"B"}
    with pytest.raises(CompensationFailed) as caught:
        world.unwind()
    assert statuses(caught.value) == [("C", "compensated"), ("B", "failed"), ("A", "not_reached")]
    assert (caught.value.step, type(caught.value.error), caught.value.report.complete) == ("B", Boom, False)
    world.broken = set()
    assert world.unwind() == [("C", "skipped_repeat"), ("B", "compensated"), ("A", "compensated")]
    assert world.undid == ["C", "B", "A"]
    undo_rows = [row for row in world.ledger.rows(world.task) if row.direction is Direction.COMPENSATE]
    assert {row.step: (row.state, row.attempt) for row in undo_rows} == {
        "C": ("done", 1),
        "B": ("done", 2),
        "A": ("done", 1),
    }


@pytest.mark.parametrize("parallel", [False, True])
def test_c39_continue_on_error_collects_every_error_and_still_raises(world: World, parallel: bool) -> None:
    for step in ("A", "B", "C", "D"):
        world.run(step)
    world.broken = {"B", "D"}
    with pytest.raises(CompensationFailed) as caught:
        world.unwind(continue_on_error=True, parallel=parallel)
    assert statuses(caught.value) == [("D", "failed"), ("C", "compensated"), ("B", "failed"), ("A", "compensated")]
    assert [str(step.error) for step in caught.value.report.steps if step.error] == ["D", "B"]
    assert sorted(world.undid) == ["A", "C"]


def test_c39_parallel_that_stops_starts_nothing_new_after_a_failure(world: World) -> None:
    steps = [f"S{number:02d}" for number in range(12)]
    for step in steps:
        world.run(step)
    world.broken = set(steps)
    with pytest.raises(CompensationFailed) as caught:
        world.unwind(parallel=True)
    found = {status for _, status in statuses(caught.value)}
    assert found <= {"failed", "not_reached"}
    assert world.undid == []
    world.broken = set()
    world.unwind(parallel=True)
    assert sorted(world.undid) == steps


def test_what_cannot_be_undone_is_listed_with_what_is_known_and_never_counted(world: World) -> None:
    world.run("charge")
    world.run("mail", compensation=Compensation("mail", {"to": "li@example.com"}, reversible=False))
    for expected in ("compensated", "skipped_repeat"):
        report = world.ledger.saga(world.task, WV).compensate({"undo": world.undo})
        assert [(step.step, step.status.value) for step in report.steps] == [
            ("mail", "irreversible"),
            ("charge", expected),
        ]
        assert report.with_status(UndoStatus.IRREVERSIBLE)[0].known == {"to": "li@example.com"}
        assert report.complete
    with pytest.raises(StepClosed):
        world.run("mail")


def test_a_step_without_a_compensation_has_nothing_to_undo_and_replays_on(world: World) -> None:
    world.run("read", compensation=None)
    assert world.unwind() == [("read", "nothing_to_undo")]
    assert world.run("read").replayed


def test_a_failed_step_that_never_took_effect_is_closed_without_an_undo(world: World) -> None:
    with pytest.raises(Refused):
        world.run("A", raises=Refused)
    assert world.unwind() == [("A", "nothing_to_undo")]
    assert world.undid == []
    with pytest.raises(StepClosed):
        world.run("A")


def test_a_keyed_step_that_timed_out_is_undone_first_with_its_outcome_marked_unknown(world: World) -> None:
    """Charged, shipment timed out: the shipment may exist on the other side."""
    world.run("charge")
    with pytest.raises(Boom):
        world.run("ship", raises=Boom)
    seen: list[tuple[str, str, Any, str]] = []

    def undo(context: CompensationContext) -> None:
        seen.append((context.step, context.outcome, context.result, context.forward_key))

    world.ledger.saga(world.task, WV).compensate({"undo": undo})
    assert [entry[:3] for entry in seen] == [("ship", "unknown", None), ("charge", "done", {"made": "charge"})]
    forward = {row.step: row.side_effect_id for row in world.ledger.rows(world.task) if row.direction == "forward"}
    assert [entry[3] for entry in seen] == [forward["ship"], forward["charge"]]


def test_the_compensation_has_a_key_of_its_own_the_same_for_every_attempt(world: World) -> None:
    world.run("A")
    keys: list[tuple[str, str, int]] = []

    def undo(context: CompensationContext) -> None:
        keys.append((context.idempotency_key, context.forward_key, context.attempt))
        if context.attempt == 1:
            raise Boom

    saga = world.ledger.saga(world.task, WV)
    with pytest.raises(CompensationFailed):
        saga.compensate({"undo": undo})
    saga.compensate({"undo": undo})
    assert keys[0][0] == keys[1][0] != keys[0][1]
    assert [entry[2] for entry in keys] == [1, 2]


@pytest.mark.parametrize("kind", [EffectKind.PROBED, EffectKind.UNDECLARED])
def test_an_uncertain_step_stops_the_unwind_until_it_is_settled(world: World, kind: EffectKind) -> None:
    def boom(context: StepContext) -> Any:
        raise Boom

    world.run("A")
    request = StepRequest(world.task, WV, "B", 1, kind=kind, compensation=Compensation("undo", {}))
    with pytest.raises((Boom, OutcomeUncertain)):
        world.ledger.run(request, boom, probe=lambda context: Probe.not_applied())
    with pytest.raises(CompensationFailed) as caught:
        world.unwind()
    assert isinstance(caught.value.error, OutcomeUncertain)
    assert statuses(caught.value) == [("B", "uncertain"), ("A", "not_reached")]
    world.ledger.resolve(world.task, WV, "B", applied=True, result=1, by="li", reason="it is there")
    assert world.unwind() == [("B", "compensated"), ("A", "compensated")]


def test_a_running_step_is_waited_for_and_not_undone(wire: DirectWire, clock: TurnableClock, task: str) -> None:
    world = World(ledger_over(wire, clock, busy_wait_seconds=0), task)
    with pytest.raises(Crash):
        world.run("A", raises=Crash)
    with pytest.raises(StepBusy):
        world.unwind()
    clock.sleep(31)
    assert world.unwind() == [("A", "compensated")]
    with pytest.raises(StepClosed):
        world.run("A")


def test_a_crashed_compensation_is_taken_over(world: World, clock: TurnableClock) -> None:
    world.run("A")
    saga = world.ledger.saga(world.task, WV)

    def die(context: CompensationContext) -> None:
        raise Crash

    with pytest.raises(Crash):
        saga.compensate({"undo": die})
    assert world.unwind() == [("A", "compensated")]
    assert world.undid == ["A"]


def test_an_undeclared_compensation_that_raised_is_uncertain_and_not_repeated(world: World) -> None:
    world.run("A", compensation=Compensation("undo", {}, kind=EffectKind.UNDECLARED))
    world.broken = {"A"}
    for _ in range(2):
        with pytest.raises(CompensationFailed) as caught:
            world.unwind()
        assert isinstance(caught.value.error, OutcomeUncertain)
    world.broken = set()
    saga_side = {"by": "li", "reason": "seen", "direction": Direction.COMPENSATE}
    world.ledger.resolve(world.task, WV, "A", applied=True, **saga_side)
    assert world.unwind() == [("A", "skipped_repeat")]
    assert world.undid == []


def test_a_probed_compensation_asks_before_its_second_try(world: World) -> None:
    world.run("A", compensation=Compensation("undo", {}, kind=EffectKind.PROBED))
    with pytest.raises(ProbeMissing):
        world.unwind()
    world.broken = {"A"}
    probes = {"undo": lambda context: Probe.applied("refund-1")}
    with pytest.raises(CompensationFailed):
        world.unwind(probes=probes)
    assert world.unwind(probes=probes) == [("A", "compensated")]
    assert world.undid == []
    assert world.ledger.stored_result(world.task, WV, "A", Direction.COMPENSATE) == "refund-1"


def test_going_back_to_a_savepoint_undoes_only_what_completed_after_it(world: World) -> None:
    for step in ("A", "B", "C", "D"):
        world.run(step)
    assert world.unwind(back_to="B") == [("D", "compensated"), ("C", "compensated")]
    assert world.run("B").replayed
    world.run("C@2")
    assert world.unwind() == [
        ("C@2", "compensated"),
        ("D", "skipped_repeat"),
        ("C", "skipped_repeat"),
        ("B", "compensated"),
        ("A", "compensated"),
    ]


def test_a_savepoint_that_never_completed_is_refused(world: World) -> None:
    world.run("A")
    with pytest.raises(UnknownSavepoint) as caught:
        world.unwind(back_to="Z")
    assert caught.value.step == "Z"
    assert world.undid == []


def test_one_step_or_some_can_be_undone(world: World) -> None:
    for step in ("A", "B", "C"):
        world.run(step)
    assert world.unwind(steps=["B"]) == [("B", "compensated")]
    assert world.unwind(steps=("A", "C", "A")) == [("C", "compensated"), ("A", "compensated")]


def test_an_unknown_compensation_name_is_found_before_anything_is_undone(world: World) -> None:
    world.run("A", compensation=Compensation("other"))
    world.run("B")
    with pytest.raises(UnknownCompensation) as caught:
        world.unwind()
    assert (caught.value.name, caught.value.step, caught.value.known) == ("other", "A", ("undo",))
    assert world.undid == []


def test_names_of_steps_that_need_no_action_do_not_matter(world: World) -> None:
    with pytest.raises(Refused):
        world.run("A", raises=Refused, compensation=Compensation("gone"))
    assert world.unwind() == [("A", "nothing_to_undo")]


def test_other_tasks_and_other_workflow_versions_are_left_alone(world: World, ledger: Ledger) -> None:
    world.run("A")
    other = World(ledger, world.task + "x")
    other.run("A")
    ledger.run(
        StepRequest(world.task, "flow-10", "A", 1, kind=EffectKind.LOCAL, compensation=Compensation("undo", {})),
        lambda context: 1,
    )
    assert world.unwind() == [("A", "compensated")]
    assert other.run("A").replayed


def test_nested_sagas_unwind_inside_out(ledger: Ledger, task: str) -> None:
    outer, inner = World(ledger, task), World(ledger, f"{task}/inner")
    outer.run("reserve")
    for step in ("charge", "points"):
        inner.run(step)
    outer.run("pay", compensation=Compensation("undo_pay", {"task": inner.task}))
    outer.run("ship")
    inner.broken = {"charge"}

    def undo_pay(context: CompensationContext) -> Any:
        assert isinstance(context.arguments, dict)
        inner.unwind()

    actions = {"undo": outer.undo, "undo_pay": undo_pay}
    with pytest.raises(CompensationFailed) as caught:
        ledger.saga(task, WV).compensate(actions)
    assert isinstance(caught.value.error, CompensationFailed)
    assert (outer.undid, inner.undid) == (["ship"], ["points"])
    inner.broken = set()
    ledger.saga(task, WV).compensate(actions)
    assert (outer.undid, inner.undid) == (["ship", "reserve"], ["points", "charge"])


def test_c38_a_saga_that_is_retried_replays_its_finished_steps(world: World) -> None:
    world.run("A")
    for _ in range(3):
        assert world.run("A").value == {"made": "A"}
        with pytest.raises(Refused):
            world.run("B", raises=Refused)
    assert world.did == ["A", "B", "B", "B"]
    for _ in range(2):
        world.unwind()
    assert world.undid == ["A"]


def test_an_empty_task_has_nothing_to_unwind(world: World) -> None:
    assert world.unwind() == []


def test_a_saga_checks_its_keys(ledger: Ledger) -> None:
    with pytest.raises(InvalidKey):
        ledger.saga("", WV)
    with pytest.raises(InvalidKey):
        ledger.saga("t", "")
