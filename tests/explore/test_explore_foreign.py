"""A project of another layout, without this kit and without a ledger."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from explore_kit import explored, rules, told

from local_sim.explore import Report
from local_sim.explore.page import page

FOREIGN = Path(__file__).parent / "foreign"
SALE = {"order": "o-1", "seat": "A1", "amount": 50}
CODE = "src/box_office.py"

pytestmark = pytest.mark.timeout(300)


def changed(folder: Path, *changes: tuple[str, str], file: str = CODE) -> Path:
    root = folder / "foreign"
    shutil.copytree(FOREIGN, root, ignore=shutil.ignore_patterns("__pycache__"))
    text = (root / file).read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (root / file).write_text(text, encoding="utf-8")
    return root


def line_of(root: Path, text: str, file: str = CODE) -> str:
    lines = (root / file).read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if text in line]
    return f"{file}:{number}"


def lines(report: Report) -> set[str]:
    return {one["line"] for run in report.broken for one in run["violations"]}


@pytest.fixture(scope="module")
def sold() -> Report:
    return explored("tickets", SALE, root=FOREIGN)


def test_it_is_explored_whole_and_nothing_breaks(sold: Report) -> None:
    assert sold.broken == [], told(sold)
    assert sold.coverage.whole
    assert set(sold.verdicts) == {"recovered", "compensated"}
    assert sold.base["effects"] == ["seat o-1", "ticket o-1", "pay o-1"]


def test_requests_of_all_three_clients_are_boundaries(sold: Report) -> None:
    texts = [one["text"] for one in sold.base["boundaries"]]
    assert "Reserve: venue PUT /seats/o-1" in texts
    assert "Pay: bank POST /payments" in texts
    assert "Issue: venue POST /tickets" in texts
    assert "Issue: oss PutObject tickets/receipts/o-1.json" in texts
    assert "Cool: waits" in texts


def test_the_same_seed_gives_the_same_report_whoever_shares_the_work(sold: Report) -> None:
    again = explored("tickets", SALE, root=FOREIGN, jobs=2)
    assert again.as_json() == sold.as_json()
    assert page(again) == page(sold)


def test_a_replayed_run_is_the_run_it_replays(sold: Report) -> None:
    chosen = next(run for run in sold.runs if run["schedule"][-1]["fault"] == "twice:2")
    report = explored("tickets", SALE, root=FOREIGN, replay=chosen["id"])
    (again,) = report.runs
    assert {key: again[key] for key in chosen} == dict(chosen)
    assert again["history"]
    assert again["boundaries"][chosen["schedule"][0]["boundary"]]["text"] == chosen["at"][0]


def test_branches_side_by_side_are_explored_and_their_effects_have_no_order() -> None:
    report = explored("pair", {"order": "o-1"}, root=FOREIGN)
    assert report.broken == [], told(report)
    assert report.coverage.whole
    assert report.base["effects"] == ["seat o-1-left", "seat o-1-right"]
    assert set(report.verdicts) == {"recovered", "compensated"}


def test_a_declined_payment_is_undone_in_every_way() -> None:
    report = explored("tickets", {**SALE, "amount": 5000}, root=FOREIGN, faults=("crash_after", "reply_lost"))
    assert report.broken == [], told(report)
    assert report.base["end"] == "NotSold"


def test_a_key_with_a_timestamp_in_it_is_found(tmp_path: Path) -> None:
    old, new = "key = f\"pay-{order['order']}\"", "import time; key = f\"pay-{order['order']}-{time.time()}\""
    root = changed(tmp_path, (old, new))
    report = explored("tickets", SALE, root=root, faults=("error_after", "twice"))
    assert rules(report) == {"at most once"}
    assert lines(report) == {line_of(root, '_bank("/payments", body, key)')}
    assert report.broken[0]["violations"][0]["stack"][-1] == line_of(root, "answer = requests.post(")


def test_an_object_written_without_a_condition_is_found(tmp_path: Path) -> None:
    root = changed(
        tmp_path,
        ('headers={"x-oss-forbid-overwrite": "true"}', "headers={}"),
        ("answer.content)", 'json.dumps({"at": __import__("time").time()}))'),
    )
    report = explored("tickets", SALE, root=root, faults=("reply_lost",))
    assert rules(report) == {"written once"}
    assert lines(report) == {line_of(root, "_keep(f")}


def test_undoing_in_the_wrong_order_is_found(tmp_path: Path) -> None:
    last = """    _venue("DELETE", f"/seats/{order['order']}", None)\n    return json.dumps({"undone": True})"""
    first = "def undo(event, context):\n    order = json.loads(event)\n"
    root = changed(
        tmp_path,
        (last, '    return json.dumps({"undone": True})'),
        (first, first + """    _venue("DELETE", f"/seats/{order['order']}", None)\n"""),
    )
    report = explored("tickets", SALE, root=root, faults=("slow_timeout",))
    assert "undone in reverse order" in rules(report)


def test_a_forgotten_catch_is_found_with_the_state_s_line(tmp_path: Path) -> None:
    file = "workflows/tickets.yaml"
    text = (FOREIGN / file).read_text(encoding="utf-8")
    pay = text[text.index("    Name: Pay") : text.index("    Name: Cool")]
    bare = pay.replace("    Catch:\n      - Errors: [FnF.ALL]\n        Next: Undo\n", "")
    root = changed(tmp_path, (pay, bare), file=file)
    report = explored("tickets", SALE, root=root, faults=("error:Declined",))
    assert rules(report) == {"every error is taken"}
    number = text[: text.index("    Name: Pay")].count("\n") + 1
    assert lines(report) == {f"{file}:{number}"}


def test_a_rule_of_the_project_s_own_is_asked(tmp_path: Path) -> None:
    root = changed(tmp_path, ("    _keep(f\"receipts/{order['order']}.json\", answer.content)\n", ""))
    report = explored("tickets", SALE, root=root, faults=("version",))
    assert rules(report) == {"a_ticket_has_a_receipt"}
    assert report.base["verdict"] == "BROKEN"
    assert "o-1 was sold without a receipt" in json.dumps(report.base["violations"])
