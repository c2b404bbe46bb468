"""Succeed: a Pass that ends its scope (SUCC, IMS)."""

from __future__ import annotations

from engine_kit import Row, rows


@rows(
    Row("SUCC", "hands its input on", "- {Type: Succeed, Name: s}", {"a": 1}, input={"a": 1}),
    Row(
        "SUCC",
        "has both constructors",
        "- {Type: Succeed, Name: s, InputConstructor: {b.$: $Input.a}, OutputConstructor: {c.$: $Output.b}}",
        {"c": 1},
        input={"a": 1},
    ),
    Row("IMS", "may say End, which it has anyway", "- {Type: Succeed, Name: s, End: true}", {}),
    Row("SUCC", "ends the flow", "- {Type: Succeed, Name: s}\n- {Type: Fail, Name: f}", {}, visited="s"),
    Row(
        "SUCC",
        "ends its branch only",
        "- Type: Parallel\n  Name: p\n  Branches:\n"
        "    - {StartAt: s, States: [{Type: Succeed, Name: s, OutputConstructor: {v: 1}}]}\n  Next: z\n"
        "- {Type: Succeed, Name: z}",
        {"Branch0": {"v": 1}},
        visited="p s z",
    ),
    Row(
        "SUCC",
        "ends its iteration only",
        "- Type: Map\n  Name: m\n  ItemsPath: $Input.xs\n"
        "  Processor: {StartAt: s, States: [{Type: Succeed, Name: s}]}\n  Next: z\n- {Type: Succeed, Name: z}",
        {"Items": [{"v": 1}, {"v": 2}]},
        input={"xs": [{"v": 1}, {"v": 2}]},
        visited="m s s z",
    ),
    Row(
        "GLOB",
        "writes globals that the rest of the flow reads",
        "- Type: Parallel\n  Name: p\n  Branches:\n"
        "    - {StartAt: s, States: [{Type: Succeed, Name: s, GlobalConstructor: {g: 7}}]}\n  Next: z\n"
        "- {Type: Succeed, Name: z, OutputConstructor: {g.$: $Global.g}}",
        {"g": 7},
    ),
)
def test_succeed(row: Row) -> None:
    row.check()
