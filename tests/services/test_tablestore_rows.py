"""What writes make of a row's columns, and what time and versions leave to see. No service, no clock."""

from __future__ import annotations

from typing import Any

import pytest

from local_sim.services.tablestore import rows
from local_sim.services.tablestore.errors import ParameterInvalid
from local_sim.services.tablestore.plainbuffer import Cell, CellOp
from local_sim.services.tablestore.rows import Selection
from local_sim.services.tablestore.schema import TableOptions

ONE, THREE = TableOptions(), TableOptions(max_versions=3)
DAY_MS = 86_400_000


def test_put_stamps_cells_with_the_servers_time() -> None:
    assert rows.put([Cell("a", 1), Cell("b", "x", 7)], 100, ONE) == {"a": [(100, 1)], "b": [(7, "x")]}


def test_put_keeps_the_newest_versions() -> None:
    cells = [Cell("a", value, timestamp) for timestamp, value in [(5, 1), (9, 2), (7, 3), (1, 4)]]
    assert rows.put(cells, 100, THREE) == {"a": [(9, 2), (7, 3), (5, 1)]}
    assert rows.put(cells, 100, ONE) == {"a": [(9, 2)]}


def test_the_last_value_of_one_version_wins() -> None:
    assert rows.put([Cell("a", 1, 5), Cell("a", 2, 5)], 100, THREE) == {"a": [(5, 2)]}


def test_update_leaves_other_columns_and_its_argument_alone() -> None:
    before: Any = {"a": [(1, 1)], "b": [(1, 2)]}
    after = rows.update(before, [Cell("a", 9)], 50, ONE)
    assert after == {"a": [(50, 9)], "b": [(1, 2)]}
    assert before == {"a": [(1, 1)], "b": [(1, 2)]}


def test_deleting_one_version_and_all_versions() -> None:
    before: Any = {"a": [(9, 2), (7, 3)], "b": [(1, 2)]}
    assert rows.update(before, [Cell("a", None, 9, CellOp.DELETE_ONE)], 50, THREE) == {"a": [(7, 3)], "b": [(1, 2)]}
    assert rows.update(before, [Cell("a", None, 8, CellOp.DELETE_ONE)], 50, THREE) == before
    assert rows.update(before, [Cell("a", None, None, CellOp.DELETE_ALL)], 50, THREE) == {"b": [(1, 2)]}


def test_increment_starts_at_zero_and_adds_to_the_newest() -> None:
    step = [Cell("n", 5, None, CellOp.INCREMENT)]
    first = rows.update({}, step, 10, ONE)
    assert first == {"n": [(10, 5)]}
    assert rows.update(first, step, 20, ONE) == {"n": [(20, 10)]}


@pytest.mark.parametrize(
    ("old", "step"), [("text", 1), (1.0, 1), (True, 1), (1, 1.0), ((1 << 63) - 1, 1), (-(1 << 63), -1)]
)
def test_an_impossible_increment_is_refused(old: Any, step: Any) -> None:
    with pytest.raises(ParameterInvalid, match="'n'"):
        rows.update({"n": [(1, old)]}, [Cell("n", step, None, CellOp.INCREMENT)], 10, ONE)


def test_expiry_counts_for_each_version() -> None:
    options = TableOptions(time_to_live=86_400, max_versions=3)
    columns: Any = {"a": [(2 * DAY_MS, 1), (DAY_MS, 2)], "b": [(DAY_MS, 3)]}
    assert rows.live(columns, 2 * DAY_MS - 1, options) == columns
    assert rows.live(columns, 2 * DAY_MS, options) == {"a": [(2 * DAY_MS, 1)]}
    assert rows.live(columns, 3 * DAY_MS, options) == {}


def test_versions_over_the_tables_number_are_hidden() -> None:
    assert rows.live({"a": [(3, 1), (2, 2), (1, 3)]}, 10, TableOptions(max_versions=2)) == {"a": [(3, 1), (2, 2)]}


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        (Selection(), {"a": [(3, 1)], "b": [(2, 5)], "c": [(1, 6)]}),
        (Selection(max_versions=None), {"a": [(3, 1), (2, 2)], "b": [(2, 5)], "c": [(1, 6)]}),
        (Selection(frozenset({"b", "x"})), {"b": [(2, 5)]}),
        (Selection(start="b"), {"b": [(2, 5)], "c": [(1, 6)]}),
        (Selection(end="b"), {"a": [(3, 1)]}),
        (Selection(start="b", end="c"), {"b": [(2, 5)]}),
        (Selection(times=(2, 3)), {"a": [(2, 2)], "b": [(2, 5)]}),
        (Selection(times=(2, 4), max_versions=1), {"a": [(3, 1)], "b": [(2, 5)]}),
        (Selection(frozenset({"x"})), {}),
    ],
)
def test_selection(wanted: Selection, chosen: Any) -> None:
    assert rows.select({"a": [(3, 1), (2, 2)], "b": [(2, 5)], "c": [(1, 6)]}, wanted) == chosen


def test_paging_goes_through_columns_by_name() -> None:
    assert rows.page({"c": [(1, 1)], "a": [(1, 2)], "b": [(1, 3)]}, 1, 1) == {"b": [(1, 3)]}


@pytest.mark.parametrize(
    ("columns", "names", "shown"),
    [({}, [], True), ({}, ["a"], False), ({"a": [(1, 1)]}, ["a"], True), ({}, ["task"], True)],
)
def test_a_row_shows_when_it_has_something_that_was_asked_for(columns: Any, names: list[str], shown: bool) -> None:
    assert rows.shows(columns, {"task"}, Selection(frozenset(names))) is shown


def test_cells_come_by_name_and_newest_first() -> None:
    columns: Any = {"b": [(1, "x")], "a": [(3, 1), (2, 2)]}
    cells = list(rows.to_cells(columns))
    assert cells == [Cell("a", 1, 3), Cell("a", 2, 2), Cell("b", "x", 1)]
    assert rows.from_cells(cells) == columns
