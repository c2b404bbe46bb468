"""Pass, Succeed and the data flow every state shares (PASS, SUCC, IO, DATA; A08, A15, A36, A40)."""

from __future__ import annotations

from engine_kit import Row, rows

PASS = "- {Type: Pass, Name: a, End: true"

DATA_FLOW = rows(
    Row("PASS", "input is handed on", PASS + "}", {"n": 1}, input={"n": 1}),
    Row("PASS", "an empty input is an empty output", PASS + "}", {}),
    Row(
        "PASS",
        "InputConstructor replaces the input",
        PASS + ", InputConstructor: {A: 123}}",
        {"A": 123},
        input={"n": 1},
    ),
    Row(
        "IO",
        "InputConstructor reads the raw input (A36)",
        PASS + ", InputConstructor: {b.$: $Input.a}}",
        {"b": 1},
        input={"a": 1},
    ),
    Row("IO", "OutputConstructor replaces the output", PASS + ", OutputConstructor: {b: 2}}", {"b": 2}, input={"a": 1}),
    Row(
        "IO",
        "OutputConstructor reads $Output",
        PASS + ", OutputConstructor: {b.$: $Output.a}}",
        {"b": 1},
        input={"a": 1},
    ),
    Row(
        "IO",
        "OutputConstructor sees the constructed input",
        PASS + ", InputConstructor: {x: 7}, OutputConstructor: {y.$: $Input.x}}",
        {"y": 7},
    ),
    Row(
        "DATA",
        "$Context.Current.Input is $Input",
        PASS + ", InputConstructor: {x: 7}, OutputConstructor: {y.$: $Context.Current.Input.x}}",
        {"y": 7},
    ),
    Row("DATA", "$Context.Current.Name", PASS + ", OutputConstructor: {n.$: $Context.Current.Name}}", {"n": "a"}),
    Row("DATA", "$Context.Execution.Name", PASS + ", OutputConstructor: {n.$: $Context.Execution.Name}}", {"n": "run"}),
    Row(
        "DATA",
        "$Context.Execution.Input stays the execution's input",
        "- {Type: Pass, Name: a, Next: b, OutputConstructor: {}}\n"
        "- {Type: Pass, Name: b, End: true, OutputConstructor: {n.$: $Context.Execution.Input.n, i.$: $Input}}",
        {"n": 5, "i": {}},
        input={"n": 5},
    ),
    Row("A15", "RetryCount starts at 0", PASS + ", OutputConstructor: {n.$: $Context.Current.RetryCount}}", {"n": 0}),
    Row(
        "IO",
        "text starting with $ under a plain key is a constant",
        PASS + ", OutputConstructor: {n: $Input.x}}",
        {"n": "$Input.x"},
    ),
    Row(
        "IMS",
        "keys of nested maps are evaluated",
        PASS + ", OutputConstructor: {n: {m.$: $Input.x}}}",
        {"n": {"m": 1}},
        input={"x": 1},
    ),
    Row(
        "A40",
        "maps in lists are evaluated",
        PASS + ", OutputConstructor: {n: [{m.$: $Input.x}, $Input.x]}}",
        {"n": [{"m": 1}, "$Input.x"]},
        input={"x": 1},
    ),
    Row(
        "IO",
        "constants may be any JSON",
        PASS + ", OutputConstructor: {n: [1, 2.5, null, true, {a: b}]}}",
        {"n": [1, 2.5, None, True, {"a": "b"}]},
    ),
    Row("issue 3", "whole numbers of any size stay exact", PASS + "}", {"n": 10**60 + 1}, input={"n": 10**60 + 1}),
    Row("C02", "null is not absent", PASS + ", OutputConstructor: {b.$: $Input.a}}", {"b": None}, input={"a": None}),
    Row(
        "A08",
        "a missing path fails the execution",
        PASS + ", OutputConstructor: {b.$: $Input.nope}}",
        error="FnF.RuntimeError",
        cause="OutputConstructor.b",
    ),
    Row(
        "A08",
        "the cause names path and key",
        PASS + ", InputConstructor: {b.$: $Input.no.deep}}",
        error="FnF.RuntimeError",
        cause="$Input.no.deep",
    ),
    Row(
        "A08",
        "a path through text fails",
        PASS + ", OutputConstructor: {b.$: $Input.t.x}}",
        error="FnF.RuntimeError",
        cause="$Input.t.x",
        input={"t": "text"},
    ),
    Row(
        "A08",
        "an index out of range fails",
        PASS + ", OutputConstructor: {b.$: '$Input.t[3]'}}",
        error="FnF.RuntimeError",
        cause="$Input.t[3]",
        input={"t": [1]},
    ),
    Row(
        "FUNC",
        "a function of the wrong type fails",
        PASS + ", OutputConstructor: {b.$: 'intAdd($Input.t, 1)'}}",
        error="FnF.RuntimeError",
        cause="intAdd",
        input={"t": "1"},
    ),
    Row(
        "FUNC",
        "functions and paths nest",
        PASS + ", OutputConstructor: {b.$: \"format('{}-{}', $Input.a, intAdd(1, 2))\"}}",
        {"b": "x-3"},
        input={"a": "x"},
    ),
)


@DATA_FLOW
def test_pass_and_data_flow(row: Row) -> None:
    row.check()


SUCCEED = rows(
    Row("SUCC", "ends the execution", "- {Type: Succeed, Name: a}", {"n": 1}, input={"n": 1}, visited="a"),
    Row("SUCC, IMS", "End: true is tolerated", "- {Type: Succeed, Name: a, End: true}", {}),
    Row(
        "SUCC",
        "has both constructors",
        "- {Type: Succeed, Name: a, InputConstructor: {x: 1}, OutputConstructor: {y.$: $Output.x}}",
        {"y": 1},
    ),
    Row(
        "SUCC",
        "ends only its own scope",
        """
- Type: Parallel
  Name: p
  Branches: [{StartAt: s, States: [{Type: Succeed, Name: s}, {Type: Pass, Name: never, Next: s}]}]
  Next: after
- {Type: Succeed, Name: after}
""",
        {"Branch0": {}},
        visited="p s after",
    ),
    Row(
        "FDL",
        "states follow Next, not the order of the list",
        "- {Type: Pass, Name: a, Next: c}\n- {Type: Succeed, Name: b}\n- {Type: Pass, Name: c, Next: b}",
        {},
        visited="a c b",
    ),
    Row(
        "FDL",
        "End: true ends though states follow",
        "- {Type: Pass, Name: a, End: true}\n- {Type: Succeed, Name: b}",
        {},
        visited="a",
    ),
)


@SUCCEED
def test_succeed_and_order(row: Row) -> None:
    row.check()


def test_names_may_be_chinese() -> None:
    run = Row("FC, IMS", "", "- {Type: Pass, Name: 起草, Next: 审核}\n- {Type: Succeed, Name: 审核}", {}).check()
    assert run.visited() == ["起草", "审核"]


def test_random_values_depend_on_the_seed_alone() -> None:
    states = PASS + ", OutputConstructor: {u.$: uuid(), v.$: uuid(), r.$: 'randomInt(1, 1000000)'}}"
    from engine_kit import simulate

    first, second = simulate(states), simulate(states)
    assert first.output == second.output
    assert first.output["u"] != first.output["v"]
    assert 1 <= first.output["r"] <= 1000000
