"""Exact integers of any size, through every place a number goes (FUNC, CHOICE, IO; A09, A22, A48)."""

# ruff: noqa: E501 - a row is read as one line

from __future__ import annotations

from engine_kit import Row, body, rows, task

BIG = 2**64 + 1
HUGE = 10**400 + 7
WHOLE = [0, -1, 2**31, 2**53, 2**53 + 1, -(2**63), 2**64, BIG, HUGE]


def adds(amount: int) -> str:
    return f"- {{Type: Pass, Name: p, OutputConstructor: {{v.$: 'intAdd($Input.v, {amount})'}}, End: true}}"


def chosen(condition: str) -> str:
    return (
        f"- {{Type: Choice, Name: c, Branches: [{{Condition: '{condition}', Next: y}}], Default: n}}\n"
        "- {Type: Succeed, Name: y, OutputConstructor: {taken: true}}\n"
        "- {Type: Succeed, Name: n, OutputConstructor: {taken: false}}"
    )


@rows(
    *(Row("IO", f"passes unchanged: {len(str(v))} digits", task("T"), body(v), tasks={"T": body(v)}) for v in WHOLE),
    *(Row("FUNC", f"intAdd, {len(str(v))} digits", adds(1), {"v": v + 1}, input={"v": v}) for v in WHOLE),
    Row("FUNC", "intAdd of two that a float cannot tell apart", adds(-(2**53)), {"v": 1}, input={"v": 2**53 + 1}),
    Row("CHOICE", "neighbours above 2^53 differ", chosen(f"$Input.v == {2**53}"), {"taken": False}, input={"v": 2**53 + 1}),
    Row("CHOICE", "and are ordered", chosen(f"$Input.v > {2**53}"), {"taken": True}, input={"v": 2**53 + 1}),
    Row("A09", "an integer against a fraction, exactly", chosen("$Input.v == 9007199254740992.0"), {"taken": False}, input={"v": 2**53 + 1}),
    Row("CHOICE", "in an array", chosen("$Input.v in $Input.xs"), {"taken": True}, input={"v": BIG, "xs": [BIG]}),
    Row("CHOICE", "a constant of 400 digits", chosen(f"$Input.v == {HUGE}"), {"taken": True}, input={"v": HUGE}),
    Row("IO", "a constant in a constructor", f"- {{Type: Pass, Name: p, OutputConstructor: {{v: {BIG}}}, End: true}}", {"v": BIG}),
    Row(
        "FUNC",
        "written by format in full",
        "- {Type: Pass, Name: p, OutputConstructor: {v.$: 'format(\"{}\", $Input.v)'}, End: true}",
        {"v": str(BIG)},
        input={"v": BIG},
    ),
    Row(
        "FUNC",
        "read by stringToJson in full",
        "- {Type: Pass, Name: p, OutputConstructor: {v.$: stringToJson($Input.v)}, End: true}",
        {"v": BIG},
        input={"v": str(BIG)},
    ),
    Row(
        "FUNC",
        "arrayUnique tells neighbours apart",
        "- {Type: Pass, Name: p, OutputConstructor: {v.$: arrayUnique($Input.v)}, End: true}",
        {"v": [2**53, 2**53 + 1]},
        input={"v": [2**53, 2**53 + 1, 2**53]},
    ),
    Row("GLOB", "a global", f"- {{Type: Pass, Name: p, GlobalConstructor: {{g: {BIG}}}, Next: q}}\n"
        "- {Type: Succeed, Name: q, OutputConstructor: {v.$: $Global.g}}", {"v": BIG}),
    Row("A22", "too large a number of seconds", "- {Type: Wait, Name: w, Seconds.$: $Input.v, End: true}", error="FnF.RuntimeError", input={"v": HUGE}),
)  # fmt: skip
def test_integers(row: Row) -> None:
    row.check()
