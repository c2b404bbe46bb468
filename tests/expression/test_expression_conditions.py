"""Conditions row by row (language page 5.3, A09 to A11, A37, A45)."""

from __future__ import annotations

from typing import Any

import pytest

from local_sim.expression import (
    EvaluationError,
    ExecutionInfo,
    ExpressionSyntaxError,
    Scope,
    TooDeepError,
    compile_condition,
)

BIG = 2**70
DATA: dict[str, Any] = {
    "n": 3,
    "f": 2.5,
    "s": "b",
    "t": True,
    "u": False,
    "z": None,
    "list": [1, "a", True, None, {"k": 1}],
    "map": {"a": None, "b": 1},
    "big": BIG,
}


def evaluate(text: str, data: Any = DATA) -> bool:
    return compile_condition(text).evaluate(Scope(ExecutionInfo("run", {"x": 1}), input=data, globals={"g": 1}))


TRUE: list[tuple[str, str]] = [
    ("CHOICE", "$Input.n == 3"),
    ("CHOICE", "$Input.n != 4"),
    ("CHOICE", "$Input.n > 2"),
    ("CHOICE", "$Input.n >= 3"),
    ("CHOICE", "$Input.n < 3.5"),
    ("CHOICE", "$Input.n <= 3.0"),
    ("CHOICE", "3 == $Input.n"),
    ("CHOICE", "$Input.f == 2.5"),
    ("CHOICE", '$Input.s == "b"'),
    ("CHOICE", "$Input.s == `b`"),
    ("A45", "$Input.s == 'b'"),
    ("CHOICE", '$Input.s > "a"'),
    ("A09", '"Z" < "a"'),
    ("A09", '"é" > "z"'),
    ("A09", '"10" < "9"'),
    ("A09", '"" < "a"'),
    ("CHOICE", '$Input.s != ""'),
    ("issue 3", "$Input.big == 1180591620717411303424"),
    ("issue 3", "$Input.big > 1180591620717411303423"),
    ("A09", "1180591620717411303425 > 1180591620717411303424.0"),
    ("CHOICE", "$Input.n == 3 && $Input.t"),
    ("CHOICE", "$Input.n == 4 || $Input.t"),
    ("CHOICE", "!$Input.u"),
    ("CHOICE", "!!$Input.t"),
    ("CHOICE", "-$Input.n == -3"),
    ("CHOICE", "-$Input.n < 0"),
    ("CHOICE", "--$Input.n == 3"),
    ("CHOICE", "$Input.t"),
    ("CHOICE", "true"),
    ("CHOICE", "$Input.t == true"),
    ("A45", "$Input.z == null"),
    ("A09", "$Input.t != false"),
    ("CHOICE", "1 in $Input.list"),
    ("CHOICE", '"a" in $Input.list'),
    ("CHOICE", "true in $Input.list"),
    ("A45", "null in $Input.list"),
    ("CHOICE", "1.0 in $Input.list"),
    ("CHOICE", '"b" in $Input.map'),
    ("C02", '"a" in $Input.map'),
    ("A45", "$Input.n in [1, 2, 3]"),
    ("A10", "!$Input.u && $Input.t"),
    ("A10", "$Input.t || $Input.u && $Input.u"),
    ("A10", "($Input.t || $Input.u) && !$Input.u"),
    ("A10", '!("q" in $Input.map)'),
    ("A10", "($Input.n == 3) == true"),
    ("A37", "$Input.t || $Input.nope"),
    ("A37", "!($Input.u && $Input.nope)"),
    ("A11", "length($Input.list) == 5"),
    ("A11", "arrayContains($Input.list, 1)"),
    ("A11", 'intAdd($Input.n, 1) == 4 && get($Input.map, "b") == 1'),
    ("DATA", '$Context.Execution.Name == "run"'),
    ("DATA", "$Context.Execution.Input.x == 1"),
    ("5.3", "$Global.g == 1"),
    ("5.3", " \t( $Input.n==3 )\n"),
]
FALSE: list[tuple[str, str]] = [
    ("CHOICE", "$Input.n == 4"),
    ("CHOICE", '$Input.s == "B"'),
    ("C02", '"missing" in $Input.map'),
    ("CHOICE", "2 in $Input.list"),
    ("CHOICE", "false in [0, 1]"),
    ("CHOICE", "0 in [false]"),
    ("A10", "!$Input.t || $Input.u"),
    ("A37", "$Input.u && $Input.nope"),
    ("CHOICE", "false"),
    ("CHOICE", "$Input.t && $Input.u"),
]


