"""Declared machines: every declared move works, every other is refused with what is legal, races have one winner."""

from __future__ import annotations

import contextlib
import itertools
import threading
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows_kit import Rows

from functions.errors import InvalidInput, ResultConflict
from functions.machines import Machine, Machines
from ledger import Ledger

ORDER = Machine(
    "order",
    start="new",
    moves={
        "new": ["paid", "cancelled"],
        "paid": ["shipped", "refunding"],
        "shipped": ["refunding", "done"],
        "refunding": ["refunded", "paid"],
        "refunded": [],
        "cancelled": [],
        "done": [],
    },
)


def at(state: str) -> Machines:
    """Machines with an order `o` in a state, put there without a move."""
    rows = Rows()
    rows.create("o", "machine/order", {"state": state}, {"state": state, "by": "", "note": ""})
    return Machines(rows)  # type: ignore[arg-type]


PAIRS = list(itertools.product(ORDER.moves, ORDER.moves))


@pytest.mark.parametrize(("state", "to"), PAIRS)
def test_every_pair_of_states_is_a_declared_move_or_refused(state: str, to: str) -> None:
    machines = at(state)
    if to in ORDER.moves[state]:
        assert machines.move(ORDER, "o", to).state == to
    elif to == state:
        assert machines.move(ORDER, "o", to).state == state
        assert len(machines.place(ORDER, "o").trail) == 1
    else:
        with pytest.raises(ResultConflict) as caught:
            machines.move(ORDER, "o", to)
        assert caught.value.details["legal"] == list(ORDER.moves[state])
        assert f"is {state} and cannot become {to}" in str(caught.value)
        assert machines.place(ORDER, "o").state == state


def test_moves_are_kept_with_who_why_and_how_long(cloud: pytest.MonkeyPatch) -> None:
    machines, thing = Machines(Ledger.open().entries), "o-" + uuid.uuid4().hex[:8]
    machines.begin(ORDER, thing, by="shop")
    assert machines.begin(ORDER, thing).state == "new"
    machines.move(ORDER, thing, "paid", by="bank", note="48.00")
    place = machines.move(ORDER, thing, "shipped", by="carrier")
    assert [(move.state, move.by, move.note) for move in place.trail] == [
        ("new", "shop", ""), ("paid", "bank", "48.00"), ("shipped", "carrier", ""),
    ]  # fmt: skip
    assert place.trail[0].after_ms == 0
    assert all(move.after_ms == move.at_ms - before.at_ms for before, move in itertools.pairwise(place.trail))


def test_two_that_race_have_one_winner(cloud: pytest.MonkeyPatch) -> None:
    thing = "o-" + uuid.uuid4().hex[:8]
    Machines(Ledger.open().entries).begin(ORDER, thing)
    start, outcomes = threading.Barrier(8), list[str]()

    def race(number: int) -> None:
        machines = Machines(Ledger.open().entries)
        start.wait()
        to = "paid" if number % 2 else "cancelled"
        try:
            outcomes.append(machines.move(ORDER, thing, to, by=str(number)).state)
        except ResultConflict:
            outcomes.append("refused")

    threads = [threading.Thread(target=race, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    place = Machines(Ledger.open().entries).place(ORDER, thing)
    assert len(place.trail) == 2
    assert set(outcomes) - {"refused"} == {place.state}
    assert outcomes.count("refused") == 4


@pytest.mark.parametrize(
    ("start", "moves", "problem"),
    [
        ("a", {"a": ["b"]}, "not declared: b"),
        ("x", {"a": []}, "not declared: x"),
        ("a", {"a": [], "b": []}, "nothing leads to b"),
        ("a", {"a": ["b"], "b": ["a"], "c": ["a"]}, "nothing leads to c"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(start: str, moves: dict[str, list[str]], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Machine("m", start, moves)


def test_a_thing_or_state_nobody_knows_is_told() -> None:
    machines = at("new")
    with pytest.raises(InvalidInput, match="has no state 'gone'; it has new, paid"):
        machines.move(ORDER, "o", "gone")
    with pytest.raises(InvalidInput, match="order other has not begun"):
        machines.move(ORDER, "other", "paid")
    assert ORDER.final == {"refunded", "cancelled", "done"}


@settings(max_examples=60)
@given(st.lists(st.sampled_from(sorted(ORDER.moves)), max_size=12))
def test_whatever_is_tried_the_trail_is_a_way_through_the_declaration(tried: list[str]) -> None:
    machines = at("new")
    for to in tried:
        with contextlib.suppress(ResultConflict):
            machines.move(ORDER, "o", to)
    place = machines.place(ORDER, "o")
    states = [move.state for move in place.trail]
    assert states[0] == "new"
    assert states[-1] == place.state
    assert all(ORDER.allows(one, other) for one, other in itertools.pairwise(states))
