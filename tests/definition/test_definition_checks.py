"""The checks beyond what is refused: graph, expressions, error rules, tasks."""

from __future__ import annotations

import pytest
from definition_kit import CALL, DONE, check, choice, one, states, task

from local_sim.definition import Severity, load_flow

CAUGHT = "OutputConstructor: {e.$: $Context.Current.Error.Code}, Next: done"
TOKEN = CALL[:-1] + ", body: {token.$: $Context.Current.TaskToken}}"
WAITING = "TaskMode: WaitForCustomCallback\nTimeout: 60\n"


def catch(*rules: str) -> str:
    return "Catch:\n" + "".join(f"  - {{Errors: {names}, {CAUGHT}}}\n" for names in rules)


def retry(names: str, attempts: int = 1) -> str:
    return f"Retry:\n  - {{Errors: {names}, MaxAttempts: {attempts}, IntervalSeconds: 1}}\n"


@pytest.mark.parametrize(
    ("condition", "codes"),
    [
        ("$Input.a == 1", []),
        ("$Input.a && $Input.b && $Input.c", []),
        ("$Input.a || ($Input.b && $Input.c)", []),
        ("($Input.a || $Input.b) && $Input.c", []),
        ("$Input.a || $Input.b && $Input.c", ["SK312"]),
        ("$Input.a && $Input.b || $Input.c && $Input.d", ["SK312", "SK312"]),
        ("!($Input.a || $Input.b && $Input.c)", ["SK312"]),
        ("arrayContains($Input.a, 1)", ["SK313"]),
        ('1 == "1"', ["SK311"]),
        ('"a" == true', ["SK311"]),
        ("$Context.Current.RetryCount == true", ["SK311"]),
        ('$Context.Execution.Name == "x"', []),
        ("true < false", ["SK311"]),
        ('"a" in "abc"', ["SK311"]),
        ("$Input.a in [1]", ["SK315"]),
        ("$Input.a == null", ["SK315"]),
        ("$Input.a == 'x'", ["SK315"]),
        ("$Input.a == `x`", []),
        ("12", ["SK314"]),
        ("$Context.Execution.Name", ["SK314"]),
        ('$Input.a && "x"', ["SK314"]),
        ("!3 == $Input.a", ["SK314"]),
        ("-$Input.a == 1", []),
        ("$Input.a-b == 1", ["SK316"]),
    ],
)
def test_conditions_that_fail_or_lean_on_open_points_are_reported(condition: str, codes: list[str]) -> None:
    report = check(choice(condition))
    assert report.codes() == codes
    assert load_flow(choice(condition)).name == "demo"


