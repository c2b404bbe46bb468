"""The report for people, from runs as the processes tell them."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console

from local_sim.explore import Answer, Plan, Report
from local_sim.explore.page import page
from local_sim.explore.report import gather, worst
from local_sim.explore.screen import show

PLAN = Plan(Path("/p"), "buy", {"order": "1"}, answers=(Answer("Review", "yes"), Answer("Review", {"decision": "no"})))


def run(number: int = -1, fault: str = "", verdict: str = "recovered", **more: Any) -> dict[str, Any]:
    schedule = [{"boundary": number, "fault": fault}] if fault else []
    found: dict[str, Any] = {
        "id": f"{number}.{fault}" if fault else "",
        "verdict": verdict,
        "status": "Succeeded",
        "end": "Done",
        "error": "",
        "asked": [],
        "path": ["Pay", "Done"],
        "schedule": schedule,
        "states": ["Pay"] if fault else [],
        "at": ["Pay: bank POST /p"] if fault else [],
        "irreversible": [],
        "violations": [],
        "known": 0,
        "tried": 0,
    }
    return {**found, **more}


TWICE = {
    "rule": "at most once",
    "text": "pay [1] happened twice",
    "line": "src/pay.py:3",
    "stack": ["src/pay.py:3", "src/web.py:9"],
}
TOLD = [
    run(known=4, tried=2),
    run(9, "reply_lost", "BROKEN", violations=[TWICE]),
    run(4, "crash_after", "BROKEN", violations=[TWICE], boundaries=[], history=[], effects=["pay 1"], tables={}),
    run(known=4, tried=2),
    run(2, "twice", "to a person"),
    {
        "died": -14,
        "schedule": [{"boundary": 3, "fault": "slow_lease", "state": "Pay", "text": "Pay: x", "line": "l:1"}],
    },
]


def report() -> Report:
    return gather(PLAN, TOLD, "order.json")


def screen(found: Report) -> str:
    text = StringIO()
    show(found, Console(file=text, width=160))
    return text.getvalue()


def test_runs_are_put_in_order_and_counted_once() -> None:
    found = report()
    assert [one["id"] for one in found.runs] == ["2.twice", "3.slow_lease", "4.crash_after", "9.reply_lost"]
    assert (found.coverage.tried, found.coverage.known) == (4, 4)
    assert found.verdicts == {"BROKEN": 3, "to a person": 1}
    assert "known" not in found.base


def test_the_same_breach_at_the_same_line_is_told_once_by_its_first_run() -> None:
    causes = report().causes
    assert [(one["id"], count) for one, count in causes] == [("3.slow_lease", 1), ("4.crash_after", 2)]


def test_the_command_replays_with_all_that_matters() -> None:
    command = report().command("4.crash_after")
    assert command == (
        "local-sim explore buy --input order.json --decide Review=yes "
        """--decide 'Review={"decision": "no"}' --replay 4.crash_after"""
    )


def test_the_screen_tells_rule_line_and_command() -> None:
    text = screen(report())
    assert "at most once: pay [1] happened twice  src/pay.py:3" in text
    assert "on the way: src/web.py:9" in text
    assert "--replay 4.crash_after" in text
    assert "the run was ended because it hung" in text
    assert "tried 4 of 4 (100 %)" in text


def test_what_was_not_tried_is_said() -> None:
    found = gather(PLAN, [run(known=9, tried=3)])
    assert found.coverage.text == "3 of 9 (33 %)"
    assert "nothing is said about the rest" in screen(found)
    assert "nothing is said about the rest" in page(found)


def test_almost_everything_is_not_everything() -> None:
    assert gather(PLAN, [run(known=1000, tried=999)]).coverage.text == "999 of 1000 (99 %)"


def test_json_and_page_have_the_details_of_what_is_broken() -> None:
    document = json.loads(report().as_json())
    assert [one["id"] for one in document["broken"]] == ["3.slow_lease", "4.crash_after", "9.reply_lost"]
    assert document["broken"][1]["effects"] == ["pay 1"]
    assert document["matrix"]["Pay"]["twice"] == {"to a person": 1}
    text = page(report())
    assert "<summary>history</summary>" in text
    assert "pay [1] happened twice" in text


def test_the_worst_of_a_cell_decides_its_colour() -> None:
    assert worst({"recovered": 5, "compensated": 1}).value == "compensated"
    assert worst({"recovered": 5, "BROKEN": 1}).value == "BROKEN"
