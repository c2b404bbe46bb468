"""Order of steps, mappings and data rules of the older dialect, row by row."""

# ruff: noqa: E501 - a row is read as one line

from __future__ import annotations

from legacy_kit import Row, rows

PASS_A = "- {type: pass, name: a, outputMappings: [{target: x, source: 1}]}\n"


def mapped(source: str, given: str = "inputMappings: [], ") -> str:
    """Return a pass step whose output `v` comes from a source."""
    return f"- {{type: pass, name: p, {given}outputMappings: [{{target: v, source: {source}}}]}}"


def from_input(source: str) -> str:
    """Return a pass step that maps its list's input or local."""
    return f"- {{type: pass, name: p, inputMappings: [{{target: v, source: {source}}}]}}"


@rows(
    Row("3", "steps run in the order written", PASS_A + "- {type: succeed, name: b}", {"x": 1}, visited="a b"),
    Row(
        "3",
        "a goto leads forwards over steps",
        "- {type: choice, name: c, choices: [{condition: $.go, goto: z}]}\n- {type: fail, name: f}\n"
        "- {type: succeed, name: z}",
        {},
        input={"go": True},
        visited="c z",
    ),
    Row("3", "end: true ends the list", PASS_A.replace("}]}", "}], end: true}") + "- {type: fail, name: f}", {"x": 1}),
    Row("3", "succeed ends the list", PASS_A + "- {type: succeed, name: s}\n- {type: fail, name: f}", {"x": 1}),
    Row(
        "B09",
        "succeed in nested steps ends the nested list only",
        "- {type: choice, name: c, choices: [{condition: $.go, steps: [{type: succeed, name: s}, {type: fail, name: f}]}]}"
        "\n" + PASS_A,
        {"x": 1},
        input={"go": True},
        visited="c s a",
    ),
    Row(
        "2.4",
        "fail ends the flow under its error",
        "- {type: fail, name: f, error: E, cause: why}",
        error="E",
        cause="why",
    ),
    Row("2.4", "fail without error and cause", "- {type: fail, name: f}", error="FnF.Fail"),
    Row("B02", "a pass copies its mapped input", from_input("$input.a"), {"v": 7}, input={"a": 7}),
    Row("B02", "a pass without mappings copies its whole input", "- {type: pass, name: p}", {"a": 7}, input={"a": 7}),
)
def test_order_of_steps(row: Row) -> None:
    row.check()


@rows(
    Row("4", "a key of the input", from_input("$input.a"), {"v": 1}, input={"a": 1}),
    Row("4", "a nested key", from_input("$input.a.b"), {"v": 1}, input={"a": {"b": 1}}),
    Row("4", "an item of an array", from_input("'$input.a[1]'"), {"v": 6}, input={"a": [5, 6]}),
    Row("4", "a key of an item", from_input("'$input.a[0].k'"), {"v": 6}, input={"a": [{"k": 6}]}),
    Row("4", "a projection", from_input("'$input.a[*].k'"), {"v": [1, 2]}, input={"a": [{"k": 1}, {"k": 2}]}),
    Row("4", "a projection of whole items", from_input("'$input.a[*]'"), {"v": [1, 2]}, input={"a": [1, 2]}),
    Row(
        "4",
        "a nested projection",
        from_input("'$input.a[*].b[*].c'"),
        {"v": [[1], [2]]},
        input={"a": [{"b": [{"c": 1}]}, {"b": [{"c": 2}]}]},
    ),
    Row("4", "the whole input", from_input("$input"), {"v": {"a": 1}}, input={"a": 1}),
    Row("4", "the whole local", PASS_A + from_input("$local"), {"x": 1, "v": {"x": 1}}, input={"a": 1}),
    Row("4", "a key of the local", PASS_A + from_input("$local.x"), {"x": 1, "v": 1}),
    Row("4", "the flow's name", from_input("$context.flow.name"), {"v": "old"}),
    Row("4", "the execution's name", from_input("$context.execution.name"), {"v": "run"}),
    Row("4", "the step's event id", from_input("$context.step.eventId"), {"v": 2}),
    Row("4", "a text", from_input("abc"), {"v": "abc"}),
    Row("4", "a number", from_input("-1.5"), {"v": -1.5}),
    Row("4", "an empty text", from_input('""'), {"v": ""}),
    Row("4", "null", from_input("null"), {"v": None}),
    Row("4", "a boolean", from_input("false"), {"v": False}),
    Row("4", "an empty object", from_input("{}"), {"v": {}}),
    Row("4", "an empty array", from_input("[]"), {"v": []}),
    Row("11.3", "inline JSON", from_input('{"a": [1, {"b": null}]}'), {"v": {"a": [1, {"b": None}]}}),
    Row("B10", "a path inside a constant stays text", from_input("{a: $input.a}"), {"v": {"a": "$input.a"}}),
    Row("B04", "a key that is not there", from_input("$input.nope"), error="FnF.RuntimeError", cause="'nope'"),
    Row(
        "B04",
        "an item that is not there",
        from_input("'$input.a[2]'"),
        error="FnF.RuntimeError",
        cause="item 2",
        input={"a": [1]},
    ),
    Row(
        "B04",
        "a projection of no array",
        from_input("'$input.a[*].b'"),
        error="FnF.RuntimeError",
        cause="wants an array",
        input={"a": {}},
    ),
    Row(
        "B04",
        "an item without the projected key",
        from_input("'$input.a[*].b'"),
        error="FnF.RuntimeError",
        cause="'b'",
        input={"a": [{"b": 1}, {}]},
    ),
    Row(
        "4",
        "later mappings of one target win",
        "- {type: pass, name: p, inputMappings: [{target: v, source: 1}, {target: v, source: 2}]}",
        {"v": 2},
    ),
    Row(
        "4",
        "outputMappings read the mapped input",
        "- {type: pass, name: p, inputMappings: [{target: a, source: 1}], outputMappings: [{target: v, source: $input.a}]}",
        {"v": 1},
    ),
    Row(
        "4",
        "an empty list of outputMappings puts nothing out",
        "- {type: pass, name: p, outputMappings: []}",
        {},
        input={"a": 1},
    ),
    Row(
        "4",
        "the local wins over the input on equal keys",
        PASS_A + "- {type: pass, name: p}",
        {"x": 1, "y": 2},
        input={"x": 0, "y": 2},
    ),
    Row(
        "4",
        "later outputs overwrite",
        PASS_A + "- {type: pass, name: b, outputMappings: [{target: x, source: 2}]}",
        {"x": 2},
    ),
    Row(
        "2.1",
        "the flow's inputMappings",
        "- {type: pass, name: p}",
        {"b": 1},
        head="inputMappings: [{target: b, source: $input.a}]",
        input={"a": 1},
    ),
    Row(
        "2.1",
        "the flow's outputMappings",
        PASS_A,
        {"r": 1, "i": 5},
        head="outputMappings: [{target: r, source: $local.x}, {target: i, source: $input.a}]",
        input={"a": 5},
    ),
)
def test_data_rules(row: Row) -> None:
    row.check()
