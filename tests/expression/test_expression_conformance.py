"""Expressions row by row; each row names its source: a page of the language reference, a case or an assumption."""

from __future__ import annotations

from typing import Any

import pytest

from local_sim.expression import (
    ITEM_ROOTS,
    OUTPUT_ROOTS,
    ArityError,
    EvaluationError,
    ExecutionInfo,
    ExpressionSyntaxError,
    NotAllowedHereError,
    Scope,
    SeededRandom,
    TooDeepError,
    UnknownNameError,
    compile_expression,
)

BIG = 123456789012345678901234567890


def scope() -> Scope:
    one = Scope(
        ExecutionInfo("run-1", {"order": 7}, "acs:ram::1:role/r"),
        state="here",
        input={
            "a": {"b": {"c": 1}},
            "list": [{"x": 1}, {"x": 2}],
            "text": "héllo",
            "null": None,
            "false": False,
            "big": BIG,
            "Content-Type": "json",
            "键": "值",
            "words": "a,b,,c",
            "json": '{"k": [1, 2.5, null]}',
            "nums": [1, 2, 3, 1, 1.0, True, True, "1"],
        },
        output={"Body": {"receipt": 9}, "Code": 200},
        item={"id": 3},
        globals={"seen": [1, 2]},
        random=SeededRandom("seed"),
    )
    one.error_code, one.error_detail = "CardDeclined", "no money"
    one.retry_count, one.task_token = 2, "token-1"
    return one


