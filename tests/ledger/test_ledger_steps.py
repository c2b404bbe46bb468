"""Running steps over the real SDK: claims, replays, exceptions, take-overs, late workers."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from ledger_kit import WV, Crash, DirectWire, Faults, Outside, TurnableClock, ledger_over

from ledger import (
    ClaimLost,
    Compensation,
    EffectKind,
    FingerprintDiffers,
    InvalidKey,
    Ledger,
    NotJson,
    NotUncertain,
    OutcomeUncertain,
    Probe,
    ProbeMissing,
    StepBusy,
    StepContext,
    StepRequest,
    TooLarge,
)
from ledger.keys import step_key
from ledger.protocol import Replay
from ledger.records import decode_step
from ledger.writes import complete

KEYED = [EffectKind.IDEMPOTENT, EffectKind.LOCAL]


def request(task: str, step: str = "A", kind: EffectKind = EffectKind.IDEMPOTENT, **more: Any) -> StepRequest:
    return StepRequest(task, WV, step, more.pop("input", {"x": 1}), kind=kind, **more)


def never(_: StepContext) -> Any:
    raise AssertionError("the effect must not run")


def state_of(ledger: Ledger, task: str) -> list[str]:
    return [f"{row.step}:{row.state}" for row in ledger.rows(task)]


class Boom(Exception):
    pass


class Refused(Exception):
    effect_applied = False


def test_a_fresh_step_costs_two_writes_and_no_read(ledger: Ledger, wire: DirectWire, task: str) -> None:
    ledger.rows(task)
    wire.requests.clear()
    ledger.run(request(task, compensation=Compensation("undo", {"id": 1})), lambda context: 7)
    assert wire.requests == ["PutRow", "UpdateRow"]


def test_a_repeat_costs_two_requests_or_one_when_it_is_declared_likely(
    ledger: Ledger, wire: DirectWire, task: str
) -> None:
    ledger.run(request(task), lambda context: 7)
    wire.requests.clear()
    ledger.run(request(task), never)
    assert wire.requests == ["PutRow", "GetRow"]
    wire.requests.clear()
    assert ledger.run(request(task, read_first=True), never).value == 7
    assert wire.requests == ["GetRow"]


@pytest.mark.parametrize("value", [None, False, 0, "", {}, [], {"中文": ["☃", 1.5]}])
def test_c34_every_json_value_is_a_result(ledger: Ledger, task: str, value: Any) -> None:
    first = ledger.run(request(task), lambda context: value)
    again = ledger.run(request(task), never)
    assert (first.value, first.replayed) == (value, False)
    assert (again.value, again.replayed, again.attempt, again.epoch) == (value, True, 1, 1)


def test_c33_completion_keeps_what_the_claim_wrote(ledger: Ledger, wire: DirectWire, task: str) -> None:
    ledger.run(request(task, compensation=Compensation("undo", {"id": 1})), lambda context: 7)
    other_process = ledger_over(wire, TurnableClock())
    assert other_process.run(request(task), never).value == 7
    assert other_process.rows(task)[0].compensation == "undo"


def test_c32_the_same_key_with_another_input_is_a_conflict(ledger: Ledger, task: str) -> None:
    ledger.run(request(task, input={"lines": [1]}), lambda context: 7)
    with pytest.raises(FingerprintDiffers) as caught:
        ledger.run(request(task, input={"lines": [2]}), never)
    assert caught.value.step == "A"
    assert caught.value.recorded != caught.value.given


def test_c31_declared_fields_do_not_make_it_another_input(ledger: Ledger, task: str) -> None:
    ledger.run(request(task, input={"order": 1, "attempt": 1}, ignore=("attempt",)), lambda context: 7)
    assert ledger.run(request(task, input={"order": 1, "attempt": 2}, ignore=("attempt",)), never).value == 7


def test_the_key_is_the_whole_identity(ledger: Ledger, task: str) -> None:
    for step in ("A", "A@2", "A/x", "步骤"):
        assert ledger.run(request(task, step), lambda context: context.step).value == step
    other_version = StepRequest(task, "flow-2/x", "A", {"x": 1})
    assert ledger.run(other_version, lambda context: "other").value == "other"
    assert len({row.side_effect_id for row in ledger.rows(task)}) == 5


def test_the_idempotency_key_is_the_same_for_all_attempts(ledger: Ledger, task: str) -> None:
    seen: list[tuple[int, int, str]] = []

    def effect(context: StepContext) -> int:
        seen.append((context.attempt, context.epoch, context.idempotency_key))
        if context.attempt < 3:
            raise Boom
        return 1

    for _ in range(2):
        with pytest.raises(Boom):
            ledger.run(request(task), effect)
    assert ledger.run(request(task), effect).attempt == 3
    assert [entry[:2] for entry in seen] == [(1, 1), (2, 2), (3, 3)]
    assert len({entry[2] for entry in seen}) == 1
    assert [change.to_status for change in ledger.transitions(task)] == [
        "claimed",
        "failed",
        "claimed",
        "failed",
        "claimed",
        "done",
    ]


@pytest.mark.parametrize("kind", list(EffectKind))
def test_an_effect_that_certainly_did_not_happen_may_run_again(ledger: Ledger, task: str, kind: EffectKind) -> None:
    def refuse(context: StepContext) -> Any:
        raise Refused("no")

    probe = lambda context: Probe.cannot_tell("must not be asked")  # noqa: E731
    with pytest.raises(Refused):
        ledger.run(request(task, kind=kind), refuse, probe=probe)
    assert state_of(ledger, task) == ["A:failed"]
    assert ledger.run(request(task, kind=kind), lambda context: 5, probe=probe).value == 5


def test_an_undeclared_effect_that_raised_is_never_run_again(ledger: Ledger, task: str) -> None:
    def boom(context: StepContext) -> Any:
        raise Boom("line dropped")

    with pytest.raises(OutcomeUncertain) as caught:
        ledger.run(request(task, kind=EffectKind.UNDECLARED), boom)
    assert isinstance(caught.value.__cause__, Boom)
    with pytest.raises(OutcomeUncertain, match="line dropped") as again:
        ledger.run(request(task, kind=EffectKind.UNDECLARED), never)
    assert again.value.key == ledger.rows(task)[0].side_effect_id


PROBES = [
    (Probe.applied({"id": 9}), {"id": 9}, 1, True),
    (Probe.applied(None), None, 1, True),
    (Probe.not_applied(), "second", 2, False),
]


@pytest.mark.parametrize(("answer", "value", "calls", "replayed"), PROBES)
def test_a_probed_effect_is_asked_about_before_a_second_try(
    ledger: Ledger, task: str, answer: Probe, value: Any, calls: int, replayed: bool
) -> None:
    outside = Outside()

    def effect(context: StepContext) -> Any:
        outside.apply("call")
        if context.attempt == 1:
            raise Boom
        return "second"

    with pytest.raises(Boom):
        ledger.run(request(task, kind=EffectKind.PROBED), effect, probe=lambda context: answer)
    assert state_of(ledger, task) == ["A:uncertain"]
    result = ledger.run(request(task, kind=EffectKind.PROBED), effect, probe=lambda context: answer)
    assert (result.value, len(outside.calls), result.replayed) == (value, calls, replayed)


def test_a_probe_that_cannot_tell_sends_it_to_a_person(ledger: Ledger, task: str) -> None:
    def boom(context: StepContext) -> Any:
        raise Boom

    probe = lambda context: Probe.cannot_tell("no search there")  # noqa: E731
    with pytest.raises(Boom):
        ledger.run(request(task, kind=EffectKind.PROBED), boom, probe=probe)
    for _ in range(2):
        with pytest.raises(OutcomeUncertain, match="no search there"):
            ledger.run(request(task, kind=EffectKind.PROBED), never, probe=probe)


def test_a_probe_that_raises_leaves_the_question_open(ledger: Ledger, task: str) -> None:
    def boom(context: StepContext) -> Any:
        raise Boom

    for _ in range(3):
        with pytest.raises(Boom):
            ledger.run(request(task, kind=EffectKind.PROBED), boom, probe=boom)
    probe = lambda context: Probe.applied("found")  # noqa: E731
    assert ledger.run(request(task, kind=EffectKind.PROBED), never, probe=probe).value == "found"


def test_a_probed_step_needs_a_probe(ledger: Ledger, task: str) -> None:
    with pytest.raises(ProbeMissing):
        ledger.run(request(task, kind=EffectKind.PROBED), never)


def looped() -> dict[str, Any]:
    value: dict[str, Any] = {"x": []}
    value["x"].append(value)
    return value


@pytest.mark.parametrize("result", [float("nan"), {1, 2}, b"x", looped()], ids=["nan", "set", "bytes", "cycle"])
def test_a_result_that_is_not_json_counts_as_an_effect_that_raised(ledger: Ledger, task: str, result: Any) -> None:
    with pytest.raises(NotJson):
        ledger.run(request(task), lambda context: result)
    assert state_of(ledger, task) == ["A:failed"]
    with pytest.raises(OutcomeUncertain):
        ledger.run(request(task, "B", EffectKind.UNDECLARED), lambda context: result)


def test_a_doubt_stays_until_a_result_or_a_probe_clears_it(ledger: Ledger, wire: DirectWire, task: str) -> None:
    def effect(context: StepContext) -> Any:
        raise Boom if context.attempt == 1 else Refused

    for error in (Boom, Refused):
        with pytest.raises(error):
            ledger.run(request(task), effect)
    with pytest.raises(OutcomeUncertain):
        ledger.run(request(task, kind=EffectKind.UNDECLARED), never)


@pytest.mark.parametrize("kind", KEYED)
def test_c25_a_crashed_claim_is_taken_over_after_its_deadline(
    wire: DirectWire, clock: TurnableClock, task: str, kind: EffectKind
) -> None:
    def die(context: StepContext) -> Any:
        raise Crash

    ledger = ledger_over(wire, clock, busy_wait_seconds=0)
    with pytest.raises(Crash):
        ledger.run(request(task, kind=kind), die)
    with pytest.raises(StepBusy) as busy:
        ledger.run(request(task, kind=kind), never)
    assert busy.value.until_ms == clock.now_ms() + 30_000
    clock.sleep(30)
    result = ledger.run(request(task, kind=kind), lambda context: "again")
    assert (result.value, result.attempt, result.epoch) == ("again", 2, 2)


def test_a_call_waits_for_a_crashed_claim_and_takes_it_over_by_itself(
    ledger: Ledger, clock: TurnableClock, task: str
) -> None:
    def die(context: StepContext) -> Any:
        raise Crash

    for kind, value in ((EffectKind.IDEMPOTENT, "again"), (EffectKind.PROBED, "found")):
        with pytest.raises(Crash):
            ledger.run(request(task, kind.value, kind), die, probe=lambda context: Probe.not_applied())
        before = clock.monotonic()
        result = ledger.run(
            request(task, kind.value, kind), lambda context: "again", probe=lambda context: Probe.applied("found")
        )
        assert result.value == value
        assert 29 <= clock.monotonic() - before <= 35


def test_a_crashed_undeclared_claim_becomes_uncertain(ledger: Ledger, task: str) -> None:
    def die(context: StepContext) -> Any:
        raise Crash

    with pytest.raises(Crash):
        ledger.run(request(task, kind=EffectKind.UNDECLARED), die)
    with pytest.raises(OutcomeUncertain, match="vanished"):
        ledger.run(request(task, kind=EffectKind.UNDECLARED), never)
    assert state_of(ledger, task) == ["A:uncertain"]


@pytest.mark.parametrize("ending", ["result", "exception", "refusal"])
def test_c27_a_late_worker_can_neither_complete_nor_fail_and_learns_so(
    wire: DirectWire, clock: TurnableClock, task: str, ending: str
) -> None:
    slow, quick = (ledger_over(wire, clock) for _ in range(2))
    seen: list[str] = []

    def slow_effect(context: StepContext) -> Any:
        clock.sleep(31)
        seen.append(quick.run(request(task), lambda context: "owner").value)  # type: ignore[arg-type]
        with pytest.raises(ClaimLost):
            context.compensation(Compensation("late"))
        with pytest.raises(ClaimLost):
            context.check()
        if ending == "result":
            return "late"
        raise Boom if ending == "exception" else Refused

    with pytest.raises(ClaimLost) as caught:
        slow.run(request(task), slow_effect)
    assert caught.value.reason == "taken_over"
    assert slow.run(request(task), never).value == "owner"
    assert state_of(slow, task) == ["A:done"]
    assert seen == ["owner"]


def test_c28_completion_is_refused_without_and_with_a_wrong_token_and_repeats_quietly(
    ledger: Ledger, task: str
) -> None:
    runner, claims = ledger._runner, ledger._claims
    granted = claims.acquire(runner.intent(request(task), has_probe=False))
    assert not isinstance(granted, Replay)
    grant, settle = granted.claim.grant, ledger._store.settle  # type: ignore[union-attr]
    write = complete(grant, {"result": "1"}, claims.moment())
    tokenless = type(write)(write.row, write.columns, {**(write.expect or {}), "token": ""}, write.proof)
    wrong = type(write)(write.row, write.columns, {**(write.expect or {}), "token": "other"}, write.proof)
    assert [settle(tokenless).won, settle(wrong).won] == [False, False]
    assert [settle(write).won, settle(write).won] == [True, True]
    other = step_key(task, WV, "never claimed").row
    assert not settle(type(write)(other, write.columns, write.expect, write.proof)).won
    assert ledger.run(request(task, "never claimed"), lambda context: 1).value == 1


def test_c36_eight_threads_claim_one_step_and_one_runs_it(wire: DirectWire, task: str) -> None:
    outside, barrier = Outside(), threading.Barrier(8)
    results: list[Any] = []

    def work() -> None:
        ledger = ledger_over(wire, _RealTime())
        barrier.wait()
        results.append(ledger.run(request(task), lambda context: outside.apply("x") or "won").value)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (results, outside.effects) == (["won"] * 8, ["x"])


class _RealTime:
    def __init__(self) -> None:
        from ledger import RealClock

        self.now_ms, self.monotonic, self.sleep = RealClock().now_ms, RealClock().monotonic, RealClock().sleep


def test_c36_the_winner_whose_reply_is_lost_reads_its_own_token(
    wire: DirectWire, clock: TurnableClock, task: str
) -> None:
    for number, fault in enumerate(("drop_after", "busy_after", "conflict_after")):
        faults = Faults(wire, lambda count, url, fault=fault: fault if url != "/GetRow" else None)  # type: ignore[misc]
        ledger = ledger_over(faults, clock)
        assert ledger.run(request(task, f"S{number}"), lambda context: "mine").value == "mine"
        assert [line.split()[0] for line in faults.log] == ["/GetRow", "/PutRow", "/GetRow", "/UpdateRow", "/GetRow"]


def test_results_over_the_inline_limit_need_room_and_say_so(ledger: Ledger, task: str) -> None:
    assert ledger.run(request(task), lambda context: "x" * 100_000).value == "x" * 100_000
    with pytest.raises(TooLarge) as caught:
        ledger.run(request(task, "B"), lambda context: "x" * 2_000_000)
    assert (caught.value.size, caught.value.limit) == (2_000_002, 1_048_576)


@pytest.mark.parametrize(
    ("part", "value", "problem"),
    [
        ("task_id", "", "empty"),
        ("task_id", "  ", "empty"),
        ("step", "", "empty"),
        ("workflow_version", "", "empty"),
        ("task_id", "x" * 1025, "1025 bytes"),
        ("step", "步" * 342, "bytes"),
        ("step", "s" * 1020, "bytes"),
        ("task_id", "stepkeeper:x", "ledger's own"),
        ("task_id", "a\0b", "NUL"),
        ("step", "\ud800", "surrogate"),
        ("task_id", 7, "int, not text"),
    ],
)
def test_keys_are_checked_at_the_door(ledger: Ledger, part: str, value: Any, problem: str) -> None:
    parts = {"task_id": "t", "workflow_version": WV, "step": "A", part: value}
    with pytest.raises(InvalidKey, match=problem) as caught:
        ledger.run(StepRequest(**parts), never)
    assert caught.value.name == part


def test_an_input_that_is_not_json_is_refused_before_anything_is_written(
    ledger: Ledger, wire: DirectWire, task: str
) -> None:
    ledger.rows(task)
    wire.requests.clear()
    with pytest.raises(NotJson):
        ledger.run(request(task, input={"x": float("nan")}), never)
    with pytest.raises(NotJson, match="contains itself"):
        ledger.run(request(task, input=looped()), never)
    with pytest.raises(NotJson, match="contains itself"):
        ledger.run(request(task, compensation=Compensation("u", looped())), never)
    with pytest.raises(NotJson):
        ledger.run(request(task, compensation=Compensation("u", {1, 2})), never)  # type: ignore[arg-type]
    with pytest.raises(TooLarge, match="the compensation"):
        ledger.run(request(task, compensation=Compensation("u", "x" * 70_000)), never)
    assert wire.requests == []


def test_the_compensation_is_recorded_before_the_effect_and_can_be_completed_in_it(
    ledger: Ledger, wire: DirectWire, task: str
) -> None:
    recorded: list[Any] = []

    def effect(context: StepContext) -> Any:
        def look() -> Any:
            row = ledger._store.read(step_key(task, WV, "A").row)
            assert row is not None
            return decode_step(row).compensation

        recorded.append(look())
        context.compensation(Compensation("undo", {"order": 1, "charge": 2}))
        recorded.append(look())
        return 1

    ledger.run(request(task, compensation=Compensation("undo", {"order": 1})), effect)
    assert recorded == [Compensation("undo", {"order": 1}), Compensation("undo", {"order": 1, "charge": 2})]


@pytest.mark.parametrize(("applied", "expected"), [(True, "settled"), (False, "ran")])
def test_a_person_settles_an_uncertain_step(ledger: Ledger, task: str, applied: bool, expected: str) -> None:
    def boom(context: StepContext) -> Any:
        raise Boom

    with pytest.raises(OutcomeUncertain):
        ledger.run(request(task, kind=EffectKind.UNDECLARED), boom)
    ledger.resolve(task, WV, "A", applied=applied, result="settled", by="li", reason="asked the bank")
    assert ledger.run(request(task, kind=EffectKind.UNDECLARED), lambda context: "ran").value == expected
    change = next(change for change in ledger.transitions(task) if change.by)
    assert (change.by, change.reason, change.from_status) == ("li", "asked the bank", "uncertain")


def test_resolving_what_is_not_uncertain_is_refused(wire: DirectWire, clock: TurnableClock, task: str) -> None:
    ledger = ledger_over(wire, clock, busy_wait_seconds=0)
    with pytest.raises(NotUncertain, match="not recorded"):
        ledger.resolve(task, WV, "A", applied=True, by="li", reason="x")
    with pytest.raises(Crash):
        ledger.run(request(task), lambda context: (_ for _ in ()).throw(Crash()))
    with pytest.raises(StepBusy):
        ledger.resolve(task, WV, "A", applied=True, by="li", reason="x")
    clock.sleep(31)
    ledger.resolve(task, WV, "A", applied=True, result=3, by="li", reason="saw it")
    assert ledger.run(request(task), never).value == 3
    with pytest.raises(NotUncertain, match="done"):
        ledger.resolve(task, WV, "A", applied=True, by="li", reason="x")


def test_a_person_can_settle_a_vanished_undeclared_step_after_one_lease_of_watching(
    ledger: Ledger, clock: TurnableClock, task: str
) -> None:
    with pytest.raises(Crash):
        ledger.run(request(task, kind=EffectKind.UNDECLARED), lambda context: (_ for _ in ()).throw(Crash()))
    before = clock.monotonic()
    ledger.resolve(task, WV, "A", applied=True, result=3, by="li", reason="saw it")
    assert 30 <= clock.monotonic() - before <= 35
    assert ledger.run(request(task, kind=EffectKind.UNDECLARED), never).value == 3


def test_a_zero_lease_has_run_out_and_is_not_no_lease(ledger: Ledger, task: str) -> None:
    """Public fault 2 of the reference page: test for None, not for truth."""
    with pytest.raises(Crash):
        ledger.run(request(task, lease_seconds=0), lambda context: (_ for _ in ()).throw(Crash()))
    assert ledger.run(request(task), lambda context: "again").value == "again"


def test_the_stored_result_can_be_looked_up_without_running(ledger: Ledger, task: str) -> None:
    with pytest.raises(LookupError):
        ledger.stored_result(task, WV, "A")
    ledger.run(request(task), lambda context: {"v": 1})
    assert ledger.stored_result(task, WV, "A") == {"v": 1}


def test_rows_are_in_the_order_of_first_claim_and_summarise(ledger: Ledger, task: str) -> None:
    for step in ("z", "a", "m"):
        ledger.run(request(task, step), lambda context: {"text": "y" * 500})
    rows = ledger.rows(task)
    assert [row.step for row in rows] == ["z", "a", "m"]
    assert len(rows[0].result_summary) == 120
    assert json.dumps(rows[0].result_summary).startswith('"{')


def test_no_wall_clock_is_read_outside_the_clock_module() -> None:
    root = Path(__file__).resolve().parents[2] / "ledger"
    readers = [path.name for path in root.glob("*.py") if "time.time" in path.read_text()]
    assert readers == ["clock.py"]