@pytest.mark.parametrize(
    ("expression", "codes"),
    [
        ("$Input.a", []),
        ("format('{}', $Input.a)", []),
        ("format('{} {}', $Input.a)", ["SK319"]),
        ("format($Input.t, $Input.a)", []),
        ("hash($Input.a, 'MD5')", []),
        ("hash($Input.a, 'md5')", ["SK319"]),
        ("regexMatchString($Input.a, '[')", ["SK319"]),
        ("regexMatchString($Input.a, '[a-z]+')", []),
        ("split($Input.a, '')", ["SK319"]),
        ("intAdd(1.5, 1)", ["SK319"]),
        ("intAdd('1', $Input.a)", ["SK319"]),
        ("length(length($Input.a))", ["SK319"]),
        ("length('中文')", ["SK317"]),
        ("length('text')", []),
        ("randomInt(1, $Input.n)", ["SK317"]),
        ("get([1, 2], 5)", ["SK319"]),
        ("stringToJson('{')", ["SK319"]),
        ("uuid()", []),
        ('"constant"', ["SK318"]),
        ("5", ["SK318"]),
        ("format(`{}`, 1)", ["SK315"]),
        ("$Context.Current.TaskToken", ["SK310"]),
        ("$Context.Current.Error.Detail", ["SK309"]),
        ('$Input["a b"]', ["SK316"]),
    ],
)
def test_expressions_that_fail_or_lean_on_open_points_are_reported(expression: str, codes: list[str]) -> None:
    quoted = expression.replace("'", "''")
    text = states(f"- Type: Pass\n  Name: p\n  OutputConstructor:\n    x.$: '{quoted}'\n  End: true")
    assert check(text).codes() == codes


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        ("$Input.a", ["SK308"]),
        ("$anything", ["SK308"]),
        ("'format(''{}'', 1)'", ["SK308"]),
        ("uuid()", ["SK308"]),
        ("costs $5", []),
        ("$5", []),
        ("see $Input.a there", []),
        ("${region}-x", ["SK320"]),
        ("[$Input.a]", ["SK308"]),
        ("{deep: {x: $Input.a}}", ["SK308"]),
        ("a(b)", []),
    ],
)
def test_texts_that_look_like_expressions_are_reported(value: str, codes: list[str]) -> None:
    assert check(states(f"- Type: Pass\n  Name: p\n  OutputConstructor:\n    x: {value}\n  End: true")).codes() == codes


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        (catch("[FnF.ALL]"), []),
        (catch("[Mine]", "[FnF.ALL]"), []),
        (catch("[FnF.ALL]", "[Mine]"), ["SK401"]),
        (catch("[Mine, FnF.ALL]", "[Other]"), ["SK401"]),
        (catch("[Mine]", "[Mine]"), ["SK402"]),
        (retry("[FnF.ALL]") + catch("[FnF.ALL]"), []),
        (catch("[FnF.TaskTimeout, FC.Unknown]"), []),
        (catch("[FnF.Foo]"), ["SK403"]),
        (catch("[fnf.ALL]"), ["SK403"]),
        (catch("[fc.ResourceThrottled]"), ["SK403"]),
        (catch("[ResourceThrottled]"), ["SK403"]),
        (catch("[FnF.ResourceThrottled]"), ["SK403"]),
        (catch("[FC.ResourceThrotled]"), ["SK403"]),
        (catch("[FC.SomethingElse]"), []),
        (catch("[java.io.IOException]"), []),
        (catch("[FnF.InputSizeExceeded]"), ["SK406"]),
        ("Catch:\n  - {Errors: [FnF.ALL], Next: done}\n", ["SK408"]),
        (retry("[FC.Unknown]", 3000), ["SK409"]),
        (retry("[FC.Unknown]", 1600), []),
        (retry("[FC.Unknown]", 1700), ["SK409"]),
        (WAITING + retry("[FnF.ALL]"), ["SK407"]),
        (WAITING + retry("[FnF.TaskTimeout]"), ["SK407"]),
        (WAITING + retry("[FC.ResourceThrottled]"), []),
        ("TaskMode: WaitForCustomCallback", ["SK502"]),
        ("TaskMode: WaitForCustomCallback\nTimeout: 0", ["SK502"]),
        ("TaskMode: WaitForCustomCallback\nTimeout.$: $Input.t", []),
    ],
)
def test_error_rules_and_callbacks_are_looked_at(lines: str, codes: list[str]) -> None:
    parameters = TOKEN if "Callback" in lines else CALL
    assert check(task(lines, parameters)).codes() == codes


def test_unknown_built_ins_and_forbidden_own_names_have_different_messages() -> None:
    """C12."""
    listed = one(check(task(catch("[FnF.Foo]"))), "SK403")
    assert listed.severity is Severity.WARNING
    assert "no error the service is known to raise" in listed.message
    names = ("FnF.Timeout", "FC.Mine", "", "my error", "a,b")
    report = check(task(catch("[FnF.ALL]")), functions={"pay": names})
    assert [finding.code for finding in report.findings] == ["SK410"] * 5
    assert {"the prefixes FnF. and FC. belong to the service" in finding.message for finding in report.findings} == {
        True,
        False,
    }
    assert check(task(catch("[FnF.TaskTimeout, FC.Unknown]"))).findings == ()


def test_declared_errors_without_a_rule_are_named() -> None:
    functions = {"pay": ("CardDeclined", "NoMoney")}
    report = check(task(catch("[NoMoney]")), functions=functions)
    assert one(report, "SK405").message == "no rule of the Task 'pay' takes CardDeclined, which pay declares"
    assert check(task(catch("[NoMoney]") + retry("[CardDeclined]")), functions=functions).findings == ()
    assert check(task(catch("[FnF.ALL]")), functions=functions).findings == ()
    assert check(task(), functions={"pay": None}).findings == ()


