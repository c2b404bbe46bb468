"""A task that moves to another workflow version takes its finished steps along; each stays done once."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from typing import Any

import pytest
import typer
from ledger_kit import WV, Crash, DirectWire, Faults, Outside, TurnableClock, ledger_over
from typer.testing import CliRunner

from ledger import (
    CarryRefused,
    Compensation,
    CompensationContext,
    EffectKind,
    FingerprintDiffers,
    InvalidKey,
    Ledger,
    StepClosed,
    StepContext,
    StepRequest,
    Versions,
)
from scripts import migrate

NEXT = "flow-2"
PINS = Versions(WV, "f", "p", "i")


def never(context: object) -> Any:
    raise AssertionError("a carried step ran again")


def request(task: str, step: str, version: str = WV, **more: Any) -> StepRequest:
    given = {"input": {"of": step}, "kind": EffectKind.IDEMPOTENT, "compensation": Compensation("undo", {"of": step})}
    return StepRequest(task, version, step, **{**given, **more})


def paid(ledger: Ledger, task: str, outside: Outside, *steps: str) -> None:
    for step in steps:
        ledger.run(request(task, step), lambda context, step=step: outside.apply(step, context.idempotency_key, step))


def states(ledger: Ledger, task: str) -> dict[tuple[str, str], str]:
    return {(row.workflow_version, row.step): row.state for row in ledger.rows(task) if row.direction == "forward"}


def unwind(ledger: Ledger, task: str, version: str) -> list[tuple[str, str, Any]]:
    seen: list[tuple[str, str, Any]] = []

    def undo(context: CompensationContext) -> None:
        seen.append((context.step, context.forward_key, context.result))

    ledger.saga(task, version).compensate({"undo": undo})
    return seen


def test_a_carried_step_replays_under_the_new_version_and_is_closed_under_the_old(ledger: Ledger, task: str) -> None:
    outside = Outside()
    paid(ledger, task, outside, "A", "B")
    plan = ledger.carry(task, WV, NEXT, "new flow", by="li")
    assert (plan.valid, plan.rerun) == (("A", "B"), ())
    for step in ("A", "B"):
        again = ledger.run(request(task, step, NEXT), never)
        assert (again.value, again.replayed) == (step, True)
        with pytest.raises(StepClosed, match="carried"):
            ledger.run(request(task, step), never)
    with pytest.raises(FingerprintDiffers):
        ledger.run(request(task, "A", NEXT, input={"of": "another"}), never)
    assert outside.effects == ["A", "B"]
    assert states(ledger, task) == {(v, s): "carried" if v == WV else "done" for v in (WV, NEXT) for s in "AB"}


def test_the_move_says_who_and_why_in_both_rows(ledger: Ledger, task: str) -> None:
    paid(ledger, task, Outside(), "A")
    ledger.carry(task, WV, NEXT, "new flow", by="li")
    noted = [(c.workflow_version, c.to_status, c.by, c.reason) for c in ledger.transitions(task) if c.by]
    assert noted == [(WV, "carried", "li", "new flow"), (NEXT, "done", "li", "new flow")]


def test_it_is_undone_once_in_order_with_the_keys_its_effect_had(ledger: Ledger, task: str) -> None:
    paid(ledger, task, Outside(), "A", "B", "C")
    before = {row.step: row.side_effect_id for row in ledger.rows(task)}
    ledger.carry(task, WV, NEXT, "new flow")
    assert unwind(ledger, task, WV) == []
    assert unwind(ledger, task, NEXT) == [(step, before[step], step) for step in "CBA"]
    assert unwind(ledger, task, NEXT) == []
    assert {row.side_effect_id for row in ledger.rows(task) if row.direction == "forward"} == set(before.values())


def test_carrying_costs_two_writes_a_step_and_a_repeat_none(ledger: Ledger, wire: DirectWire, task: str) -> None:
    paid(ledger, task, Outside(), "A", "B")
    wire.requests.clear()
    ledger.carry(task, WV, NEXT, "new flow")
    assert [name for name in wire.requests if name != "GetRange"] == ["UpdateRow", "PutRow"] * 2
    wire.requests.clear()
    assert ledger.carry(task, WV, NEXT, "new flow").valid == ("A", "B")
    assert set(wire.requests) == {"GetRange"}


def test_a_step_can_come_back(ledger: Ledger, task: str) -> None:
    paid(ledger, task, Outside(), "A")
    key = ledger.rows(task)[0].side_effect_id
    ledger.carry(task, WV, NEXT, "new flow")
    ledger.carry(task, NEXT, WV, "it was wrong")
    assert states(ledger, task) == {(WV, "A"): "done", (NEXT, "A"): "carried"}
    assert ledger.run(request(task, "A"), never).replayed
    assert unwind(ledger, task, WV) == [("A", key, "A")]


@pytest.mark.parametrize("at", range(12))
@pytest.mark.parametrize("when", ["crash_before", "crash_after"])
def test_stopped_at_any_request_a_repeat_finishes_it(wire: DirectWire, task: str, at: int, when: str) -> None:
    clock, outside = TurnableClock(), Outside()
    paid(ledger_over(wire, clock), task, outside, "A", "B")
    stopped = ledger_over(Faults(wire, lambda count, url: when if count == at else None, clock), clock)
    with contextlib.suppress(Crash):
        stopped.carry(task, WV, NEXT, "new flow")
    ledger = ledger_over(wire, clock)
    assert list(states(ledger, task).values()).count("done") <= 2
    ledger.carry(task, WV, NEXT, "new flow")
    assert [ledger.run(request(task, step, NEXT), never).value for step in "AB"] == ["A", "B"]
    assert [step for step, _, _ in unwind(ledger, task, NEXT)] == ["B", "A"]
    assert unwind(ledger, task, WV) == []


class Broken(Exception):
    pass


class Refused(Exception):
    effect_applied = False


def raising(error: type[BaseException]) -> Any:
    def effect(context: StepContext) -> Any:
        raise error

    return effect


@pytest.mark.parametrize("error", [Broken, Crash])
def test_a_step_in_doubt_is_in_the_way_of_all(ledger: Ledger, task: str, error: type[BaseException]) -> None:
    paid(ledger, task, Outside(), "A")
    with pytest.raises(error):
        ledger.run(request(task, "B"), raising(error))
    with pytest.raises(CarryRefused, match="B: it may have taken effect") as caught:
        ledger.carry(task, WV, NEXT, "new flow")
    assert list(caught.value.blocked) == ["B"]
    assert states(ledger, task)[WV, "A"] == "done"


def test_a_step_that_certainly_did_nothing_runs_again(ledger: Ledger, task: str) -> None:
    with pytest.raises(Refused):
        ledger.run(request(task, "A"), raising(Refused))
    assert ledger.carry(task, WV, NEXT, "new flow").rerun == ("A",)
    assert ledger.run(request(task, "A", NEXT), lambda context: 1).replayed is False


def test_a_task_that_is_being_undone_stays(ledger: Ledger, task: str) -> None:
    paid(ledger, task, Outside(), "A")
    unwind(ledger, task, WV)
    with pytest.raises(CarryRefused, match="being undone"):
        ledger.carry(task, WV, NEXT, "new flow")


@pytest.mark.parametrize(("given", "problem"), [({"of": "A"}, "done under the new"), ({"of": "B"}, "another input")])
def test_a_row_under_the_new_version_is_in_the_way(ledger: Ledger, task: str, given: Any, problem: str) -> None:
    paid(ledger, task, Outside(), "A")
    ledger.run(request(task, "A", NEXT, input=given), lambda context: 2)
    with pytest.raises(CarryRefused, match=problem):
        ledger.carry(task, WV, NEXT, "new flow")
    assert states(ledger, task) == {(WV, "A"): "done", (NEXT, "A"): "done"}


def test_it_needs_a_reason_and_versions(ledger: Ledger, task: str) -> None:
    for arguments in ((WV, NEXT, ""), ("", NEXT, "x"), (WV, "", "x")):
        with pytest.raises(InvalidKey):
            ledger.carry(task, *arguments)
    assert ledger.carry(task, WV, WV, "x").valid == ()


@pytest.fixture
def command(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(Ledger, "open", classmethod(lambda cls: ledger))
    app = typer.Typer()
    app.command()(migrate.main)
    return lambda *arguments: CliRunner().invoke(app, [*arguments, "--carry", "--reason", "new flow", "--json"])


def begun(ledger: Ledger, task: str) -> None:
    ledger.begin(task, PINS)
    result = {"task": {"name": "n", "versions": asdict(PINS)}}
    ledger.run(request(task, "First"), lambda context: result)


def test_the_command_carries_and_moves_the_pins_that_results_hand_on(ledger: Ledger, task: str, command: Any) -> None:
    begun(ledger, task)
    dry = command(task, "--to", f"workflow={NEXT}", "--dry-run")
    assert (json.loads(dry.stdout)["valid"], states(ledger, task)) == (["First"], {(WV, "First"): "done"})
    done = command(task, "--to", f"workflow={NEXT}", "--to", "prompt=q")
    assert (done.exit_code, json.loads(done.stdout)["outcome"]) == (0, "migrated")
    replayed = ledger.run(request(task, "First", NEXT, versions=Versions(NEXT, "f", "q", "i")), never)
    assert replayed.value == {"task": {"name": "n", "versions": asdict(Versions(NEXT, "f", "q", "i"))}}


def test_the_command_refuses_where_fingerprints_could_not_match(ledger: Ledger, task: str, command: Any) -> None:
    begun(ledger, task)
    refused = command(task, "--to", f"workflow={NEXT}", "--to", "input=j")
    assert refused.exit_code == 1
    assert "could not match" in json.loads(refused.stdout)["blocked"]["First"]
    assert ledger.task(task).versions == PINS  # type: ignore[union-attr]
    assert states(ledger, task) == {(WV, "First"): "done"}
