"""`python -m scripts.review`: the same decisions from a terminal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from review_kit import Town, decide
from typer.testing import CliRunner

from functions.review.model import Delivery
from local_sim.services.faults import FaultKind
from scripts.review import app

pytestmark = pytest.mark.xdist_group("review")


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(arguments), prog_name="review")
    return done.exit_code, done.stdout, done.stderr


def read(*arguments: str) -> Any:
    status, out, _ = run(*arguments, "--json")
    assert status == 0
    return json.loads(out)


def test_a_review_is_listed_shown_and_approved(town: Town) -> None:
    task = town.begin(title="服务合同")
    assert task in {one["task_id"] for one in read("list")}
    status, shown, _ = run("show", task)
    assert status == 0
    assert f"服务合同   {task}, round 1: pending_review" in shown
    assert "48,000" in shown
    assert run("approve", task, "--by", "Lin", "--comment", "fine")[:2] == (0, f"{task}, round 1: approved\n")
    assert town.status(task) == "Succeeded"
    assert task not in {one["task_id"] for one in read("list")}
    assert task in {one["task_id"] for one in read("list", "--all")}
    found = read("show", task)
    assert (found["state"], found["decided"]["by"], found["decided"]["door"]) == ("approved", "Lin", "terminal")
    assert found["trail"][0]["kind"] == "opened"


def test_the_same_again_is_quiet_and_another_decision_is_refused_with_status_1(town: Town) -> None:
    task = town.begin()
    assert run("reject", task, "--by", "Lin")[0] == 0
    assert run("reject", task)[:2] == (0, f"{task}, round 1: rejected (as it was)\n")
    status, _, said = run("approve", task, "--by", "Mei")
    assert status == 1
    assert said.startswith("review: refused: Lin rejected this round already, 20")
    assert "Traceback" not in said


def test_page_and_terminal_are_one_code_path(town: Town) -> None:
    task = town.begin()
    assert decide(town.link(task), "more_info", name="Lin", comment="Which year?").status_code == 303
    town.round(task, 2)
    again = run("more-info", task, "--round", "1", "--comment", "again")
    assert again[:2] == (0, f"{task}, round 1: more_info (as it was)\n")
    assert run("approve", task)[:2] == (0, f"{task}, round 2: approved\n")
    assert town.status(task) == "Succeeded"


def test_a_flow_that_cannot_be_told_is_status_3_and_the_sweep_tells_it(town: Town) -> None:
    task = town.begin()
    town.hurt(FaultKind.DROP_BEFORE)
    status, out, said = run("approve", task)
    assert (status, out) == (3, f"{task}, round 1: approved\n")
    assert "the flow was not told: CloudFlow did not answer" in said
    town.heal()
    assert "delivered" in run("sweep")[1]
    assert town.round(task).review.report.delivery is Delivery.DONE
    assert town.status(task) == "Succeeded"


def test_a_flow_that_has_moved_on_is_status_1(town: Town) -> None:
    task = town.begin()
    town.stopped(task)
    status, _, said = run("approve", task)
    assert (status, "the execution is over" in said) == (1, True)


def test_one_person_does_not_fill_two_seats(town: Town) -> None:
    task = town.begin(town.two_reviewers())
    assert run("approve", task, "--by", "Lin")[:2] == (0, f"{task}, round 1: 1 of 2 approvals\n")
    status, _, said = run("approve", task, "--by", "Lin", "--seat", "2")
    assert (status, "somebody else has to" in said) == (2, True)
    assert run("approve", task, "--by", "Mei")[0] == 0
    assert town.status(task, "two_reviewers") == "Succeeded"


def test_a_seat_is_handed_on_and_a_link_is_printed(town: Town) -> None:
    task = town.begin()
    old = run("link", task)[1].strip()
    assert old == town.link(task)
    assert run("reassign", task, "Wang Fang")[:2] == (0, f"seat 1 of {task}, round 1: Wang Fang\n")
    assert decide(old, "approved").status_code == 403
    assert decide(run("link", task)[1].strip(), "approved").status_code == 303
    assert "<button" not in __import__("httpx").get(run("link", task, "--look-only")[1].strip()).text
    assert run("reassign", task, "Mei")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "nobody"], "there is no review of task nobody"),
        (["approve", "nobody", "--round", "3"], "in round 3"),
        (["approve", "a\x00b"], "NUL"),
        (["show", ""], "empty"),
    ],
)
def test_what_is_not_there_is_one_line_and_status_2(town: Town, arguments: list[str], said: str) -> None:
    status, _, error = run(*arguments)
    assert (status, error.count("\n")) == (2, 1)
    assert said in error


def test_a_decision_that_lacks_something_is_status_2(town: Town) -> None:
    task = town.begin()
    assert run("more-info", task, "--comment", " ")[0] == 2
    assert run("approve", task, "--seat", "9")[0] == 2
    assert town.round(task).review.pending
    town.stopped(task)


@pytest.mark.parametrize(
    "command", ["list", "show", "approve", "reject", "more-info", "reassign", "link", "answer", "sweep"]
)
def test_every_command_has_an_example(command: str) -> None:
    status, out, _ = run(command, "--help")
    assert status == 0
    assert f"python -m scripts.review {command}" in " ".join(out.split())


def test_escapes_in_what_others_wrote_do_not_reach_the_terminal(town: Town) -> None:
    task = town.begin(title="x\u202ey")
    assert run("reject", task, "--by", "Li\x1b[31m", "--comment", "a\x1b[2J\x1b]0;x\x07b")[0] == 0
    shown = run("show", task)[1] + run("list", "--all")[1]
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert "a[2J]0;xb" in shown


def test_a_state_that_is_no_review_is_answered_with_json(town: Town) -> None:
    task = town.start_task(document={"inline": "\x00\x01", "name": "a.pdf"})
    town.until(lambda: bool(town.notices(task, "correction_needed")))
    (notice,) = town.notices(task, "correction_needed")
    assert any(line.endswith(f"python -m scripts.review answer {task}") for line in notice["lines"])
    assert run("answer", task, "[]")[0] == 2
    assert run("answer", task, "{}", "--state", "ManualReview")[0] == 2
    corrected = json.dumps({"task_id": task, "document": {"inline": "# 合同\n\n48,000 元。", "name": "a.md"}})
    assert run("answer", task, corrected)[:2] == (0, f"{task}: NeedInput is answered\n")
    assert run("answer", task, corrected)[0] == 1
    town.round(task)
    assert run("approve", task)[0] == 0
    assert town.status(task) == "Succeeded"
