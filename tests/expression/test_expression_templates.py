"""Constructors: maps with `.$` keys (language page 4.2, A08, A40)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from local_sim.expression import (
    EvaluationError,
    ExecutionInfo,
    ExpressionSyntaxError,
    Position,
    Scope,
    TooDeepError,
    compile_template,
)

DATA = {"a": 1, "list": [1, 2], "deep": {"x": {"y": "z"}}}


def build(template: dict[str, Any]) -> dict[str, Any]:
    return compile_template(template, name="Parameters").evaluate(Scope(ExecutionInfo("run", {}), input=DATA))


@pytest.mark.parametrize(
    ("source", "template", "expected"),
    [
        ("IO", {}, {}),
        ("IO", {"k": 1}, {"k": 1}),
        ("IO", {"k.$": "$Input.a"}, {"k": 1}),
        ("IO", {"k": "$Input.a"}, {"k": "$Input.a"}),
        ("IO", {"a": 1, "b.$": "$Input.a", "c": 2}, {"a": 1, "b": 1, "c": 2}),
        ("IMS", {"body": {"k.$": "$Input.deep.x.y", "c": True}}, {"body": {"k": "z", "c": True}}),
        ("MAPI", {"items": [{"n": 1}, {"n": 2}]}, {"items": [{"n": 1}, {"n": 2}]}),
        ("A40", {"items": [{"n.$": "$Input.a"}, "$Input.a", 3]}, {"items": [{"n": 1}, "$Input.a", 3]}),
        ("A40", {"items": [[{"n.$": "$Input.a"}]]}, {"items": [[{"n": 1}]]}),
        ("4.2", {"f.$": "format('{}!', $Input.a)"}, {"f": "1!"}),
        ("4.2", {"a.b.$": "$Input.a"}, {"a.b": 1}),
        ("4.2", {"a.$.$": "$Input.a"}, {"a.$": 1}),
        ("4.2", {"n": None, "f": 1.5, "t": "text"}, {"n": None, "f": 1.5, "t": "text"}),
        ("C04", {"v.$": "$Input"}, {"v": DATA}),
    ],
)
def test_a_constructor_builds_the_documented_object(source: str, template: dict[str, Any], expected: Any) -> None:
    assert build(template) == expected


def test_keys_keep_the_order_of_the_definition() -> None:
    assert list(build({"z.$": "$Input.a", "a": 1, "m.$": "$Input.a", "b": 2})) == ["z", "a", "m", "b"]


def test_a_constant_constructor_is_recognised_and_built_once() -> None:
    template = compile_template({"a": [1, {"b": 2}]}, name="x")
    assert template.is_constant
    assert template.constant == {"a": [1, {"b": 2}]}
    scope = Scope(ExecutionInfo("run", {}))
    assert template.evaluate(scope) is template.evaluate(scope)


def test_evaluation_changes_neither_the_input_nor_the_constants() -> None:
    template = compile_template({"c": {"x": [1]}, "d.$": "$Input.deep", "e.$": "jsonMerge($Input.deep, {'q': 1})"})
    before = copy.deepcopy(DATA)
    scope = Scope(ExecutionInfo("run", {}), input=DATA)
    first = template.evaluate(scope)
    first["c2"] = 1
    assert "c2" not in template.evaluate(scope)
    assert before == DATA


def test_a_failure_names_field_key_expression_and_place() -> None:
    """C01: never a silent null."""
    template = compile_template(
        {"body": {"items": [{"missing.$": "$Input.nope.deep"}]}},
        name="InputConstructor",
        locate=lambda path: Position(7, 21),
    )
    with pytest.raises(EvaluationError) as caught:
        template.evaluate(Scope(ExecutionInfo("run", {}), input={"other": 1}))
    error = caught.value
    assert error.key == "InputConstructor.body.items.0.missing"
    assert error.expression == "$Input.nope.deep"
    assert error.position == Position(7, 21)
    assert str(error) == (
        "InputConstructor.body.items.0.missing: $Input.nope.deep: the path matches nothing: "
        "$Input has no key 'nope'; it has 'other' (line 7, column 21)"
    )


@pytest.mark.parametrize(
    ("template", "key"),
    [
        ({"a": {"b.$": "$Inpt"}}, "P.a.b.$"),
        ({"a.$": 5}, "P.a.$"),
        ({"a.$": None}, "P.a.$"),
        ({"a.$": {"b": "$Input.x"}}, "P.a.$"),
        ({"a.$": "hello"}, "P.a.$"),
        ({".$": "$Input"}, "P..$"),
        ({"a": 1, "a.$": "$Input.a"}, "P.a.$"),
        ({"l": [{"a.$": "("}]}, "P.l.0.a.$"),
    ],
)
def test_a_broken_constructor_is_refused_with_its_key(template: dict[str, Any], key: str) -> None:
    with pytest.raises(ExpressionSyntaxError) as caught:
        compile_template(template, name="P")
    assert caught.value.key == key


def test_all_faults_of_a_constructor_are_collected() -> None:
    found: list[tuple[object, ...]] = []
    compile_template({"a.$": "(", "b": {"c.$": "$X"}}, on_error=lambda path, error: found.append(path))
    assert found == [("a.$",), ("b", "c.$")]


def test_sixty_levels_run_and_a_thousand_are_refused() -> None:
    template: dict[str, Any] = {"v.$": "$Input.a"}
    for _ in range(60):
        template = {"m": template}
    value: Any = build(template)
    for _ in range(60):
        value = value["m"]
    assert value == {"v": 1}
    for _ in range(900):
        template = {"m": template}
    with pytest.raises(TooDeepError):
        compile_template(template)
