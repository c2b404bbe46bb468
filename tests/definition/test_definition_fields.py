# ruff: noqa: E501 - one row of the table a line
"""Fields of every type of state, row by row; each row names its source (language pages 2, 3, 5, 6, 7)."""

from __future__ import annotations

import pytest
from definition_kit import CALL, DONE, check, one, states, task

from local_sim.definition import load_flow
from local_sim.definition.model import (
    ChoiceState,
    FailState,
    MapState,
    ParallelState,
    PassState,
    SucceedState,
    TaskMode,
    TaskState,
    WaitState,
)
from local_sim.expression import Expression

INNER = "StartAt: i\n      States: [{Type: Pass, Name: i, End: true}]"


def first(text: str) -> object:
    return next(iter(load_flow(text).root.states.values()))


def fan(extra: str = "", branch: str = INNER) -> str:
    return states(f"- Type: Parallel\n  Name: p\n  Branches:\n    - {branch}\n{extra}  End: true")


def each(extra: str = "  ItemsPath: $Input.a\n") -> str:
    inner = "  Processor:\n    StartAt: i\n    States: [{Type: Pass, Name: i, End: true}]\n"
    return states(f"- Type: Map\n  Name: m\n{extra}{inner}  End: true")


def retry(rule: str) -> str:
    return task(f"Retry:\n  - {rule}")


def catch(rule: str) -> str:
    return task(f"Catch:\n  - {rule}")


ACCEPTED: list[tuple[str, str]] = [
    ("PASS", states("- {Type: Pass, Name: a, End: true}")),
    ("PASS", states("- {Type: Pass, Name: a, Description: what, InputConstructor: {}, OutputConstructor: {}, End: true}")),
    ("GLOB", states("- {Type: Pass, Name: a, GlobalConstructor: {k.$: $Input.x}, End: true}")),
    ("FDL", states(f"- {{Type: Pass, Name: a, Next: done, End: false}}\n{DONE}")),
    ("FC", states("- {Type: Succeed, Name: 成功}")),
    ("SUCC", states("- {Type: Succeed, Name: a, End: true}")),
    ("SUCC", states("- {Type: Succeed, Name: a, OutputConstructor: {x: 1}}")),
    ("FAIL", states("- {Type: Fail, Name: a, Code: E, Detail: d, End: true}")),
    ("WAIT", states("- {Type: Wait, Name: a, Seconds: 1, End: true}")),
    ("WAIT", states("- {Type: Wait, Name: a, Seconds: 300, End: true}")),
    ("WAIT", states("- {Type: Wait, Name: a, Seconds.$: $Input.s, End: true}")),
    ("TASK", task()),
    ("TASK", task("Timeout: 0")),
    ("TASK", task("Timeout: 604800")),
    ("TASK", task('Timeout: "60"')),
    ("TASK", task("Timeout.$: $Input.limit")),
    ("TASK", task("TaskMode: RequestComplete")),
    ("ERR", retry("{Errors: [FC.Unknown], MaxAttempts: 0, IntervalSeconds: 0}")),
    ("ERR", retry("{Errors: [A, B], MaxAttempts: 3, IntervalSeconds: 86400, BackoffRate: 1.5, MaxBackoffSeconds: 86400}")),
    ("ERR", retry("{Errors: [FnF.ALL], Description: d, MaxAttempts: 1, IntervalSeconds: 1, BackoffRate: 2}")),
    ("ERR", catch("{Errors: [FnF.ALL], Description: d, OutputConstructor: {e.$: $Context.Current.Error.Code}, Next: done}")),
    ("A56", catch("{Errors: [X], OutputConstructor: {i.$: $Input, g.$: $Global.g}, Next: done}")),
    ("PAR", fan()),
    ("PAR", fan("  Retry: [{Errors: [X], MaxAttempts: 1, IntervalSeconds: 1}]\n")),
    ("MAPI", each()),
    ("MAPI", each("  ItemsPath: $Input.a\n  MaxConcuccency: 40\n")),
    ("MAPD", each("  ItemsPath: $Input.a\n  ProcessorConfig: {ExecutionMode: Standard}\n  MaxConcuccency: 100\n")),
    ("MAPD", each("  ItemReader: {SourceType: OSS.JSON, SourceParameters: {Bucket: b, ObjectName.$: $Input.k}}\n  ProcessorConfig: {ExecutionMode: Express}\n")),
    ("MAPD", each("  ItemsPath: $Input.a\n  ProcessorConfig: {}\n  ItemBatcher: {MaxItemsPerBatch: 2}\n  MaxItems: 5\n")),
    ("A55", each("  ItemsPath: $Input.a\n  ProcessorConfig: {}\n  ToleratedFailurePercentage: 2.5\n  ToleratedFailureCount: 1\n")),
    ("CHOICE", states(f"- {{Type: Choice, Name: a, Branches: [{{Condition: $Input.x, Next: done}}], Default: done}}\n{DONE}")),
    ("SUB", states("- {Type: Task, Name: a, Action: 'FNF:StartExecution', Parameters: {resourceArn: 'acs:fnf:::flow/x'}, End: true}")),
    ("6.5", states("- {Type: Task, Name: a, Action: 'DashScope:QwenTextGeneration', Parameters: {prompt.$: $Input.p}, End: true}")),
    ("6.5", states("- {Type: Task, Name: a, Action: 'Extensions:TemplateTransform', Parameters: {template: x}, End: true}")),
    ("MNS", states("- {Type: Task, Name: a, Action: 'MNS:SendMessage', End: true}")),
]  # fmt: skip


