"""The judgement of a run, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from local_sim.definition.loader import load_flow
from local_sim.explore.model import Effect, Overwrite, Run, Verdict, Violation
from local_sim.explore.verdict import Baseline, Judge, standing, verdict_of

FLOW = """
Type: StateMachine
SpecVersion: v1
Name: f
StartAt: Pay
States:
  - Type: Task
    Name: Pay
    Action: FC:InvokeFunction
    Parameters: {resourceArn: "acs:fc:::functions/pay/LATEST"}
    Catch:
      - Errors: [FnF.ALL]
        Next: Undone
      - Errors: [Declined]
        Next: Done
    Next: Done
  - Type: Succeed
    Name: Done
  - Type: Succeed
    Name: Undone
  - Type: Fail
    Name: GivenUp
    Code: GivenUp
"""
PAY, SHIP = Effect("pay", "1", line="src/pay.py:3"), Effect("ship", "1")
REFUND, CANCEL = Effect("refund", "1", "pay", line="src/undo.py:5"), Effect("cancel", "1", "ship")
LETTER = Effect("letter", "1", reversible=False)


def run(*effects: Effect, end: str = "Done", status: str = "Succeeded", **more: Any) -> Run:
    given: dict[str, Any] = {
        "id": "3.twice",
        "flow": "f",
        "input": {},
        "schedule": (),
        "status": status,
        "end": end,
        "error": "",
        "output": None,
        "path": ("Pay", end),
        "asked": (),
        "effects": effects,
        "overwrites": (),
        "history": [],
        "boundaries": (),
        "now_ms": 0,
    }
    return Run(**{**given, **more})


BASE = Baseline.of(run(PAY, SHIP), {})


def said(found: Run, baseline: Baseline = BASE, **ends: str) -> list[tuple[str, str]]:
    judge = Judge(load_flow(FLOW), ends, "flows/f.yaml")
    return [(one.rule, one.line) for one in judge.violations(found, baseline)]


def rules(found: Run, **ends: str) -> list[str]:
    return [rule for rule, _ in said(found, **ends)]


def test_what_the_run_without_faults_did_is_fine() -> None:
    assert rules(run(PAY, SHIP)) == []


def test_an_effect_twice_is_found_with_the_line_of_the_second() -> None:
    assert said(run(PAY, SHIP, Effect("pay", "1", line="src/pay.py:9"))) == [("at most once", "src/pay.py:9")]


def test_an_effect_that_is_missing_at_the_good_end_is_found() -> None:
    assert rules(run(PAY)) == ["exactly once"]


def test_an_effect_that_only_this_run_has_is_found() -> None:
    assert rules(run(PAY, SHIP, Effect("gift", "1"))) == ["exactly once"]


def test_everything_undone_in_reverse_order_is_fine_at_another_good_end() -> None:
    assert rules(run(PAY, SHIP, CANCEL, REFUND, end="Undone")) == []


def test_something_left_standing_at_another_good_end_is_found() -> None:
    assert said(run(PAY, SHIP, CANCEL, end="Undone")) == [("nothing is left standing", "src/pay.py:3")]


def test_the_irreversible_may_be_left_standing() -> None:
    assert rules(run(LETTER, end="Undone")) == []


def test_undoing_in_the_order_of_doing_is_found() -> None:
    assert said(run(PAY, SHIP, REFUND, CANCEL, end="Undone")) == [("undone in reverse order", "src/undo.py:5")]


def test_undoing_twice_and_undoing_what_was_not_done_are_found() -> None:
    assert rules(run(PAY, REFUND, REFUND, end="Undone")) == ["undone once"]
    assert rules(run(REFUND, end="Undone")) == ["undone once"]


def test_a_flow_given_up_owes_nothing() -> None:
    assert rules(run(PAY, end="GivenUp", status="Failed")) == []


@pytest.mark.parametrize(("owed", "broken"), [("open", []), ("done", ["exactly once"]), ("undone", [])])
def test_an_end_owes_what_the_project_says(owed: str, broken: list[str]) -> None:
    assert rules(run(end="Undone"), Undone=owed) == broken * 2


def test_an_error_no_rule_took_is_found_with_the_line_of_the_state() -> None:
    assert said(run(end="Pay", status="Failed", error="Boom")) == [("every error is taken", "flows/f.yaml:8")]


def test_an_execution_that_stands_still_is_found() -> None:
    assert "comes to an end" in rules(run(end="Pay", status="Running"))


def test_a_rule_for_all_errors_before_the_one_that_names_it_is_found() -> None:
    failed = {"type": "StepFailed", "state": "Pay", "schedule": 1, "detail": {"error": "Declined", "next": "Undone"}}
    found = said(run(end="Undone", history=[failed]))
    assert found == [("the rule that names an error takes it", "flows/f.yaml:14")]


def test_a_task_that_ended_twice_is_found() -> None:
    event = {"type": "TaskSucceeded", "state": "Pay", "schedule": 4, "detail": {}}
    assert rules(run(PAY, SHIP, history=[event, event])) == ["decided at most once"]


def test_an_object_overwritten_more_often_than_without_faults_is_found() -> None:
    once = (Overwrite("b/k", "src/a.py:1"),)
    assert said(run(PAY, SHIP, overwrites=once)) == [("written once", "src/a.py:1")]
    assert said(run(PAY, SHIP, overwrites=once), Baseline.of(run(PAY, SHIP, overwrites=once), {})) == []


def test_standing_takes_away_what_was_undone() -> None:
    assert standing([PAY, SHIP, CANCEL]) == [PAY]
    assert standing([PAY, Effect("refund", "2", "pay")]) == [PAY]


def test_the_one_word_for_a_run() -> None:
    assert verdict_of(run(PAY, SHIP), BASE, []) is Verdict.RECOVERED
    assert verdict_of(run(end="Undone"), BASE, []) is Verdict.COMPENSATED
    assert verdict_of(run(PAY, SHIP, asked=("Review",)), BASE, []) is Verdict.TO_A_PERSON
    assert verdict_of(run(PAY, SHIP), BASE, [Violation("r", "t")]) is Verdict.BROKEN