def test_a_rule_around_a_branch_takes_its_errors() -> None:
    inner = f"{{Type: Task, Name: pay, Action: 'FC:InvokeFunction', Parameters: {CALL}, End: true}}"
    text = f"- Type: Parallel\n  Name: p\n  Branches:\n    - StartAt: pay\n      States: [{inner}]\n"
    rule = "  Catch:\n    - {Errors: [%s], OutputConstructor: {}, Next: done}\n"
    functions = {"pay": ("CardDeclined",)}
    assert check(states(f"{text}{rule % 'CardDeclined'}  Next: done\n{DONE}"), functions=functions).findings == ()
    wrong = check(states(f"{text}{rule % 'CardDeclind'}  Next: done\n{DONE}"), functions=functions)
    assert wrong.codes() == ["SK405", "SK404"]
    assert check(states(f"{text}{rule % 'CardDeclind'}  Next: done\n{DONE}")).findings == ()


def test_a_caught_error_does_not_leave_its_branch() -> None:
    inner = f"{{Type: Task, Name: pay, Action: 'FC:InvokeFunction', Parameters: {CALL}, Next: i,"
    inner += " Catch: [{Errors: [CardDeclined], OutputConstructor: {}, Next: i}]}, {Type: Succeed, Name: i}"
    text = f"- Type: Parallel\n  Name: p\n  Branches:\n    - StartAt: pay\n      States: [{inner}]\n"
    text += "  Catch: [{Errors: [CardDeclined], OutputConstructor: {}, Next: done}]\n"
    report = check(states(f"{text}  Next: done\n{DONE}"), functions={"pay": ("CardDeclined",)})
    assert report.codes() == ["SK404"]


def test_nested_retries_multiply() -> None:
    """C13: a Task's retries inside a Map that is itself retried."""
    inner = f"{{Type: Task, Name: t, Action: 'FC:InvokeFunction', Parameters: {CALL}, End: true, "
    inner += "Retry: [{Errors: [FC.Unknown], MaxAttempts: 100, IntervalSeconds: 1}]}"
    text = (
        f"- Type: Map\n  Name: m\n  ItemsPath: $Input.a\n  Processor: {{StartAt: t, States: [{inner}]}}\n  End: true\n"
    )
    assert check(states(text)).findings == ()
    text += "  Retry: [{Errors: [FC.Unknown], MaxAttempts: 20, IntervalSeconds: 1}]"
    finding = one(check(states(text)), "SK409")
    assert "MaxAttempts 20 of the Map 'm'" in finding.message


@pytest.mark.parametrize(
    ("parameters", "codes"),
    [
        ("{resourceArn: 'acs:fc:::functions/pay', invocationType: Sync}", []),
        ("{resourceArn: 'acs:fc:cn-hangzhou:123:functions/pay/LATEST', invocationType: Sync}", []),
        ("{resourceArn: 'acs:fc:::services/s.LATEST/functions/pay', invocationType: Async}", []),
        ("{resourceArn: 'acs:fc:cn-hangzhou:123:services/s/functions/pay', invocationType: Sync}", []),
        ("{resourceArn.$: $Input.arn, invocationType.$: $Input.kind}", []),
        ("{resourceArn: 'acs:fc:::functions/other', invocationType: Sync}", ["SK503"]),
        ("{resourceArn: 'acs:fc:functions/pay', invocationType: Sync}", ["SK504"]),
        ("{resourceArn: pay, invocationType: Sync}", ["SK504"]),
        ("{resourceArn: 'acs:fc:::functions/pay', invocationType: SYNC}", ["SK505"]),
        ("{invocationType: Sync}", ["SK506"]),
        ("{resourceArn: 'acs:fc:::functions/pay', invocationtype: Sync}", ["SK506", "SK507"]),
    ],
)
def test_function_parameters_are_looked_at(parameters: str, codes: list[str]) -> None:
    assert check(task("", parameters), functions={"pay": None}).codes() == codes