@pytest.mark.parametrize(("source", "text"), ACCEPTED, ids=[f"{s}-{n}" for n, (s, _) in enumerate(ACCEPTED)])
def test_what_is_documented_is_accepted_without_a_word(source: str, text: str) -> None:
    noted = {"SK411", "SK513"}
    assert set(check(text).codes()) <= noted
    assert load_flow(text).name == "demo"


REFUSED: list[tuple[str, str, str]] = [
    ("PASS", states("- {Type: Pass, Name: a, Result: {}, End: true}"), "SK101"),
    ("5", states("- {Type: Pass, Name: a, Action: x, End: true}"), "SK107"),
    ("7.1", states("- {Type: Wait, Name: a, Seconds: 1, Catch: [], End: true}"), "SK107"),
    ("7.1", states(f"- {{Type: Choice, Name: a, Retry: [], Branches: [{{Condition: true, Next: done}}], Default: done}}\n{DONE}"), "SK103"),
    ("CHOICE", states(f"- {{Type: Choice, Name: a, End: true, Branches: [{{Condition: $Input.x, Next: done}}], Default: done}}\n{DONE}"), "SK107"),
    ("CHOICE", states(f"- {{Type: Choice, Name: a, OutputConstructor: {{}}, Branches: [{{Condition: $Input.x, Next: done}}], Default: done}}\n{DONE}"), "SK107"),
    ("CHOICE", states(f"- {{Type: Choice, Name: a, Branches: [{{Condition: $Input.x, Next: done}}]}}\n{DONE}"), "SK102"),
    ("CHOICE", states(f"- {{Type: Choice, Name: a, Branches: [], Default: done}}\n{DONE}"), "SK105"),
    ("CHOICE", states(f"- {{Type: Choice, Name: a, Branches: {{}}, Default: done}}\n{DONE}"), "SK103"),
    ("CHOICE", states(f"- {{Type: Choice, Name: a, Branches: [{{Condition: $Input.x}}], Default: done}}\n{DONE}"), "SK102"),
    ("CHOICE", states(f"- {{Type: Choice, Name: a, Branches: [{{Next: done}}], Default: done}}\n{DONE}"), "SK102"),
    ("SUCC", states(f"- {{Type: Succeed, Name: a, Next: done}}\n{DONE}"), "SK107"),
    ("FAIL", states("- {Type: Fail, Name: a, Error: E, Cause: c}"), "SK101"),
    ("FAIL", states("- {Type: Fail, Name: a, Code: 5, Detail: d}"), "SK103"),
    ("WAIT", states("- {Type: Wait, Name: a, End: true}"), "SK102"),
    ("WAIT", states("- {Type: Wait, Name: a, Seconds: 0, End: true}"), "SK105"),
    ("WAIT", states("- {Type: Wait, Name: a, Seconds: 301, End: true}"), "SK105"),
    ("A22", states("- {Type: Wait, Name: a, Seconds: '5', End: true}"), "SK103"),
    ("A22", states("- {Type: Wait, Name: a, Seconds: 1.5, End: true}"), "SK103"),
    ("A22", states("- {Type: Wait, Name: a, Seconds: true, End: true}"), "SK103"),
    ("C14", states("- {Type: Wait, Name: a, Seconds: 5, Timestamp: '2026-01-01T00:00:00Z', End: true}"), "SK101"),
    ("WAIT", states("- {Type: Wait, Name: a, Seconds: 5, Seconds.$: $Input.s, End: true}"), "SK006"),
    ("TASK", states("- {Type: Task, Name: a, End: true}"), "SK102"),
    ("TASK", task("Timeout: 604801"), "SK105"),
    ("TASK", task("Timeout: -1"), "SK105"),
    ("A22", task("Timeout: soon"), "SK103"),
    ("A22", task("Timeout: 1.5"), "SK103"),
    ("TASK", task("TaskMode: waitForCustomCallback"), "SK108"),
    ("TASK", task("", "[]"), "SK103"),
    ("TASK", task("Retry: {Errors: [X]}"), "SK103"),
    ("ERR", retry("{MaxAttempts: 1, IntervalSeconds: 1}"), "SK102"),
    ("ERR", retry("{Errors: [X], IntervalSeconds: 1}"), "SK102"),
    ("ERR", retry("{Errors: [X], MaxAttempts: 1}"), "SK102"),
    ("ERR", retry("{Errors: [], MaxAttempts: 1, IntervalSeconds: 1}"), "SK105"),
    ("ERR", retry("{Errors: X, MaxAttempts: 1, IntervalSeconds: 1}"), "SK103"),
    ("ERR", retry("{Errors: [5], MaxAttempts: 1, IntervalSeconds: 1}"), "SK103"),
    ("ERR", retry("{Errors: [''], MaxAttempts: 1, IntervalSeconds: 1}"), "SK105"),
    ("ERR", retry("{Errors: [X], MaxAttempts: -1, IntervalSeconds: 1}"), "SK105"),
    ("ERR", retry("{Errors: [X], MaxAttempts: 1, IntervalSeconds: 86401}"), "SK105"),
    ("ERR", retry("{Errors: [X], MaxAttempts: 1, IntervalSeconds: 1, MaxBackoffSeconds: 86401}"), "SK105"),
    ("ERR", retry("{Errors: [X], MaxAttempts: 1, IntervalSeconds: 1, BackoffRate: fast}"), "SK103"),
    ("ERR", retry("{Errors: [X], MaxAttempts: 1, IntervalSeconds: 1, BackoffRate: 0}"), "SK105"),
    ("A22", retry("{Errors: [X], MaxAttempts: 1.0, IntervalSeconds: 1}"), "SK103"),
    ("ERR", retry("{Errors: [X], MaxAttempts: 1, IntervalSeconds: 1, Jitter: FULL}"), "SK101"),
    ("ERR", retry("just text"), "SK103"),
    ("ERR", catch("{Errors: [X]}"), "SK102"),
    ("ERR", catch("{Errors: [X], Next: nowhere}"), "SK201"),
    ("A56", catch("{Errors: [X], OutputConstructor: {o.$: $Output}, Next: done}"), "SK305"),
    ("1.3", task("OnErrors: []"), "SK101"),
    ("PAR", fan("", "StartAt: x\n      States: [{Type: Pass, Name: i, End: true}]"), "SK201"),
    ("PAR", fan("", "States: [{Type: Pass, Name: i, End: true}]"), "SK102"),
    ("PAR", fan("", "StartAt: i"), "SK102"),
    ("PAR", fan("", "StartAt: i\n      States: []"), "SK105"),
    ("PAR", fan("", "StartAt: i\n      Name: n\n      States: [{Type: Pass, Name: i, End: true}]"), "SK101"),
    ("PAR", fan("  MaxConcurrency: 2\n"), "SK107"),
    ("PAR", states("- Type: Parallel\n  Name: p\n  End: true\n  Branches:\n" + f"    - {INNER}\n" * 51), "SK105"),
    ("MAPI", each(""), "SK102"),
    ("MAPI", each("  ItemsPath: $Input.a\n  MaxConcuccency: 41\n"), "SK105"),
    ("MAPI", each("  ItemsPath: $Input.a\n  MaxConcuccency: 0\n"), "SK105"),
    ("MAPI", each("  ItemsPath: $Output.a\n"), "SK305"),
    ("MAPI", each("  ItemsPath: items\n"), "SK301"),
    ("MAPI", each("  ItemsPath: 5\n"), "SK103"),
    ("MAPD", each("  ItemsPath: $Input.a\n  ItemReader: {}\n"), "SK107"),
    ("MAPD", each("  ItemsPath: $Input.a\n  ProcessorConfig: {ExecutionMode: express}\n"), "SK108"),
    ("MAPD", each("  ItemsPath: $Input.a\n  ProcessorConfig: {}\n  MaxItems: 10001\n"), "SK105"),
    ("MAPD", each("  ItemsPath: $Input.a\n  ProcessorConfig: {}\n  MaxConcuccency: 101\n"), "SK105"),
    ("MAPD", each("  ItemsPath: $Input.a\n  ProcessorConfig: {}\n  ToleratedFailurePercentage: 101\n"), "SK105"),
    ("4.1", states("- {Type: Pass, Name: a, OutputConstructor: {x.$: $Item.x}, End: true}"), "SK305"),
    ("A57", states("- {Type: Succeed, Name: ' '}").replace("StartAt: '", "StartAt: ' '"), "SK105"),
    ("A57", states(f"- {{Type: Succeed, Name: {'n' * 129}}}"), "SK105"),
    ("GLOB", states(f"- {{Type: Pass, Name: a, GlobalConstructor: {{{'k' * 129}: 1}}, End: true}}"), "SK105"),
    ("A42", states("- {Type: Pass, Name: a, OutputConstructor: {x: " + "[" * 101 + "]" * 101 + "}, End: true}"), "SK007"),
    ("FDL", "Type: StateMachine\nSpecVersion: v2\nName: d\nStartAt: a\nStates: [{Type: Succeed, Name: a}]\n", "SK108"),
    ("FDL", "Type: Statemachine\nSpecVersion: v1\nName: d\nStartAt: a\nStates: [{Type: Succeed, Name: a}]\n", "SK108"),
    ("FDL", "Type: StateMachine\nSpecVersion: v1\nName: d\nStates: [{Type: Succeed, Name: a}]\n", "SK102"),
    ("FDL", "Type: StateMachine\nSpecVersion: v1\nName: d\nStartAt: a\n", "SK102"),
    ("FDL", "Type: StateMachine\nSpecVersion: v1\nName: d\nStartAt: a\nStates: []\n", "SK105"),
    ("FDL", "Type: StateMachine\nSpecVersion: v1\nName: d\nStartAt: a\nTimeout: 0\nStates: [{Type: Succeed, Name: a}]\n", "SK105"),
    ("FDL", "Type: StateMachine\nSpecVersion: v1\nName: d\nStartAt: a\nTimeout: 31536001\nStates: [{Type: Succeed, Name: a}]\n", "SK105"),
    ("FDL", "Type: StateMachine\nSpecVersion: v1\nName: d\nStartAt: a\nStates: [text]\n", "SK103"),
    ("FDL", "Type: StateMachine\nSpecVersion: v1\nName: d\nStartAt: a\nStates: [{Name: a}]\n", "SK102"),
    ("FDL", "Type: StateMachine\nSpecVersion: v1\nName: d\nStartAt: a\nStates: [{Type: Pass, End: true}]\n", "SK102"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "text", "code"), REFUSED, ids=[f"{s}-{c}-{n}" for n, (s, _, c) in enumerate(REFUSED)]
)
def test_what_breaks_a_rule_is_refused(source: str, text: str, code: str) -> None:
    report = check(text)
    assert code in report.codes()
    assert report.errors


