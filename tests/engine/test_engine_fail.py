"""Fail: names an error, ends its scope, and is an ordinary failure to what encloses it (FAIL; A13, C62)."""

from __future__ import annotations

from engine_kit import Row, rows

IN_BRANCH = """
- Type: Parallel
  Name: p
  Branches: [{StartAt: f, States: [{Type: Fail, Name: f, Code: Rejected, Detail: no}]}]
  Catch: [{Errors: [Rejected], Next: after, OutputConstructor: {why.$: $Context.Current.Error.Detail}}]
  Next: after
- {Type: Succeed, Name: after}
"""


@rows(
    Row(
        "FAIL",
        "Code is the error, Detail its cause",
        "- {Type: Fail, Name: f, Code: Rejected, Detail: not good}",
        error="Rejected",
        cause="not good",
    ),
    Row(
        "FAIL", "End: true is tolerated", "- {Type: Fail, Name: f, Code: E, Detail: d, End: true}", error="E", cause="d"
    ),
    Row("C62", "Detail may be left out", "- {Type: Fail, Name: f, Code: E}", error="E"),
    Row(
        "A50",
        "without Code it has a name all the same",
        "- {Type: Fail, Name: f, Detail: d}",
        error="FnF.Fail",
        cause="d",
    ),
    Row(
        "A39",
        "Code.$ and Detail.$ evaluate",
        "- {Type: Fail, Name: f, Code.$: $Input.c, Detail.$: $Input.d}",
        error="X",
        cause="why",
        input={"c": "X", "d": "why"},
    ),
    Row(
        "A39",
        "a Code that is no text",
        "- {Type: Fail, Name: f, Code.$: $Input.c}",
        error="FnF.RuntimeError",
        cause="Code of f must be text, not number",
        input={"c": 3},
    ),
    Row(
        "FAIL",
        "InputConstructor comes first",
        "- {Type: Fail, Name: f, InputConstructor: {c: Y}, Code.$: $Input.c}",
        error="Y",
    ),
    Row("A13", "in a branch it can be caught by its Code", IN_BRANCH, {"why": "no"}, visited="p f after"),
    Row(
        "A13",
        "in a branch nothing else catches it",
        IN_BRANCH.replace("Errors: [Rejected]", "Errors: [Other]"),
        error="Rejected",
        cause="no",
        visited="p f",
    ),
    Row(
        "A13",
        "in an iteration it fails the Map",
        (
            "- {Type: Map, Name: m, ItemsPath: $Input.xs, End: true, Processor: {StartAt: f, States: "
            "[{Type: Fail, Name: f, Code: E, Detail.$: $Input.d}]}}"
        ),
        error="E",
        cause="one",
        input={"xs": [{"d": "one"}, {"d": "two"}]},
    ),
)
def test_fail(row: Row) -> None:
    row.check()
