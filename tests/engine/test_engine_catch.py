"""Catch: who takes an error, what it hands on, what does not run then (ERR 7.3; A06, A07, A12, A18, A68; C05, C06)."""

from __future__ import annotations

from engine_kit import After, Fail, Row, body, rows, simulate, task

HANDLER = "- {Type: Succeed, Name: h}\n"


def caught(rules: str, more: str = "") -> str:
    extra = f", {more}" if more else ""
    return task("T", f"Catch: [{rules}]{extra}") + HANDLER


FAILS = {"T": Fail("E", "why")}


@rows(
    Row(
        "A07",
        "without constructor the target gets the input",
        caught("{Errors: [E], Next: h}"),
        {"n": 1},
        input={"n": 1},
        tasks=FAILS,
        visited="T h",
    ),
    Row(
        "A68",
        "which is the constructed one",
        caught("{Errors: [E], Next: h}", "InputConstructor: {m: 2}"),
        {"m": 2},
        input={"n": 1},
        tasks=FAILS,
    ),
    Row(
        "A68",
        "or the raw one when that could not be built",
        caught("{Errors: [FnF.ALL], Next: h}", "InputConstructor: {m.$: $Input.no}"),
        {"n": 1},
        input={"n": 1},
    ),
    Row(
        "DATA",
        "Error.Code and Error.Detail",
        caught(
            "{Errors: [E], Next: h, OutputConstructor: {c.$: $Context.Current.Error.Code, d.$: "
            "$Context.Current.Error.Detail}}"
        ),
        {"c": "E", "d": "why"},
        tasks=FAILS,
    ),
    Row(
        "DATA",
        "the constructor reads $Input",
        caught("{Errors: [E], Next: h, OutputConstructor: {n.$: $Input.n}}"),
        {"n": 1},
        input={"n": 1},
        tasks=FAILS,
    ),
    Row(
        "DATA",
        "and the execution's input",
        caught("{Errors: [E], Next: h, OutputConstructor: {n.$: $Context.Execution.Input}}"),
        {"n": {"n": 1}},
        input={"n": 1},
        tasks=FAILS,
    ),
    Row(
        "DATA",
        "and the retry count",
        caught(
            "{Errors: [E], Next: h, OutputConstructor: {n.$: $Context.Current.RetryCount}}",
            "Retry: [{Errors: [E], MaxAttempts: 2, IntervalSeconds: 1}]",
        ),
        {"n": 2},
        tasks=FAILS,
    ),
    Row(
        "C06",
        "the state's OutputConstructor does not run",
        caught("{Errors: [E], Next: h}", "OutputConstructor: {x.$: $Output.Body.x}"),
        {},
        tasks=FAILS,
    ),
    Row(
        "ERR",
        "the first rule that matches",
        caught(
            "{Errors: [X], Next: h, OutputConstructor: {r: 1}}, {Errors: [Y, E], Next: h, "
            "OutputConstructor: {r: 2}}, {Errors: [FnF.ALL], Next: h, OutputConstructor: {r: 3}}"
        ),
        {"r": 2},
        tasks=FAILS,
    ),
    Row(
        "ERR",
        "FnF.ALL takes what is left",
        caught(
            "{Errors: [X], Next: h, OutputConstructor: {r: 1}}, {Errors: [FnF.ALL], Next: h, OutputConstructor: {r: 3}}"
        ),
        {"r": 3},
        tasks=FAILS,
    ),
    Row("ERR", "no rule matches", caught("{Errors: [X], Next: h}"), error="E", cause="why", tasks=FAILS, visited="T"),
    Row(
        "ERR",
        "FnF.ALL takes a timeout",
        caught("{Errors: [FnF.ALL], Next: h, OutputConstructor: {c.$: $Context.Current.Error.Code}}", "Timeout: 1"),
        {"c": "FnF.TaskTimeout"},
        tasks={"T": After(9, body(1))},
    ),
    Row(
        "ERR",
        "FnF.ALL takes an expression error",
        caught(
            "{Errors: [FnF.ALL], Next: h, OutputConstructor: {c.$: $Context.Current.Error.Code}}",
            "OutputConstructor: {x.$: $Output.no}",
        ),
        {"c": "FnF.RuntimeError"},
    ),
    Row(
        "A08",
        "a Catch whose own constructor fails takes nothing",
        caught("{Errors: [E], Next: h, OutputConstructor: {x.$: $Input.no}}, {Errors: [FnF.ALL], Next: h}"),
        error="FnF.RuntimeError",
        cause="OutputConstructor.x",
        tasks=FAILS,
        visited="T",
    ),
    Row(
        "ERR",
        "an error name that nobody catches goes to the enclosing Parallel",
        "- Type: Parallel\n  Name: p\n  End: true\n  Branches:\n  - StartAt: T\n    States:\n"
        + "".join(f"    {line}\n" for line in task("T", "Catch: [{Errors: [X], Next: h}]").splitlines())
        + "    - {Type: Succeed, Name: h}\n  Catch: [{Errors: [E], Next: o}]\n- {Type: Succeed, Name: o}",
        {"n": 1},
        input={"n": 1},
        tasks=FAILS,
        visited="p T o",
    ),
)
def test_catch(row: Row) -> None:
    row.check()


def test_global_constructor_does_not_run_when_a_catch_takes_the_error() -> None:
    states = task("T", "GlobalConstructor: {k: 1}, Catch: [{Errors: [E], Next: h}]")
    run = simulate(states + "- {Type: Pass, Name: h, OutputConstructor: {g.$: $Global}, End: true}", tasks=FAILS)
    assert run.output == {"g": {}}


def test_no_error_is_left_over_after_a_catch() -> None:
    states = (
        caught("{Errors: [E], Next: p}")
        + "- {Type: Pass, Name: p, OutputConstructor: {e.$: $Context.Current.Error.Code}, End: true}"
    )
    run = simulate(states, tasks=FAILS)
    assert (run.error, run.status) == ("FnF.RuntimeError", "Failed")


def test_a_compensation_gets_what_earlier_steps_gave() -> None:
    states = (
        task("One", "OutputConstructor: {one.$: $Output.Body}", next_state="Two")
        + task("Two", "OutputConstructor: {one.$: $Input.one, two.$: $Output.Body}", next_state="Three")
        + task("Three", "Catch: [{Errors: [FnF.ALL], Next: Undo}]")
        + "- {Type: Task, Name: Undo, Action: 'FC:InvokeFunction', End: true, "
        "Parameters: {resourceArn: a, invocationType: Sync, body: "
        "{ids.$: $Input, order.$: $Context.Execution.Input.order}}}\n"
    )
    run = simulate(states, input={"order": 5}, tasks={"One": body("t-1"), "Two": body("t-2"), "Three": Fail("SoldOut")})
    assert run.calls("Undo")[0].parameters["body"] == {"ids": {"one": "t-1", "two": "t-2"}, "order": 5}


def test_the_history_says_where_a_caught_error_went() -> None:
    run = simulate(caught("{Errors: [E], Next: h}"), tasks=FAILS)
    assert run.details("StepFailed") == [{"error": "E", "cause": "why", "next": "h"}]
    assert run.types()[-8:] == [
        "TaskFailed",
        "StepFailed",
        "StepExited",
        "StepEntered",
        "StepStarted",
        "StepSucceeded",
        "StepExited",
        "ExecutionSucceeded",
    ]