def test_start_at_that_names_nothing_lists_the_states() -> None:
    """C61."""
    text = states("- {Type: Succeed, Name: real}").replace("StartAt: real", "StartAt: begin")
    finding = one(check(text), "SK201")
    assert (finding.position.line, finding.position.column) == (4, 10)
    assert finding.fix == "the states of the flow are real"


def test_a_fail_without_detail_is_accepted_with_a_warning() -> None:
    """C62."""
    text = states("- {Type: Fail, Name: a, Code: OrderInvalid}")
    assert check(text).codes() == ["SK112"]
    state = first(text)
    assert isinstance(state, FailState)
    assert (state.code, state.detail) == ("OrderInvalid", "")


def test_a_target_of_another_scope_is_told_apart() -> None:
    text = fan("", "StartAt: i\n      States: [{Type: Pass, Name: i, Next: p}]")
    assert "a state of the flow, and not of Branch0 of the Parallel 'p'" in one(check(text), "SK202").message


def test_express_limits() -> None:
    text = states("- {Type: Wait, Name: a, Seconds: 21, End: true}")
    assert check(text).ok
    assert check(text, express=True).codes() == ["SK105"]
    waiting = task(
        "TaskMode: WaitForCustomCallback\nTimeout: 5", CALL[:-1] + ", body: {t.$: $Context.Current.TaskToken}}"
    )
    assert check(waiting).findings == ()
    assert check(waiting, express=True).codes() == ["SK505"]


