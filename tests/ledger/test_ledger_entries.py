"""Entries: rows beside the steps, changed once or not at all, whatever the store answers."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from ledger_kit import START_MS, DirectWire, Faults, TurnableClock, ledger_over

from ledger import Entry, InvalidKey, Ledger, NotJson

DAY_MS = 86_400_000


def test_an_entry_is_made_once_and_read_back(ledger: Ledger, task: str) -> None:
    entries = ledger.entries
    assert entries.read(task, "review/a") is None
    made = entries.create(task, "review/a", {"state": "new", "n": 1}, {"why": "first"})
    assert made == Entry(task, "review/a", 1, {"state": "new", "n": 1})
    assert entries.create(task, "review/a", {"state": "other"}) is None
    found = entries.read(task, "review/a")
    assert found is not None
    assert (found.columns, found.revision) == ({"state": "new", "n": 1}, 1)
    assert [mark.note for mark in found.trail] == [{"why": "first"}]


def test_of_two_changes_of_one_revision_one_counts(ledger: Ledger, task: str) -> None:
    entries = ledger.entries
    made = entries.create(task, "review/a", {"state": "new"})
    assert made is not None
    assert entries.change(made, {"state": "one"}, "first") is not None
    assert entries.change(made, {"state": "two"}, "second") is None
    found = entries.read(task, "review/a")
    assert found is not None
    assert (found.columns["state"], [mark.note for mark in found.trail]) == ("one", [None, "first"])
    assert [mark.revision for mark in found.trail] == [1, 2]
    assert found.trail[0].at_ms <= found.trail[1].at_ms


def test_of_many_at_once_one_wins_each_revision(ledger: Ledger, task: str) -> None:
    entries = ledger.entries
    made = entries.create(task, "review/a", {"by": ""})
    assert made is not None
    won: list[Any] = []

    def change(name: str) -> None:
        won.append(entries.change(made, {"by": name}))

    threads = [threading.Thread(target=change, args=(name,)) for name in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [entry for entry in won if entry is not None]
    found = entries.read(task, "review/a")
    assert found is not None
    assert found.columns == winner.columns


@pytest.mark.parametrize("name", ["step/x", "step/", "unwind/x", "task", "task/x", "", "a\0b"])
def test_the_ledgers_own_names_are_refused(ledger: Ledger, task: str, name: str) -> None:
    with pytest.raises(InvalidKey):
        ledger.entries.create(task, name, {})


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        ("列", "ASCII"),
        ("a-b", "ASCII"),
        ("", "ASCII"),
        ("c" * 256, "256 bytes"),
        ("revision", "ledger's own"),
        ("w_00000001", "ledger's own"),
    ],
)
def test_columns_no_table_takes_are_named_before_anything_is_sent(
    ledger: Ledger, wire: DirectWire, task: str, column: str, problem: str
) -> None:
    entries = ledger.entries
    wire.requests.clear()
    with pytest.raises(InvalidKey, match=problem) as caught:
        entries.create(task, "review/a", {column: 1})
    assert (caught.value.name, caught.value.value, wire.requests) == ("column", column, [])


@pytest.mark.parametrize("value", [None, float("nan"), float("-inf"), 2**63, -(2**63) - 1, "\ud800", [1], {}, b"x"])
def test_values_no_column_holds_are_named_before_anything_is_sent(
    ledger: Ledger, wire: DirectWire, task: str, value: Any
) -> None:
    entries = ledger.entries
    wire.requests.clear()
    with pytest.raises(NotJson, match=r"at \$\.x:"):
        entries.create(task, "review/a", {"x": value})
    assert wire.requests == []


def test_the_outermost_values_a_column_holds_come_back(ledger: Ledger, task: str) -> None:
    columns = {"low": -(2**63), "high": 2**63 - 1, "text": "务\n😀", "half": 0.5, "yes": True}
    assert ledger.entries.create(task, "review/a", columns) is not None
    found = ledger.entries.read(task, "review/a")
    assert found is not None
    assert found.columns == columns


def test_entries_are_no_steps_and_steps_no_entries(ledger: Ledger, task: str) -> None:
    ledger.entries.create(task, "review/a", {"state": "new"})
    assert ledger.rows(task) == []
    assert ledger.history(task).rows == ()
    assert [entry.entry for entry in ledger.entries.under(task, "review/")] == ["review/a"]
    assert list(ledger.entries.under(task, "revie/")) == []


def test_a_prefix_finds_its_own_only_in_order(ledger: Ledger, task: str) -> None:
    for name in ("review/b", "review/a", "review-view/a", "reviews", "review/务"):
        ledger.entries.create(task, name, {})
    assert [entry.entry for entry in ledger.entries.under(task, "review/")] == ["review/a", "review/b", "review/务"]


def test_what_is_announced_is_found_by_its_day_each_once(ledger: Ledger, task: str) -> None:
    entries, topic = ledger.entries, f"topic{task.replace('-', '')}"
    for number in range(3):
        entries.announce(topic, task, f"review/{number}", START_MS + number * DAY_MS)
    entries.announce(topic, task, "review/0", START_MS)
    entries.announce(topic, task, "review/0", START_MS + 5)
    found = list(entries.announced(topic, START_MS, START_MS + DAY_MS))
    assert found == [(task, "review/0"), (task, "review/1")]
    assert list(entries.announced(topic, START_MS + 5 * DAY_MS, START_MS + 9 * DAY_MS)) == []
    assert list(entries.announced(topic[:-1], START_MS, START_MS)) == []


def test_announcing_is_no_beginning_of_a_task(ledger: Ledger, task: str) -> None:
    ledger.entries.announce("review", task, "review/a", START_MS)
    assert task not in {entry.task_id for entry in ledger.tasks(START_MS - DAY_MS, START_MS + DAY_MS)}
    assert ledger.task(task) is None


FAULTS = ["drop_before", "drop_after", "busy_after", "conflict_after", "throttle", "broken_500"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_change_whose_answer_got_lost_counts_once(
    wire: DirectWire, clock: TurnableClock, task: str, fault: str
) -> None:
    breaking = [False]

    def plan(number: int, api: str) -> str | None:
        if breaking[0] and api.endswith("UpdateRow"):
            breaking[0] = False
            return fault
        return None

    entries = ledger_over(Faults(wire, plan, clock), clock).entries
    made = entries.create(task, "review/a", {"state": "new"})
    assert made is not None
    breaking[0] = True
    changed = entries.change(made, {"state": "one"}, "mine")
    assert not breaking[0]
    assert changed is not None
    assert (changed.revision, changed.columns) == (2, {"state": "one"})
    assert entries.change(made, {"state": "two"}) is None
