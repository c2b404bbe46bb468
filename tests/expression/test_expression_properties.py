"""Laws of expressions: printing and parsing, no crash on any text, the same draws from the same seed."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from local_sim.expression import (
    Call,
    Compare,
    EvaluationError,
    ExecutionInfo,
    ExpressionSyntaxError,
    Literal,
    Logic,
    Node,
    Path,
    Scope,
    SeededRandom,
    Unary,
    compile_condition,
    compile_expression,
    compile_template,
    parse_condition,
    parse_expression,
    unparse,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
paths = st.builds(
    lambda root, steps: Path(root, tuple(steps)),
    st.sampled_from(["$Input", "$Global"]),
    st.lists(texts | st.integers(0, 999_999_999), max_size=4),
)
literals = st.builds(Literal, json_values)


def calls(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return st.one_of(
        st.builds(lambda a: Call("toArray", tuple(a)), st.lists(inner, max_size=3)),
        st.builds(lambda a, b: Call("get", (a, b)), inner, inner),
        st.just(Call("uuid", ())),
    )


expressions = st.recursive(paths | literals, calls, max_leaves=6)


def operators(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    prefixed = inner.filter(lambda node: not (isinstance(node, Literal) and type(node.value) in (int, float)))
    logic = st.builds(
        lambda op, parts: Logic(op, tuple(parts)),
        st.sampled_from(["&&", "||"]),
        st.lists(inner, min_size=2, max_size=3),
    )
    return st.one_of(
        calls(inner),
        st.builds(Unary, st.sampled_from(["!", "-"]), prefixed),
        st.builds(Compare, st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in"]), inner, inner),
        logic,
    )


conditions = st.recursive(paths | literals, operators, max_leaves=8)


def same_tree(first: Node, second: Node) -> bool:
    return first == second and strip(first) == strip(second)


def strip(node: Any) -> Any:
    if isinstance(node, Literal):
        return ("literal", repr(node.value))
    if isinstance(node, Path):
        return ("path", node.root, node.steps)
    if isinstance(node, Call):
        return ("call", node.name, [strip(part) for part in node.arguments])
    if isinstance(node, Unary):
        return ("unary", node.operator, strip(node.operand))
    if isinstance(node, Compare):
        return ("compare", node.operator, strip(node.left), strip(node.right))
    return ("logic", node.operator, [strip(part) for part in node.operands])


@given(expressions)
def test_an_expression_printed_and_parsed_again_is_equal(tree: Node) -> None:
    assert same_tree(parse_expression(unparse(tree)), tree)


@given(conditions)
def test_a_condition_printed_and_parsed_again_is_equal(tree: Node) -> None:
    assert same_tree(parse_condition(unparse(tree)), tree)


@given(conditions)
def test_printing_is_stable(tree: Node) -> None:
    text = unparse(tree)
    assert unparse(parse_condition(text)) == text


grammar = st.lists(
    st.sampled_from(
        [
            "$Input",
            "$Output",
            "$Context.Current",
            ".a",
            "[0]",
            "['k']",
            "(",
            ")",
            "!",
            "-",
            "&&",
            "||",
            "==",
            "<",
            "in",
            "1",
            "2.5",
            '"x"',
            "'y'",
            "`z`",
            "true",
            "null",
            "format",
            "length",
            "get",
            "uuid()",
            ",",
            "[",
            "]",
            "{",
            "}",
            ":",
            " ",
            "\\",
            "$",
        ]
    ),
    max_size=30,
).map("".join)


@given(grammar | st.text(max_size=60), json_values)
def test_no_text_and_no_data_cause_anything_but_the_two_errors(text: str, data: Any) -> None:
    scope = Scope(ExecutionInfo("run", data), input=data, random=SeededRandom("s"))
    for compiler in (compile_expression, compile_condition):
        with contextlib.suppress(ExpressionSyntaxError, EvaluationError):
            compiler(text).evaluate(scope)


@given(st.dictionaries(texts | texts.map(lambda text: text + ".$"), json_values | grammar, max_size=4))
def test_any_constructor_is_compiled_or_refused(template: dict[str, Any]) -> None:
    try:
        compiled = compile_template(template, name="x")
        value = compiled.evaluate(Scope(ExecutionInfo("run", {}), input={}, random=SeededRandom("s")))
    except (ExpressionSyntaxError, EvaluationError):
        return
    assert set(value) == {key.removesuffix(".$") for key in template}


@given(json_values)
def test_a_constant_constructor_gives_back_what_was_written(value: Any) -> None:
    template = compile_template({"plain": value if not has_suffix(value) else None})
    assert template.evaluate(Scope(ExecutionInfo("run", {}))) == {"plain": value if not has_suffix(value) else None}


def has_suffix(value: Any) -> bool:
    if isinstance(value, dict):
        return any(key.endswith(".$") or has_suffix(inner) for key, inner in value.items())
    return isinstance(value, list) and any(map(has_suffix, value))


@given(st.text(max_size=20), st.integers(), st.integers(0, 2**140))
def test_the_same_seed_draws_the_same_values_within_the_bounds(seed: str, low: int, width: int) -> None:
    first, second = SeededRandom(seed), SeededRandom(seed)
    drawn = [first.randint(low, low + width) for _ in range(3)]
    assert drawn == [second.randint(low, low + width) for _ in range(3)]
    assert all(low <= value <= low + width for value in drawn)
    assert first.uuid() == second.uuid() != first.uuid()


def test_every_value_of_a_small_range_is_drawn() -> None:
    source = SeededRandom("seed")
    assert {source.randint(1, 6) for _ in range(200)} == {1, 2, 3, 4, 5, 6}