def test_the_model_holds_what_the_text_says() -> None:
    text = states(
        "- Type: Task\n  Name: t\n  Description: pays\n  Action: FC:InvokeFunction\n  TaskMode: WaitForCustomCallback\n"
        f"  Parameters: {CALL}\n  Timeout: 60\n"
        "  Retry: [{Errors: [A, B], MaxAttempts: 2, IntervalSeconds: 3, BackoffRate: 1.5, MaxBackoffSeconds: 9}]\n"
        "  Catch: [{Errors: [C], Next: f}]\n  Next: c\n"
        "- Type: Choice\n  Name: c\n  Branches: [{Condition: $Input.x == 1, Next: w}]\n  Default: p\n"
        "- {Type: Wait, Name: w, Seconds.$: $Input.s, Next: p}\n"
        "- Type: Parallel\n  Name: p\n  Branches:\n    - StartAt: x\n      States: [{Type: Succeed, Name: x}]\n  Next: m\n"
        "- Type: Map\n  Name: m\n  ItemsPath: $Input.items\n  MaxConcuccency: 3\n  Processor:\n    StartAt: q\n"
        "    States: [{Type: Pass, Name: q, End: true}]\n    ProcessorConfig: {ExecutionMode: Standard}\n"
        "  ItemConstructor: {i.$: $Item}\n  Next: s\n"
        "- {Type: Succeed, Name: s}\n- {Type: Fail, Name: f, Code: E, Detail: d}"
    )
    flow = load_flow(text, "f.yaml")
    kinds = [type(state) for state in flow.root.states.values()]
    assert kinds == [TaskState, ChoiceState, WaitState, ParallelState, MapState, SucceedState, FailState]
    pay, fork, pause, fan_out, every, _, _ = flow.root.states.values()
    assert isinstance(pay, TaskState)
    assert (pay.action, pay.mode, pay.timeout, pay.description) == (
        "FC:InvokeFunction",
        TaskMode.CUSTOM_CALLBACK,
        60,
        "pays",
    )
    assert (pay.retry[0].errors, pay.retry[0].max_attempts, pay.retry[0].backoff_rate) == (("A", "B"), 2, 1.5)
    assert (pay.retry[0].interval_seconds, pay.retry[0].max_backoff_seconds) == (3, 9)
    assert (pay.catch[0].errors, pay.catch[0].next, pay.next) == (("C",), "f", "c")
    assert isinstance(fork, ChoiceState)
    assert (fork.branches[0].condition.text, fork.branches[0].next, fork.default) == ("$Input.x == 1", "w", "p")
    assert isinstance(pause, WaitState)
    assert isinstance(pause.seconds, Expression)
    assert isinstance(fan_out, ParallelState)
    assert isinstance(every, MapState)
    assert every.distributed is not None
    assert (every.distributed.execution_mode, every.max_concurrency, every.processor.start_at) == ("Standard", 3, "q")
    assert (flow.source, flow.root.start_at, flow.name) == ("f.yaml", "t", "demo")


def test_two_hundred_nested_levels_load_and_three_hundred_are_refused() -> None:
    def nested(levels: int) -> str:
        text = "{Type: Succeed, Name: s}"
        for level in range(levels):
            scope = f"StartAt: {'s' if level == 0 else f'p{level - 1}'}, States: [{text}]"
            text = f"{{Type: Parallel, Name: p{level}, Branches: [{{{scope}}}], End: true}}"
        return f"Type: StateMachine\nSpecVersion: v1\nName: d\nStartAt: p{levels - 1}\nStates: [{text}]\n"

    state = first(nested(200))
    depth = 0
    while isinstance(state, ParallelState):
        state = next(iter(state.branches[0].states.values()))
        depth += 1
    assert depth == 200
    assert "SK007" in check(nested(300)).codes()


def test_a_pass_without_anything_is_the_simplest_state() -> None:
    state = first(states("- {Type: Pass, Name: a, End: true}"))
    assert isinstance(state, PassState)
    assert (state.next, state.input_constructor, state.output_constructor) == (None, None, None)
