"""Which faults a boundary has."""

from __future__ import annotations

from typing import Any

import pytest

from local_sim.explore import BadPlan, Boundary
from local_sim.explore.faults import DESCRIPTIONS, ERROR, TWICE, Catalogue, description, place, read_faults
from local_sim.explore.model import BoundaryKind

REQUEST = ["crash_before", "crash_after", "reply_lost", "error_after", "throttled", "slow_lease"]


def boundary(kind: BoundaryKind, **more: Any) -> Boundary:
    return Boundary(0, kind, "Pay", **{"function": "pay", "due_ms": 5, **more})


def faults(one: Boundary, *chosen: str, versions: bool = True) -> list[str]:
    return Catalogue({"pay": ("Declined",)}, chosen, versions=versions).applicable(one)


def test_a_request_has_its_faults_and_a_timeout_one_more() -> None:
    assert faults(boundary(BoundaryKind.REQUEST)) == [*REQUEST, "slow_timeout"]
    assert faults(boundary(BoundaryKind.REQUEST, due_ms=None)) == REQUEST


def test_an_object_that_is_read_may_be_missing_or_changed() -> None:
    found = faults(boundary(BoundaryKind.REQUEST, reads=True, due_ms=None))
    assert found == [*REQUEST, "object_missing", "object_changed"]


def test_a_request_of_the_flow_itself_has_no_crash() -> None:
    assert faults(boundary(BoundaryKind.REQUEST, function="", due_ms=None)) == [
        "reply_lost",
        "error_after",
        "throttled",
    ]


def test_a_start_has_the_declared_errors_and_three_interleavings() -> None:
    found = faults(boundary(BoundaryKind.START))
    assert found == ["crash_before", "throttled", "slow_timeout", *TWICE, "error:Declined"]
    assert "error:Declined" not in faults(boundary(BoundaryKind.START, function="ship"))


def test_an_end_a_report_and_a_wait_have_theirs() -> None:
    assert faults(boundary(BoundaryKind.END)) == ["crash_after", "reply_lost", "slow_timeout"]
    assert faults(boundary(BoundaryKind.CALLBACK)) == ["callback_twice", "callback_late", "callback_never", "version"]
    assert faults(boundary(BoundaryKind.CALLBACK, due_ms=None), versions=False) == ["callback_twice", "callback_never"]
    assert faults(boundary(BoundaryKind.WAIT)) == ["version"]
    assert faults(boundary(BoundaryKind.WAIT), versions=False) == []


def test_only_the_chosen_are_tried() -> None:
    assert faults(boundary(BoundaryKind.START), "twice", "error") == [*TWICE, "error:Declined"]
    assert faults(boundary(BoundaryKind.START), "error:Declined") == ["error:Declined"]
    assert faults(boundary(BoundaryKind.END), "twice") == []


def test_every_fault_is_described_and_has_a_place() -> None:
    for fault in [*DESCRIPTIONS, *TWICE]:
        assert description(fault)
    assert description("error:Declined") == "the function raises Declined"
    assert sorted(["error:B", "twice:2", "crash_before", "error:A"], key=place) == [
        "crash_before",
        "twice:2",
        "error:A",
        "error:B",
    ]
    assert ERROR in DESCRIPTIONS


def test_names_are_read_and_a_wrong_one_is_refused() -> None:
    assert read_faults("crash_after, reply_lost") == ("crash_after", "reply_lost")
    assert read_faults("") == ()
    assert read_faults("error,error:X,twice:2") == ("error", "error:X", "twice:2")
    with pytest.raises(BadPlan, match="no fault 'crash'"):
        read_faults("crash")


def test_a_boundary_says_what_it_is() -> None:
    assert boundary(BoundaryKind.START).text == "Pay: pay starts"
    assert boundary(BoundaryKind.END, attempt=1).text == "Pay (try 2): pay ends"
    one = boundary(BoundaryKind.REQUEST, service="oss", operation="GetObject", key="b/k")
    assert one.text == "Pay: oss GetObject b/k"
