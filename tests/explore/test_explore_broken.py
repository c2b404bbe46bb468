"""Planted mistakes are found, at the right line; their mended twins raise no alarm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest
from broken.cases import CASES
from broken.kit import Bench, Case, marked
from explore_kit import told

from local_sim.explore import Effect, Run
from local_sim.explore.invariants import ask_invariants
from local_sim.explore.model import Violation

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    bench = Bench(tmp_path_factory.mktemp("broken"))
    yield bench
    bench.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "_"))
def test_the_mistake_is_found_at_its_line_and_its_twin_is_not_blamed(bench: Bench, case: Case) -> None:
    broken = bench.explored(case, "broken")
    found = [one for run in broken.broken for one in run["violations"] if one["rule"] == case.rule]
    assert found, told(broken)
    assert "the rule itself failed" not in told(broken)
    lines = {one["line"] for one in found} - {""}  # what happened between the lines of a handler has none
    assert lines, found
    assert lines <= marked(case, bench.root(case.kind)), found
    mended = bench.explored(case, "mended")
    assert mended.broken == [], told(mended)
    assert mended.coverage.whole
    assert len(mended.runs) >= 3


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 25
    assert len({case.name for case in CASES}) == len(CASES)


def test_a_rule_may_say_whose_line_the_report_shall_show() -> None:
    effect = Effect("pay", "o-1", line="code/pay.py:7", stack=("code/pay.py:7", "code/client.py:3"))
    checks = [("twice", lambda run: [("paid twice", effect), "and nobody knows why"])]
    told = list(ask_invariants(checks, cast(Run, None)))
    assert told == [
        Violation("twice", "paid twice", effect.line, effect.stack),
        Violation("twice", "and nobody knows why"),
    ]