@pytest.mark.parametrize(("source", "text"), TRUE)
def test_a_condition_holds(source: str, text: str) -> None:
    assert evaluate(text) is True


@pytest.mark.parametrize(("source", "text"), FALSE)
def test_a_condition_does_not_hold(source: str, text: str) -> None:
    assert evaluate(text) is False


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('$Input.n == "3"', "compares number with text"),
        ("$Input.n == true", "compares number with boolean"),
        ("$Input.z == 1", "compares null with number"),
        ("$Input.t < true", "compares boolean with boolean"),
        ("$Input.list == $Input.list", "compares array with array"),
        ("$Input.map != $Input.map", "compares object with object"),
        ("$Input.n", "$Input.n is number, not true or false"),
        ('"yes"', "is text, not true or false"),
        ("$Input.z", "is null"),
        ("!$Input.n", "$Input.n is number"),
        ("$Input.n && true", "$Input.n is number"),
        ("$Input.u || $Input.s", "$Input.s is text"),
        ("-$Input.s == 1", "'-' wants a number"),
        ("-$Input.t == 1", "'-' wants a number"),
        ('"a" in "abc"', "'in' wants an array or an object"),
        ("1 in $Input.map", "not text"),
        ("$Input.nope == 1", "has no key 'nope'"),
        ("$Input.nope", "has no key 'nope'"),
    ],
)
def test_types_that_do_not_fit_are_a_runtime_error(text: str, reason: str) -> None:
    """A09: never a silent false."""
    with pytest.raises(EvaluationError) as caught:
        evaluate(text)
    assert caught.value.name == "FnF.RuntimeError"
    assert reason in str(caught.value)
    assert str(caught.value).startswith("Condition: ")


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("$Input.n >> 3", 10),
        ("$Input.n = 3", 10),
        ("$Input.n == 3 and true", 15),
        ("$Input.n == 3)", 14),
        ("$Input.n === 3", 12),
        ("$Input.n <> 3", 11),
        ("$Input.n ~ 3", 10),
        ("$Input.n & true", 10),
        ("$Input.n | true", 10),
        ("$Input.n + 1 == 4", 10),
        ("$Input.n % 2 == 1", 10),
        ("1 < 2 < 3", 7),
        ("$Input.a in $Input.b in $Input.c", 22),
        ("($Input.n == 3", 15),
        ("()", 2),
        ("", 1),
        ("&& true", 1),
        ("true &&", 8),
        ("not $Input.t", 1),
        ("$Input.t ? 1 : 2", 10),
        ("True", 1),
        ("$Input.n == abc", 13),
        ("$Input.n == 3 // three", 15),
        ("$Input.n == .5", 13),
        ("$Input.n == 3; true", 14),
    ],
)
def test_an_unknown_operator_is_refused_before_the_run(text: str, column: int) -> None:
    """C03: none of these may ever reach Default."""
    with pytest.raises(ExpressionSyntaxError) as caught:
        compile_condition(text)
    assert caught.value.column == column


@pytest.mark.parametrize("value", [{"a": None}, {"a": 0}, {"a": ""}, {"a": False}, {"a": []}])
def test_a_key_that_is_present_is_found_whatever_its_value(value: dict[str, Any]) -> None:
    """C02."""
    assert evaluate('"a" in $Input', value) is True
    assert evaluate('"a" in $Input', {}) is False


def test_deep_parentheses_run_and_deeper_ones_are_refused() -> None:
    assert evaluate("(" * 60 + "true" + ")" * 60) is True
    assert evaluate("!" * 60 + "true") is True
    for text in ("(" * 20_000 + "true", "!" * 20_000 + "true", "-" * 20_000 + "1 == 1"):
        with pytest.raises(TooDeepError):
            compile_condition(text)


def test_a_chain_of_many_operands_needs_no_depth() -> None:
    assert evaluate(" || ".join(["false"] * 20_000 + ["true"])) is True