@pytest.mark.parametrize(
    ("output", "kind", "codes"),
    [
        ("$Output.Body.x", "Sync", []),
        ("$Output", "Sync", []),
        ("$Output.Header", "Sync", ["SK509"]),
        ("$Context.Current.Output.StatusCode", "Sync", ["SK509"]),
        ("get($Output, ''Code'')", "Sync", ["SK509"]),
        ("$Output.RequestId", "Async", ["SK512"]),
    ],
)
def test_keys_of_results_that_are_not_documented_are_noted(output: str, kind: str, codes: list[str]) -> None:
    extra = f"OutputConstructor: {{x.$: '{output}'}}"
    assert check(task(extra, CALL.replace("Sync", kind))).codes() == codes


@pytest.mark.parametrize(
    ("action", "mode", "codes"),
    [
        ("HTTP:Request", "WaitForSystemCallback", ["SK505"]),
        ("OSS:PutObject", "WaitForCustomCallback", ["SK501", "SK502", "SK505"]),
        ("MNS:SendMessage", "WaitForSystemCallback", ["SK505"]),
        ("FNF:StartExecution", "WaitForSystemCallback", []),
        ("HTTP:Request", "WaitForCustomCallback", ["SK502"]),
        ("http:request", "RequestComplete", ["SK508"]),
        ("FC:InvokeFunctions", "RequestComplete", ["SK508"]),
        ("InvokeFunction", "RequestComplete", ["SK508"]),
        ("ECS:DescribeInstances", "RequestComplete", []),
    ],
)
def test_actions_and_modes_are_looked_at(action: str, mode: str, codes: list[str]) -> None:
    parameters = {"HTTP:Request": "{url: u, method: POST}", "FNF:StartExecution": "{resourceArn: 'acs:fnf:::flow/x'}"}
    given = parameters.get(action, "{}")
    text = f"- {{Type: Task, Name: a, Action: '{action}', TaskMode: {mode}, Parameters: {given}, End: true}}"
    assert sorted(check(states(text)).codes()) == codes


def test_a_loop_that_counts_its_laps_is_bounded() -> None:
    text = (
        "- {Type: Pass, Name: a, OutputConstructor: {lap.$: 'intAdd($Input.lap, 1)'}, Next: c}\n"
        "- {Type: Choice, Name: c, Branches: [{Condition: $Input.lap >= 5, Next: done}], Default: a}\n" + DONE
    )
    assert check(states(text)).findings == ()
    assert check(states(text.replace("$Input.lap >= 5", "$Input.ready"))).codes() == ["SK209"]


def test_a_loop_without_exit_names_its_circle() -> None:
    """C20."""
    text = "- {Type: Pass, Name: a, Next: b}\n- {Type: Pass, Name: b, Next: c}\n- {Type: Pass, Name: c, Next: a}"
    assert one(check(states(text)), "SK204").message == "no path leads out of the loop a -> b -> c -> a"
    assert load_flow(states(text)).name == "demo"


def test_a_state_that_leads_to_itself_is_a_loop() -> None:
    assert check(states("- {Type: Pass, Name: a, Next: a}")).codes() == ["SK204"]


def test_a_long_chain_is_checked_without_recursion() -> None:
    chain = (
        "\n".join(f"- {{Type: Pass, Name: s{n}, Next: s{n + 1}}}" for n in range(5_000))
        + "\n- {Type: Succeed, Name: s5000}"
    )
    assert check(states(chain)).findings == ()


def test_a_flow_with_many_faults_reports_them_all_in_the_order_of_the_text() -> None:
    text = states(
        "- {Type: Pas, Name: a}\n- {Type: Wait, Name: b, Seconds: x, Next: zz}\n- {Type: Pass, Name: c, Foo: 1}"
    )
    report = check(text)
    assert report.codes() == ["SK104", "SK203", "SK103", "SK201", "SK203", "SK206", "SK101"]
    assert list(report.findings) == sorted(report.findings, key=lambda finding: finding.position)


def test_checking_does_not_depend_on_errors_elsewhere() -> None:
    later = "- {Type: Pass, Name: p, OutputConstructor: {a: $Input}, End: true}"
    text = states(f"- {{Type: Wait, Name: b, Seconds: x, Next: p}}\n{later}")
    assert check(text).codes() == ["SK103", "SK308"]
