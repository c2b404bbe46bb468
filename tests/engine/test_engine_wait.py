"""Wait: relative seconds, whole and in range (WAIT; A22)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import simulate

from local_sim.engine import Limits

DYNAMIC = "- {Type: Wait, Name: w, Seconds.$: $Input.s, End: true}"


@pytest.mark.parametrize(("seconds", "source"), [(1, "WAIT"), (20, "WAIT"), (299, "WAIT"), (300, "WAIT")])
def test_a_wait_takes_its_seconds(seconds: int, source: str) -> None:
    run = simulate(f"- {{Type: Wait, Name: w, Seconds: {seconds}, End: true}}", input={"a": 1})
    assert (run.output, run.at_ms) == ({"a": 1}, seconds * 1000), source


@pytest.mark.parametrize("seconds", [1, 7, 300])
def test_seconds_may_come_from_an_expression(seconds: int) -> None:
    assert simulate(DYNAMIC, input={"s": seconds}).at_ms == seconds * 1000


@pytest.mark.parametrize("value", [0, -1, 301, 10**30, 1.5, 2.0, True, "5", None, [1]])
def test_seconds_out_of_range_or_no_whole_number_fail_the_state(value: Any) -> None:
    run = simulate(DYNAMIC, input={"s": value})
    assert (run.status, run.error) == ("Failed", "FnF.RuntimeError")
    assert run.cause.startswith("Seconds of w must be ")
    assert len(run.cause) < 200


@pytest.mark.parametrize(("seconds", "status"), [(20, "Succeeded"), (21, "Failed")])
def test_an_express_flow_waits_twenty_seconds_at_most(seconds: int, status: str) -> None:
    assert simulate(DYNAMIC, input={"s": seconds}, limits=Limits().express()).status == status


def test_constructors_run_around_a_wait() -> None:
    states = (
        "- {Type: Wait, Name: w, InputConstructor: {s: 2}, Seconds.$: $Input.s, OutputConstructor: "
        "{t.$: $Output.s}, End: true}"
    )
    run = simulate(states)
    assert (run.output, run.at_ms) == ({"t": 2}, 2000)


def test_waits_in_parallel_overlap_and_in_sequence_add_up() -> None:
    two = "[{Type: Wait, Name: x, Seconds: 10, Next: y}, {Type: Wait, Name: y, Seconds: 5, End: true}]"
    one = "[{Type: Wait, Name: z, Seconds: 12, End: true}]"
    run = simulate(
        f"- {{Type: Parallel, Name: p, End: true, Branches: [{{StartAt: x, States: {two}}}, {{StartAt: "
        f"z, States: {one}}}]}}"
    )
    assert run.at_ms == 15_000
