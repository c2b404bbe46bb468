"""Choices and conditions of the older dialect, row by row."""

from __future__ import annotations

from legacy_kit import Row, body, rows

F = "resourceArn: 'acs:fc:::services/s/functions/f'"


def choice(condition: str, rest: str = "") -> str:
    return (
        f"- type: choice\n  name: c\n  choices:\n    - condition: {condition}\n      goto: yes1\n{rest}"
        "- {type: pass, name: no1, outputMappings: [{target: t, source: false}], end: true}\n"
        "- {type: pass, name: yes1, outputMappings: [{target: t, source: true}]}"
    )


YES, NO = {"t": True}, {"t": False}


@rows(
    Row("5", "equal texts", choice("""'$.s == "ready"'"""), YES, input={"s": "ready"}),
    Row("5", "unequal texts", choice("""'$.s != "ready"'"""), NO, input={"s": "ready"}),
    Row("5", "less", choice("$.n < 3"), YES, input={"n": 2}),
    Row("5", "less or equal", choice("$.n <= 3"), YES, input={"n": 3}),
    Row("5", "greater", choice("$.n > 3"), NO, input={"n": 3}),
    Row("5", "greater or equal", choice("$.n >= 3"), YES, input={"n": 3}),
    Row("5", "and", choice("$.n > 1 && $.n < 3"), YES, input={"n": 2}),
    Row("5", "or", choice("$.n < 1 || $.n > 3"), NO, input={"n": 2}),
    Row("5", "brackets", choice("($.n < 1 || $.n > 1) && $.b"), YES, input={"n": 2, "b": True}),
    Row("5", "a bare boolean", choice("$.b"), NO, input={"b": False}),
    Row("5", "two paths", choice("$.a == $.b"), YES, input={"a": 1, "b": 1}),
    Row("5", "a negative number", choice("$.n == -1"), YES, input={"n": -1}),
    Row("5", "an empty text", choice("""'$.s != ""'"""), NO, input={"s": ""}),
    Row("5", "the text true", choice("""'$.s == "true"'"""), YES, input={"s": "true"}),
    Row(
        "B04",
        "text against boolean",
        choice("""'$.s == "true"'"""),
        error="FnF.RuntimeError",
        cause="different types",
        input={"s": True},
    ),
    Row("B04", "a missing path", choice("$.gone == 1"), error="FnF.RuntimeError", cause="gone"),
    Row("B04", "no boolean", choice("$.n"), error="FnF.RuntimeError", cause="not true or false", input={"n": 1}),
    Row("2.4", "neither match nor default: the flow goes on", choice("$.b"), NO, input={"b": False}, visited="c no1"),
    Row("2.4", "the default's goto", choice("$.b", "  default: {goto: yes1}\n"), YES, input={"b": False}),
    Row(
        "2.4",
        "the default's steps",
        choice("$.b", "  default: {steps: [{type: pass, name: d, outputMappings: [{target: u, source: 1}]}]}\n"),
        {"u": 1, "t": False},
        input={"b": False},
        visited="c d no1",
    ),
    Row(
        "2.4",
        "the first true condition wins",
        "- {type: choice, name: c, choices: [{condition: $.n > 1, steps: [{type: pass, name: a, inputMappings: []}]},"
        " {condition: $.n > 0, steps: [{type: pass, name: b, inputMappings: []}]}]}",
        {},
        input={"n": 2},
        visited="c a",
    ),
    Row(
        "B09",
        "nested steps, then goto",
        "- {type: choice, name: c, choices: [{condition: $.b, steps: [{type: pass, name: a, outputMappings: "
        "[{target: v, source: 1}]}], goto: z}]}\n- {type: fail, name: f}\n- {type: succeed, name: z}",
        {"v": 1},
        input={"b": True},
        visited="c a z",
    ),
    Row(
        "2.4",
        "the choice's local is its branch's result",
        "- {type: choice, name: c, choices: [{condition: $.b, steps: [{type: pass, name: a, outputMappings: "
        "[{target: v, source: 1}]}]}], outputMappings: [{target: w, source: $local.v}]}",
        {"w": 1},
        input={"b": True},
    ),
    Row(
        "12",
        "a loop inside a choice branch",
        f"- type: choice\n  name: c\n  choices:\n    - condition: $.b\n      steps:\n"
        f"        - {{type: task, name: t, {F}}}\n"
        "        - {type: choice, name: again, choices: [{condition: $.n < 3, goto: t}]}\n",
        {"n": 3},
        input={"b": True},
        tasks={"t": (lambda laps: lambda command: body({"n": next(laps)}))(iter((1, 2, 3)))},
        visited="c t again t again t again",
    ),
)
def test_choices(row: Row) -> None:
    row.check()
