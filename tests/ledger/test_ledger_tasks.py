"""Pins, migrations, and finding tasks again over a window of time."""

from __future__ import annotations

from typing import Any

import pytest
from ledger_kit import START_MS, WV, Crash, DirectWire, Faults, TurnableClock, ledger_over

from ledger import EffectKind, InvalidKey, Ledger, StepRequest, TaskEntry, Versions, VersionsDiffer

PINS = Versions("7", "fn-3", "p-1", "in-9")


def run(ledger: Ledger, task: str, versions: Versions | None) -> Any:
    return ledger.run(StepRequest(task, WV, "A", 1, kind=EffectKind.LOCAL, versions=versions), lambda context: 1).value


def test_the_same_versions_again_are_quiet_and_others_are_refused(ledger: Ledger, task: str) -> None:
    assert ledger.begin(task, PINS) == PINS
    assert ledger.begin(task, PINS) == PINS
    with pytest.raises(VersionsDiffer) as caught:
        ledger.begin(task, Versions("8", "fn-3", "p-1", "in-9"))
    assert (caught.value.pinned, caught.value.given.workflow) == (PINS, "8")


def test_a_step_under_other_versions_is_refused(ledger: Ledger, wire: DirectWire, task: str) -> None:
    ledger.begin(task, PINS)
    for process in (ledger, ledger_over(wire, TurnableClock())):
        with pytest.raises(VersionsDiffer):
            run(process, task, Versions("7", "fn-4", "p-1", "in-9"))
        assert run(process, task, PINS) == 1


def test_what_is_not_pinned_matches_anything(ledger: Ledger, task: str) -> None:
    ledger.begin(task, Versions(workflow="7"))
    assert run(ledger, task, Versions("7", "any", "any", "any")) == 1
    with pytest.raises(VersionsDiffer):
        run(ledger, task, Versions("8"))


def test_versions_of_a_task_that_never_began_are_refused(ledger: Ledger, task: str) -> None:
    with pytest.raises(VersionsDiffer) as caught:
        run(ledger, task, PINS)
    assert caught.value.pinned is None


def test_checking_the_pins_costs_one_read_per_task_and_process(wire: DirectWire, task: str) -> None:
    ledger_over(wire, TurnableClock()).begin(task, PINS)
    fresh = ledger_over(wire, TurnableClock())
    fresh.rows(task)
    counts = []
    for _ in range(2):
        wire.requests.clear()
        run(fresh, task, PINS)
        counts.append(wire.requests.count("GetRow"))
    assert counts == [1, 1]  # the pins at first, the replayed row then
    wire.requests.clear()
    fresh.run(StepRequest(task, WV, "B", 1, kind=EffectKind.LOCAL, versions=PINS), lambda context: 1)
    assert wire.requests == ["PutRow", "UpdateRow"]


def test_a_migration_is_explicit_recorded_and_seen_by_other_processes(
    ledger: Ledger, wire: DirectWire, task: str
) -> None:
    new = Versions("8", "fn-4", "p-1", "in-9")
    other = ledger_over(wire, TurnableClock())
    ledger.begin(task, PINS)
    assert run(other, task, PINS) == 1
    assert ledger.repin(task, new, "hotfix", by="li") == new
    assert ledger.repin(task, new, "hotfix", by="li") == new
    assert run(other, task, new) == 1
    record = ledger.task(task)
    assert record is not None
    assert [(m.before, m.after, m.reason, m.by, m.revision) for m in record.migrations] == [
        (PINS, new, "hotfix", "li", 2)
    ]


def test_a_migration_needs_a_task_and_a_reason(ledger: Ledger, task: str) -> None:
    with pytest.raises(VersionsDiffer):
        ledger.repin(task, PINS, "x")
    ledger.begin(task, PINS)
    with pytest.raises(InvalidKey, match="reason"):
        ledger.repin(task, Versions("9"), "")


def test_a_lost_reply_to_a_migration_is_settled_by_its_own_mark(wire: DirectWire, task: str) -> None:
    ledger_over(wire, TurnableClock()).begin(task, PINS)
    faults = Faults(wire, lambda count, url: "drop_after" if url == "/UpdateRow" else None)
    ledger = ledger_over(faults, TurnableClock())
    ledger.repin(task, Versions("8"), "once")
    record = ledger.task(task)
    assert record is not None
    assert len(record.migrations) == 1


def test_tasks_are_found_over_a_window_across_days(wire: DirectWire, task: str) -> None:
    far = START_MS + 40 * 86_400_000  # a window of its own
    clock = TurnableClock(skew_ms=40 * 86_400_000)
    ledger = ledger_over(wire, clock)
    begun = []
    for number in range(6):
        ledger.begin(f"{task}-{number}", PINS)
        begun.append(TaskEntry(f"{task}-{number}", clock.now_ms()))
        clock.sleep(12 * 3600)
    found = sorted(ledger.tasks(far, far + 10 * 86_400_000), key=lambda entry: entry.begun_ms)
    assert found == begun
    assert list(ledger.tasks(far, far)) == []
    edge = list(ledger.tasks(begun[1].begun_ms, begun[3].begun_ms))
    assert sorted(entry.task_id for entry in edge) == [f"{task}-1", f"{task}-2"]


def test_a_crash_while_beginning_loses_no_task(wire: DirectWire, task: str) -> None:
    for number, fault in ((1, "crash_before"), (1, "crash_after"), (2, "crash_before"), (2, "crash_after")):
        name = f"{task}-{number}-{fault}"
        faults = Faults(wire, lambda count, url, n=number, f=fault: f if count == n else None)  # type: ignore[misc]
        with pytest.raises(Crash):
            ledger_over(faults, TurnableClock()).begin(name, PINS)
        ledger = ledger_over(wire, TurnableClock())
        assert ledger.begin(name, PINS) == PINS
        assert name in {entry.task_id for entry in ledger.tasks(START_MS, START_MS + 1)}


@pytest.mark.parametrize("task_id", ["", "x" * 1025, "stepkeeper:a"])
def test_task_ids_are_checked(ledger: Ledger, task_id: str) -> None:
    for call in (
        lambda: ledger.begin(task_id, PINS),
        lambda: ledger.rows(task_id),
        lambda: ledger.transitions(task_id),
        lambda: ledger.task(task_id),
    ):
        with pytest.raises(InvalidKey):
            call()
