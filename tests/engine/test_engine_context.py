"""Every path of $Context, and `.$` on scalar fields (DATA, IO, TASK, WAIT; A06, A15, A32, A39)."""

# ruff: noqa: E501 - a row is read as one line

from __future__ import annotations

from engine_kit import Fail, Reported, Row, body, rows, task


def shows(path: str) -> str:
    return f"- {{Type: Pass, Name: here, OutputConstructor: {{v.$: {path}}}, End: true}}"


def caught(path: str) -> str:
    rule = f"Catch: [{{Errors: [FnF.ALL], OutputConstructor: {{v.$: {path}}}, Next: z}}]"
    return task("T", rule) + "- {Type: Succeed, Name: z}"


GIVEN = {"order": {"id": 7, "lines": [{"sku": "a"}]}}
CALLBACK = "TaskMode: WaitForCustomCallback, Timeout: 9"


@rows(
    Row("DATA", "Execution.Name", shows("$Context.Execution.Name"), {"v": "run"}),
    Row("DATA", "Execution.Input", shows("$Context.Execution.Input"), {"v": GIVEN}, input=GIVEN),
    Row("DATA", "a key of it", shows("$Context.Execution.Input.order.id"), {"v": 7}, input=GIVEN),
    Row("IMS", "an index in it", shows("'$Context.Execution.Input.order.lines[0].sku'"), {"v": "a"}, input=GIVEN),
    Row("DATA", "Execution.RoleArn", shows("$Context.Execution.RoleArn"), {"v": ""}),
    Row("DATA", "Current.Name", shows("$Context.Current.Name"), {"v": "here"}),
    Row("DATA", "Current.Input is $Input", shows("$Context.Current.Input"), {"v": GIVEN}, input=GIVEN),
    Row("DATA", "Current.Output is $Output", shows("$Context.Current.Output"), {"v": GIVEN}, input=GIVEN),
    Row("A15", "Current.RetryCount of a first attempt", shows("$Context.Current.RetryCount"), {"v": 0}),
    Row("DATA", "Current.Error.Code", caught("$Context.Current.Error.Code"), {"v": "E"}, tasks={"T": Fail("E", "why")}),
    Row(
        "A06",
        "Current.Error.Detail",
        caught("$Context.Current.Error.Detail"),
        {"v": "why"},
        tasks={"T": Fail("E", "why")},
    ),
    Row(
        "A15",
        "RetryCount after retries",
        task(
            "T",
            "Retry: [{Errors: [E], MaxAttempts: 2, IntervalSeconds: 1}], "
            "OutputConstructor: {n.$: $Context.Current.RetryCount}",
        ),
        {"n": 2},
        tasks={"T": [Fail("E"), Fail("E"), body(1)]},
        calls=3,
    ),
    Row(
        "DATA",
        "Execution.Input stays what it was",
        "- {Type: Pass, Name: a, OutputConstructor: {x: 1}, Next: b}\n"
        "- {Type: Pass, Name: b, OutputConstructor: {was.$: $Context.Execution.Input.x}, End: true}",
        {"was": 0},
        input={"x": 0},
    ),
    Row(
        "DATA",
        "Current belongs to the state it is read in",
        "- {Type: Pass, Name: a, OutputConstructor: {n.$: $Context.Current.Name}, Next: b}\n"
        "- {Type: Pass, Name: b, OutputConstructor: {n.$: $Context.Current.Name, was.$: $Input.n}, End: true}",
        {"n": "b", "was": "a"},
    ),
    Row(
        "DATA",
        "a Condition reads it",
        "- {Type: Choice, Name: c, Branches: [{Condition: '$Context.Execution.Name == \"run\"', Next: y}], Default: n}\n"
        "- {Type: Succeed, Name: y}\n- {Type: Fail, Name: n}",
        {},
    ),
    Row(
        "DATA",
        "ItemsPath reads it",
        "- Type: Map\n  Name: m\n  ItemsPath: $Context.Execution.Input.xs\n"
        "  Processor: {StartAt: s, States: [{Type: Succeed, Name: s}]}\n  End: true",
        {"Items": [{}]},
        input={"xs": [{}]},
    ),
    Row(
        "DATA",
        "an iteration sees the whole execution's input",
        "- Type: Map\n  Name: m\n  ItemsPath: $Input.xs\n  Processor:\n    StartAt: s\n    States:\n"
        "      - {Type: Pass, Name: s, OutputConstructor: {t.$: $Context.Execution.Input.t}, End: true}\n  End: true",
        {"Items": [{"t": 5}]},
        input={"xs": [{}], "t": 5},
    ),
)
def test_context(row: Row) -> None:
    row.check()


@rows(
    Row("DATA", "the task token is text", task("T", CALLBACK), {"ok": 1}, tasks={"T": Reported({"ok": 1})}),
    Row("A56", "no $Output where an error is handled", shows("$Input"), {"v": {}}),
)
def test_tokens_are_handed_out(row: Row) -> None:
    run = row.check()
    assert all(call.token for call in run.calls())


@rows(
    Row("WAIT", "Seconds", "- {Type: Wait, Name: w, Seconds.$: $Input.s, End: true}", {"s": 3}, input={"s": 3}),
    Row(
        "WAIT",
        "Seconds by a function",
        "- {Type: Wait, Name: w, Seconds.$: 'intAdd($Input.s, 1)', End: true}",
        {"s": 3},
        input={"s": 3},
    ),
    Row("TASK", "Timeout", task("T", "Timeout.$: $Input.t"), body(1), input={"t": 5}, tasks={"T": body(1)}),
    Row(
        "TASK",
        "a constant Timeout as text, as the table has it",
        task("T", "Timeout: '5'"),
        body(1),
        input={"t": "5"},
        tasks={"T": body(1)},
    ),
    Row(
        "A39",
        "Code and Detail",
        "- {Type: Fail, Name: f, Code.$: $Input.c, Detail.$: $Input.d}",
        error="Odd",
        cause="seven",
        input={"c": "Odd", "d": "seven"},
    ),
    Row(
        "A39",
        "MaxConcuccency",
        "- Type: Map\n  Name: m\n  ItemsPath: $Input.xs\n  MaxConcuccency.$: $Input.n\n"
        "  Processor: {StartAt: s, States: [{Type: Succeed, Name: s}]}\n  End: true",
        {"Items": [{}, {}]},
        input={"xs": [{}, {}], "n": 1},
    ),
    Row(
        "A22",
        "a fraction where a whole number belongs",
        "- {Type: Wait, Name: w, Seconds.$: $Input.s, End: true}",
        error="FnF.RuntimeError",
        cause="Seconds of w must be",
        input={"s": 1.5},
    ),
    Row(
        "A08",
        "a path that matches nothing",
        "- {Type: Wait, Name: w, Seconds.$: $Input.gone, End: true}",
        error="FnF.RuntimeError",
        cause="gone",
    ),
)
def test_expressions_on_scalar_fields(row: Row) -> None:
    row.check()