VALUES: list[tuple[str, str, Any]] = [
    ("DATA", "$Context.Execution.Name", "run-1"),
    ("DATA", "$Context.Execution.Input", {"order": 7}),
    ("DATA", "$Context.Execution.Input.order", 7),
    ("DATA", "$Context.Execution.RoleArn", "acs:ram::1:role/r"),
    ("DATA", "$Context.Current.Name", "here"),
    ("DATA", "$Context.Current.Input.a.b.c", 1),
    ("DATA", "$Context.Current.Output.Body.receipt", 9),
    ("DATA", "$Context.Current.Error.Code", "CardDeclined"),
    ("DATA", "$Context.Current.Error.Detail", "no money"),
    ("DATA", "$Context.Current.Error", {"Code": "CardDeclined", "Detail": "no money"}),
    ("DATA, A15", "$Context.Current.RetryCount", 2),
    ("DATA", "$Context.Current.TaskToken", "token-1"),
    ("IO", "$Global.seen", [1, 2]),
    ("IO", "$Global", {"seen": [1, 2]}),
    ("MAPD", "$Item.id", 3),
    ("IO", "$Output.Body", {"receipt": 9}),
    ("IMS", "$Input.list[1].x", 2),
    ("IMS", "$Input.list[0]", {"x": 1}),
    ("C02", "$Input.null", None),
    ("C02", "$Input.false", False),
    ("FDL", "$Input.键", "值"),
    ("A43", "$Input.Content-Type", "json"),
    ("A43", '$Input["Content-Type"]', "json"),
    ("A43", "$Input['a'].b['c']", 1),
    ("issue 3", "$Input.big", BIG),
    ("FUNC", "arrayContains($Input.nums, 3)", True),
    ("FUNC", "arrayContains($Input.nums, 9)", False),
    ("FUNC", "arrayContains([1, 2], true)", False),
    ("FUNC", "arrayContains([{'a': [1]}], {'a': [1.0]})", True),
    ("FUNC", "arrayUnique([1, 2, 3, 1])", [1, 2, 3]),
    ("FUNC", "arrayUnique($Input.nums)", [1, 2, 3, True, "1"]),
    ("FUNC", "arrayUnique([])", []),
    ("FUNC", "toArray()", []),
    ("FUNC", "toArray($Input.big, 'x', null)", [BIG, "x", None]),
    ("FUNC", "format('{}-{}', 'a', 1)", "a-1"),
    ("A46", "format('no places')", "no places"),
    ("A46", "format('{}', '{}')", "{}"),
    ("A46", 'format(\'{} {} {}\', true, null, [1, {"k": "é"}])', 'true null [1,{"k":"é"}]'),
    ("A46", "format('{}', $Input.big)", str(BIG)),
    ("A38", "length($Input.text)", 5),
    ("A38", "length('😀')", 1),
    ("FUNC", "length($Input.list)", 2),
    ("FUNC", "length({})", 0),
    ("FUNC", "split($Input.words, ',')", ["a", "b", "", "c"]),
    ("FUNC", "split('', ',')", [""]),
    ("A38", "regexMatchString('order-17', '[0-9]+')", True),
    ("A38", "regexMatchString('order-17', '^[0-9]+$')", False),
    ("A59", "regexMatchString('价格', `\\p{Han}+`)", True),
    ("A38", "get($Input.list, 1)", {"x": 2}),
    ("A38", "get($Input, 'Content-Type')", "json"),
    ("A41", "intAdd(1, -2)", -1),
    ("issue 3", "intAdd($Input.big, 1)", BIG + 1),
    ("A38", 'mapKeys({"b": 1, "a": 2})', ["b", "a"]),
    ("A38", 'mapValues({"b": 1, "a": 2})', [1, 2]),
    ("FUNC", "jsonMerge({'a': 1, 'b': {'x': 1}}, {'b': {'y': 2}})", {"a": 1, "b": {"y": 2}}),
    ("FUNC", "stringToJson($Input.json)", {"k": [1, 2.5, None]}),
    ("FUNC", "fromJSON($Input.json)", {"k": [1, 2.5, None]}),
    ("FUNC", "stringToJson('12345678901234567890123')", 12345678901234567890123),
    ("FUNC", "fromBase64('aMOpbGxv')", "héllo"),
    ("FUNC", "hash('abc', 'MD5')", "900150983cd24fb0d6963f7d28e17f72"),
    ("FUNC", "hash('abc', 'SHA-1')", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ("FUNC", "hash('', 'SHA-256')", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("FUNC", "length(hash('abc', 'SHA-512'))", 128),
    ("IMS", "length(uuid())", 36),
    ("A38", "randomInt(5, 5)", 5),
    ("A44", '"text"', "text"),
    ("A44", "-12.5", -12.5),
    ("A44", "true", True),
    ("A44", '[1, {"a": null}]', [1, {"a": None}]),
    ("A58", r'"a\"b\\c\nd\u00e9\ud83d\ude00"', 'a"b\\c\ndé😀'),
    ("A58", r"'it\'s'", "it's"),
    ("A58", r"`a\d`", r"a\d"),
    ("FUNC", " format ( '{}' , $Input.a.b.c ) ", "1"),
]


@pytest.mark.parametrize(("source", "text", "expected"), VALUES, ids=[f"{s}: {t}" for s, t, _ in VALUES])
def test_an_expression_has_the_documented_value(source: str, text: str, expected: Any) -> None:
    value = compile_expression(text, roots=OUTPUT_ROOTS | ITEM_ROOTS).evaluate(scope())
    assert value == expected
    assert [type(one) for one in value] == [type(one) for one in expected] if isinstance(expected, list) else True
    assert type(value) is type(expected)


FAILING: list[tuple[str, str, str]] = [
    ("A08, C01", "$Input.nope.deep", "$Input has no key 'nope'"),
    ("A08", "$Input.a.b.nope", "$Input.a.b has no key 'nope'; it has 'c'"),
    ("A08", "$Input.worsd", "did you mean 'words'?"),
    ("A08", "$Input.list[2]", "has 2 item(s), there is no [2]"),
    ("A08", "$Input.list.x", "$Input.list is an array, not an object"),
    ("A08", "$Input.text[0]", "$Input.text is text, not an array"),
    ("A08", "$Input.text.x", "is text, not an object"),
    ("A08", "$Input.null.x", "$Input.null is null, not an object"),
    ("A08", "$Input.a[0]", "$Input.a is an object, not an array"),
    ("A08", "$Context.Execution.Input.nope", "$Context.Execution.Input has no key 'nope'"),
    ("A08", "length(5)", "length wants array or object or text, got number"),
    ("A08", "arrayUnique('x')", "arrayUnique wants array, got text"),
    ("A46", "format('{} {}', 1)", "2 place(s) {} for 1 value(s)"),
    ("A46", "format('{}', 1, 2)", "1 place(s) {} for 2 value(s)"),
    ("A08", "format(1)", "format wants text"),
    ("A38", "get([1], 1)", "there is no index 1"),
    ("A38", "get([1], -1)", "there is no index -1"),
    ("A38", "get([1], '0')", "whole number"),
    ("A38", "get({}, 'k')", "there is no key 'k'"),
    ("A38", "get('x', 0)", "array or object"),
    ("A41", "intAdd(1.5, 1)", "intAdd wants whole number, got number with a fraction"),
    ("A41", "intAdd(true, 1)", "got boolean"),
    ("A41", "randomInt(1.5, 2)", "whole number"),
    ("A38", "randomInt(2, 1)", "2 is above 1"),
    ("FUNC", "hash('x', 'sha-256')", "unknown algorithm 'sha-256'"),
    ("FUNC", "fromBase64('?')", "not Base64"),
    ("FUNC", "fromBase64('/w==')", "not UTF-8"),
    ("FUNC", "stringToJson('{')", "not valid JSON"),
    ("FUNC", "stringToJson('NaN')", "not valid JSON"),
    ("FUNC", "stringToJson('1e999')", "out of range"),
    ("FUNC", 'stringToJson(\'{"a":1,"a":2}\')', "key 'a' twice"),
    ("FUNC", r"stringToJson(`" + '"\\ud800"' + "`)", "surrogate"),
    ("A48", "stringToJson(format('{}{}', '" + "9" * 3000 + "', '" + "9" * 3000 + "'))", "not valid JSON"),
    ("A38", "split('a', '')", "separator is empty"),
    ("A59", "regexMatchString('a', '(')", "regexMatchString"),
    ("A59", "regexMatchString('a', '(?=a)')", "regexMatchString"),
    ("A08", "jsonMerge({}, [])", "jsonMerge wants object, got array"),
    ("A08", "mapKeys([])", "mapKeys wants object"),
]


@pytest.mark.parametrize(("source", "text", "reason"), FAILING, ids=[f"{s}: {t[:60]}" for s, t, _ in FAILING])
def test_data_that_does_not_fit_is_a_runtime_error(source: str, text: str, reason: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        compile_expression(text).evaluate(scope())
    assert caught.value.name == "FnF.RuntimeError"
    assert reason in caught.value.reason


REFUSED: list[tuple[str, str, type[ExpressionSyntaxError], int]] = [
    ("4.1", "$input.x", UnknownNameError, 1),
    ("4.1", "$Foo", UnknownNameError, 1),
    ("1.3", "$context.task.token", UnknownNameError, 1),
    ("4.1", "$Context.Task.Token", UnknownNameError, 1),
    ("4.1", "$Context.Current.TaskTokn", UnknownNameError, 1),
    ("4.1", "$Context.Execution.Name.x", UnknownNameError, 1),
    ("4.1", "$Context.Current.Error.Message", UnknownNameError, 1),
    ("A32", "$Context.Execution.Environment", UnknownNameError, 1),
    ("4.1", "$Output.Body", NotAllowedHereError, 1),
    ("4.1", "$Context.Current.Output", NotAllowedHereError, 1),
    ("4.1", "format('{}', $Item.x)", NotAllowedHereError, 14),
    ("A59", "toBase64('x')", UnknownNameError, 1),
    ("8", "format('{}', lenght($Input))", UnknownNameError, 14),
    ("8", "length()", ArityError, 1),
    ("8", "length($Input, 1)", ArityError, 1),
    ("8", "format()", ArityError, 1),
    ("8", "uuid(1)", ArityError, 1),
    ("4.2", "toArray(" * 11 + ")" * 11, TooDeepError, 81),
    ("A42", "[" * 65 + "]" * 65, TooDeepError, 65),
    ("4.2", "hello", ExpressionSyntaxError, 1),
    ("4.2", "length", ExpressionSyntaxError, 1),
    ("4.2", "", ExpressionSyntaxError, 1),
    ("4.2", "$", ExpressionSyntaxError, 1),
    ("4.2", "${name}", ExpressionSyntaxError, 1),
    ("A44", "$Input.n > 3", ExpressionSyntaxError, 10),
    ("A44", "$Input.a && $Input.b", ExpressionSyntaxError, 10),
    ("A44", "($Input.a)", ExpressionSyntaxError, 1),
    ("A44", "$Input.a + 1", ExpressionSyntaxError, 10),
    ("A43", "$Input.a[*]", ExpressionSyntaxError, 10),
    ("A43", "$Input.a[-1]", ExpressionSyntaxError, 10),
    ("A43", "$Input.a[1:2]", ExpressionSyntaxError, 11),
    ("A43", "$Input..a", ExpressionSyntaxError, 7),
    ("A43", "$Input.", ExpressionSyntaxError, 7),
    ("A43", "$Input.a[01]", ExpressionSyntaxError, 11),
    ("A43", "$Input.a[", ExpressionSyntaxError, 10),
    ("8", "format('a'", ExpressionSyntaxError, 11),
    ("8", "format('a',)", ExpressionSyntaxError, 12),
    ("8", "format('a' 'b')", ExpressionSyntaxError, 12),
    ("8", "toArray([$Input.a])", ExpressionSyntaxError, 10),
    ("8", "toArray({a: 1})", ExpressionSyntaxError, 10),
    ("8", "toArray({'a': 1, 'a': 2})", ExpressionSyntaxError, 18),
    ("A58", '"open', ExpressionSyntaxError, 1),
    ("A58", r'"\d"', ExpressionSyntaxError, 2),
    ("A58", r'"\ud800"', ExpressionSyntaxError, 1),
    ("8", "007", ExpressionSyntaxError, 1),
    ("8", "1.", ExpressionSyntaxError, 1),
    ("8", "1e999", ExpressionSyntaxError, 1),
    ("A48", "9" * 5000, ExpressionSyntaxError, 1),
    ("8", "$Input.a )", ExpressionSyntaxError, 10),
    ("8", "toArray(--1)", ExpressionSyntaxError, 9),
    ("8", "$Input.a @", ExpressionSyntaxError, 10),
]


@pytest.mark.parametrize(("source", "text", "kind", "column"), REFUSED, ids=[f"{s}: {t[:40]}" for s, t, *_ in REFUSED])
def test_a_broken_expression_is_refused_with_its_column(
    source: str, text: str, kind: type[ExpressionSyntaxError], column: int
) -> None:
    with pytest.raises(ExpressionSyntaxError) as caught:
        compile_expression(text, name="x.$")
    assert type(caught.value) is kind
    assert caught.value.column == column
    assert str(caught.value).startswith("x.$: ")


def test_ten_nested_calls_are_allowed() -> None:
    value = compile_expression("toArray(" * 10 + ")" * 10).evaluate(scope())
    for _ in range(9):
        (value,) = value
    assert value == []


def test_the_proposed_fix_names_the_right_root() -> None:
    with pytest.raises(UnknownNameError) as caught:
        compile_expression("$input.x")
    assert caught.value.fix == "did you mean $Input?"


def test_a_value_without_an_error_being_handled_is_a_runtime_error() -> None:
    bare = Scope(ExecutionInfo("run", {}))
    for text in (
        "$Context.Current.Error.Code",
        "$Context.Current.TaskToken",
        "$Input.x",
        "$Output.x",
        "$Item.x",
        "$Item",
        "uuid()",
    ):
        with pytest.raises(EvaluationError):
            compile_expression(text, roots=OUTPUT_ROOTS | ITEM_ROOTS).evaluate(bare)


def test_the_whole_context_leaves_out_what_has_no_value() -> None:
    bare = Scope(ExecutionInfo("run", {"a": 1}), state="s", input={})
    assert compile_expression("$Context").evaluate(bare) == {
        "Execution": {"Name": "run", "Input": {"a": 1}, "RoleArn": ""},
        "Current": {"Name": "s", "RetryCount": 0, "Input": {}},
    }
    full = compile_expression("$Context.Current").evaluate(scope())
    assert (full["TaskToken"], full["Error"]["Code"]) == ("token-1", "CardDeclined")


def test_format_refuses_to_fill_the_memory() -> None:
    text = "format('" + "{}" * 100 + "'" + ", $Input.t" * 100 + ")"
    with pytest.raises(EvaluationError, match="longer than"):
        compile_expression(text).evaluate(Scope(ExecutionInfo("r", {}), input={"t": "x" * 60_000}))


def test_a_hostile_pattern_ends_at_once() -> None:
    value = compile_expression("regexMatchString($Input.t, '(a+)+$')").evaluate(
        Scope(ExecutionInfo("r", {}), input={"t": "a" * 50_000 + "b"})
    )
    assert value is False
