"""Choice: the first branch that holds, else Default; data nobody can compare fails (CHOICE; A09, A37, C02)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import Row, flow_of, rows, simulate

from local_sim.definition import DefinitionError


def choose(condition: str) -> str:
    return f"""
- Type: Choice
  Name: c
  Branches: [{{Condition: '{condition}', Next: yes_}}]
  Default: no_
- {{Type: Pass, Name: yes_, End: true, OutputConstructor: {{taken: true}}}}
- {{Type: Pass, Name: no_, End: true, OutputConstructor: {{taken: false}}}}
"""


@pytest.mark.parametrize(
    ("source", "condition", "value", "taken"),
    [
        ("CHOICE", "$Input.n > 3", {"n": 4}, True),
        ("CHOICE", "$Input.n > 3", {"n": 3}, False),
        ("CHOICE", "$Input.n >= 3", {"n": 3}, True),
        ("CHOICE", "$Input.n < 3", {"n": 2.5}, True),
        ("CHOICE", "$Input.n <= 3", {"n": 3.5}, False),
        ("CHOICE", "$Input.n == 3", {"n": 3.0}, True),
        ("CHOICE", "$Input.n != 3", {"n": 3}, False),
        ("CHOICE", '$Input.s == "a"', {"s": "a"}, True),
        ("CHOICE", "$Input.s == `a`", {"s": "a"}, True),
        ("CHOICE", '$Input.s < "b"', {"s": "a"}, True),
        ("A09", '$Input.s < "a"', {"s": "Z"}, True),
        ("CHOICE", "$Input.n == -3", {"n": -3}, True),
        ("CHOICE", "!$Input.b", {"b": False}, True),
        ("CHOICE", "$Input.b", {"b": True}, True),
        ("CHOICE", "$Input.a && $Input.b", {"a": True, "b": False}, False),
        ("CHOICE", "$Input.a || $Input.b", {"a": False, "b": True}, True),
        ("A10", "$Input.a || $Input.b && $Input.c", {"a": True, "b": False, "c": False}, True),
        ("A10", "($Input.a || $Input.b) && $Input.c", {"a": True, "b": False, "c": False}, False),
        ("A37", "$Input.a && $Input.missing", {"a": False}, False),
        ("A37", "$Input.a || $Input.missing", {"a": True}, True),
        ("CHOICE", "3 in $Input.xs", {"xs": [1, 2, 3]}, True),
        ("CHOICE", "4 in $Input.xs", {"xs": [1, 2, 3]}, False),
        ("C02", '"a" in $Input', {"a": None}, True),
        ("C02", '"a" in $Input', {}, False),
        ("C02", '"a" in $Input', {"a": 0}, True),
        ("C02", '"a" in $Input', {"a": ""}, True),
        ("C02", '"a" in $Input', {"a": False}, True),
        ("CHOICE", "$Context.Execution.Input.n == 1", {"n": 1}, True),
        ("A11", "length($Input.xs) == 2", {"xs": [1, 2]}, True),
    ],
)
def test_the_branch_is_taken_when_its_condition_holds(source: str, condition: str, value: Any, taken: bool) -> None:
    run = simulate(choose(condition), input=value)
    assert run.output == {"taken": taken}, (source, run.cause)


@pytest.mark.parametrize(
    ("source", "condition", "value"),
    [
        ("A08", "$Input.missing == 1", {}),
        ("A09", '$Input.n == "3"', {"n": 3}),
        ("A09", "$Input.n < 3", {"n": "2"}),
        ("A09", "$Input.n < 3", {"n": None}),
        ("A09", "$Input.n", {"n": 1}),
        ("A09", "$Input.n", {"n": "true"}),
        ("A09", "!$Input.n", {"n": 0}),
        ("A09", "$Input.a && $Input.b", {"a": True, "b": 1}),
        ("A08", "1 in $Input.n", {"n": 5}),
    ],
)
def test_data_no_condition_can_judge_fails_and_never_takes_default(source: str, condition: str, value: Any) -> None:
    run = simulate(choose(condition), input=value)
    assert (run.status, run.error) == ("Failed", "FnF.RuntimeError"), source
    assert "Condition" in run.cause
    assert run.visited() == ["c"]


@pytest.mark.parametrize("condition", ["$Input.n >> 3", "$Input.n = 3", "$Input.n == 3 and true", "$Input.n == 3)"])
def test_a_condition_with_unknown_operators_never_reaches_the_engine(condition: str) -> None:
    with pytest.raises(DefinitionError):
        flow_of(choose(condition))


TWO = """
- Type: Choice
  Name: c
  Branches:
  - {Condition: '$Input.n > 1', Next: big}
  - {Condition: '$Input.n > 0', Next: small}
  Default: none_
- {Type: Succeed, Name: big}
- {Type: Succeed, Name: small}
- {Type: Succeed, Name: none_}
"""


@rows(
    Row("CHOICE", "the first true branch wins", TWO, {"n": 2}, input={"n": 2}, visited="c big"),
    Row("CHOICE", "later branches are tried in order", TWO, {"n": 1}, input={"n": 1}, visited="c small"),
    Row("CHOICE", "Default when none holds", TWO, {"n": 0}, input={"n": 0}, visited="c none_"),
    Row(
        "CHOICE",
        "hands on its constructed input",
        "- {Type: Choice, Name: c, InputConstructor: {n: 9}, Branches: "
        "[{Condition: '$Input.n == 9', Next: a}], Default: b}\n"
        "- {Type: Succeed, Name: a}\n- {Type: Fail, Name: b, Detail: x}",
        {"n": 9},
        visited="c a",
    ),
    Row(
        "GLOB",
        "reads $Global",
        "- {Type: Pass, Name: p, GlobalConstructor: {k: 1}, Next: c}\n"
        "- {Type: Choice, Name: c, Branches: [{Condition: '$Global.k == 1', Next: a}], Default: b}\n"
        "- {Type: Succeed, Name: a}\n- {Type: Fail, Name: b, Detail: x}",
        {},
        visited="p c a",
    ),
)
def test_choice(row: Row) -> None:
    row.check()
