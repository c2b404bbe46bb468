"""A broken and a mended example for every rule; docs/findings.md shows them and the tests run them.

An example is a whole text, or a list of states (it starts with "- ") that `whole_flow` puts into a flow that starts at
the first one.
Examples that are made rather than written (very large, not UTF-8) are described in words and carry no text.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Example(NamedTuple):
    """A text with the fault and the same text without it; `note` is for the reader."""

    broken: str
    mended: str
    note: str = ""


_NAME = re.compile(r"Name: *\"?([^,}\s\"]+)")
_HEADER = "Type: StateMachine\nSpecVersion: v1\nName: demo\n"
_DONE = "- {Type: Succeed, Name: done}"
_CALL = "resourceArn: acs:fc:::functions/pay, invocationType: Sync"


def whole_flow(example: str) -> str:
    """Return the flow an example stands for."""
    if not example.startswith("- "):
        return example
    first = _NAME.search(example)
    states = "\n".join(f"  {line}" if line else line for line in example.split("\n"))
    return f"{_HEADER}StartAt: {first.group(1) if first else ''}\nStates:\n{states}\n"


def _header(broken: str, mended: str, rest: str = f"StartAt: done\nStates:\n  {_DONE}\n") -> Example:
    return Example(broken + rest, mended + rest)


def _pass(broken: str, mended: str, field: str = "OutputConstructor") -> Example:
    """Return an example whose fault lies in one line of a Pass state's constructor."""
    text = "- Type: Pass\n  Name: shape\n  {field}:\n    {line}\n  End: true"
    return Example(text.format(field=field, line=broken), text.format(field=field, line=mended))


def _condition(broken: str, mended: str) -> Example:
    text = "- Type: Choice\n  Name: choose\n  Branches:\n    - Condition: {}\n      Next: done\n  Default: done\n"
    return Example(text.format(broken) + _DONE, text.format(mended) + _DONE)


def _task(broken: str, mended: str, *, parameters: str = f"{{{_CALL}}}") -> Example:
    """Return an example whose fault lies in a few lines of a Task."""
    text = "- Type: Task\n  Name: pay\n  Action: FC:InvokeFunction\n  Parameters: {}\n{}  Next: done\n"
    return Example(text.format(parameters, _indent(broken)) + _DONE, text.format(parameters, _indent(mended)) + _DONE)


def _parameters(broken: str, mended: str, action: str = "FC:InvokeFunction", more: str = "") -> Example:
    text = "- Type: Task\n  Name: pay\n  Action: {}\n{}  Parameters: {}\n  End: true"
    return Example(text.format(action, more, broken), text.format(action, more, mended))


def _indent(lines: str) -> str:
    return "".join(f"  {line}\n" for line in lines.split("\n") if line)


_CAUGHT = "OutputConstructor: {error.$: $Context.Current.Error.Code}"
_TOKEN = f"{{{_CALL}, body: {{token.$: $Context.Current.TaskToken}}}}"
_WAITING = "TaskMode: WaitForCustomCallback\nTimeout: 3600"
_BRANCH = "- Type: Parallel\n  Name: both\n  Branches:\n    - StartAt: one\n      States:\n        - {}\n  Next: done\n"
_MAP = (
    "- Type: Map\n  Name: each\n  {}\n  Processor:\n    StartAt: one\n    States:\n"
    "      - {{Type: Pass, Name: one, End: true}}\n  End: true"
)
_CHILDREN = "ProcessorConfig: {ExecutionMode: Express}\n  "
_DISTRIBUTED = "ItemsPath: $Input.items\n  ProcessorConfig: {ExecutionMode: Express}\n  "


def _map(broken: str, mended: str) -> Example:
    return Example(_MAP.format(broken), _MAP.format(mended))


def _branch(broken: str, mended: str) -> Example:
    return Example(_BRANCH.format(broken) + _DONE, _BRANCH.format(mended) + _DONE)


def _rule(field: str, broken: str, mended: str) -> Example:
    return _task(f"{field}:\n  {broken}", f"{field}:\n  {mended}")


EXAMPLES: dict[str, Example] = {
    "SK001": Example("", "", "Text in another encoding than UTF-8, or with a NUL. Save the file as UTF-8."),
    "SK002": Example("", "", "Move parts into flows of their own and call them by FNF:StartExecution."),
    "SK003": Example(f"{_HEADER}StartAt: [done\nStates: []\n", f"{_HEADER}StartAt: done\nStates:\n  {_DONE}\n"),
    "SK004": Example(f"{_HEADER}StartAt: done\nStates:\n\t{_DONE}\n", f"{_HEADER}StartAt: done\nStates:\n  {_DONE}\n"),
    "SK005": Example(
        "- Type: Choice\n  Name: choose\n  Branches:\n    - Condition:$Input.x==1\n      Next: done\n  Default: done\n"
        + _DONE,
        "- Type: Choice\n  Name: choose\n  Branches:\n    - Condition: $Input.x==1\n      Next: done\n  Default: done\n"
        + _DONE,
    ),
    "SK006": Example("- Type: Pass\n  Name: a\n  End: true\n  End: true", "- Type: Pass\n  Name: a\n  End: true"),
    "SK007": Example("[" * 1001, "- {Type: Succeed, Name: a}", "More than 1,000 levels; call a sub-flow instead."),
    "SK008": Example("- &a {Type: Pass, Name: a, Next: *b}", "- {Type: Succeed, Name: a}"),
    "SK009": _pass("a: !Ref b", "a: b"),
    "SK010": Example(f"a: 1\n---\n{_HEADER}", f"{_HEADER}StartAt: done\nStates:\n  {_DONE}\n"),
    "SK011": Example("# nothing\n", f"{_HEADER}StartAt: done\nStates:\n  {_DONE}\n"),
    "SK012": _pass("on: yes", '"on": "yes"'),
    "SK013": Example(
        "- Type: Pass\n  Name: a\n  InputConstructor: &base {x: 1}\n"
        "  OutputConstructor: {<<: *base, z: 2}\n  End: true",
        "- Type: Pass\n  Name: a\n  InputConstructor: {x: 1}\n  OutputConstructor: {x: 1, z: 2}\n  End: true",
    ),
    "SK014": _pass("a: .inf", "a: 1.5"),
    "SK015": Example(
        '{"Type": "StateMachine",}',
        '{"Type": "StateMachine", "SpecVersion": "v1", "Name": "d", "StartAt": "a",'
        ' "States": [{"Type": "Succeed", "Name": "a"}]}',
    ),
    "SK016": Example("- Type: Succeed\n  Name: a // the end", "- Type: Succeed\n  Name: a # the end"),
    "SK017": _pass("? [a, b]\n    : 1", "ab: 1"),
    "SK101": Example(
        "- {Type: Pass, Name: a, OutputConstuctor: {x: 1}, End: true}",
        "- {Type: Pass, Name: a, OutputConstructor: {x: 1}, End: true}",
    ),
    "SK102": _header(_HEADER, f"{_HEADER}StartAt: done\n", f"States:\n  {_DONE}\n"),
    "SK103": _rule(
        "Retry",
        '- {Errors: [FC.Unknown], MaxAttempts: "3", IntervalSeconds: 1}',
        "- {Errors: [FC.Unknown], MaxAttempts: 3, IntervalSeconds: 1}",
    ),
    "SK104": Example("- {Type: Success, Name: a}", "- {Type: Succeed, Name: a}"),
    "SK105": Example(
        "- {Type: Wait, Name: a, Seconds: 301, End: true}", "- {Type: Wait, Name: a, Seconds: 300, End: true}"
    ),
    "SK106": Example("StartAt: a\nStates:\n  a: {Type: Pass, End: true}\n", "- {Type: Pass, Name: a, End: true}"),
    "SK107": Example("- {Type: Pass, Name: a, Retry: [], End: true}", "- {Type: Pass, Name: a, End: true}"),
    "SK108": _task("TaskMode: WaitForCallback", "TaskMode: RequestComplete"),
    "SK109": _map(
        "ItemsPath: $Input.a\n  MaxConcuccency: 2\n  MaxConcurrency: 3", "ItemsPath: $Input.a\n  MaxConcuccency: 2"
    ),
    "SK110": _map("ItemsPath: $Input.a\n  MaxConcurrency: 2", "ItemsPath: $Input.a\n  MaxConcuccency: 2"),
    "SK111": _header("Type: StateMachine\nName: demo\n", _HEADER),
    "SK112": Example(
        "- {Type: Fail, Name: a, Code: OrderInvalid}", "- {Type: Fail, Name: a, Code: OrderInvalid, Detail: no items}"
    ),
    "SK113": Example(
        "- {Type: Fail, Name: a, Detail: no items}", "- {Type: Fail, Name: a, Code: OrderInvalid, Detail: no items}"
    ),
    "SK114": Example(
        f"- Type: Pass\n  Name: a\n  OutputConstructor:\n    text: {'x' * 70_000}\n  End: true",
        "- {Type: Pass, Name: a, End: true}",
        "A constant of more than 64 KiB; keep it in OSS and hand a reference on.",
    ),
    "SK115": _map(
        "ItemsPath: $Input.a\n  ItemConstructor: {id.$: $Item.id}", _DISTRIBUTED + "ItemConstructor: {id.$: $Item.id}"
    ),
    "SK116": Example(
        "- {Type: Fail, Name: a, Code.$: $Input.code, Detail: x}",
        "- {Type: Fail, Name: a, Code: OrderInvalid, Detail: x}",
    ),
    "SK201": Example(
        f"- {{Type: Pass, Name: a, Next: dome}}\n{_DONE}", f"- {{Type: Pass, Name: a, Next: done}}\n{_DONE}"
    ),
    "SK202": _branch("{Type: Pass, Name: one, Next: done}", "{Type: Pass, Name: one, End: true}"),
    "SK203": Example(
        f"- {{Type: Pass, Name: a, End: true}}\n{_DONE}", f"- {{Type: Pass, Name: a, Next: done}}\n{_DONE}"
    ),
    "SK204": Example(
        "- {Type: Pass, Name: a, Next: b}\n- {Type: Pass, Name: b, Next: a}",
        "- {Type: Pass, Name: a, Next: b}\n- {Type: Pass, Name: b, End: true}",
    ),
    "SK205": Example(
        "- {Type: Pass, Name: a, End: true}\n- {Type: Succeed, Name: a}",
        "- {Type: Pass, Name: a, Next: b}\n- {Type: Succeed, Name: b}",
    ),
    "SK206": Example("- {Type: Pass, Name: a}", "- {Type: Pass, Name: a, End: true}"),
    "SK207": Example(
        f"- {{Type: Pass, Name: a, Next: done, End: true}}\n{_DONE}", f"- {{Type: Pass, Name: a, Next: done}}\n{_DONE}"
    ),
    "SK208": _branch(
        "{Type: Pass, Name: one, Next: done}\n        - {Type: Pass, Name: done, End: true}",
        "{Type: Pass, Name: one, End: true}",
    ),
    "SK209": Example(
        f"- {{Type: Wait, Name: pause, Seconds: 5, Next: again}}\n- Type: Choice\n"
        f"  Name: again\n  Branches:\n    - {{Condition: $Input.ready, Next: done}}\n"
        f"  Default: pause\n{_DONE}",
        "- Type: Wait\n  Name: pause\n  Seconds: 5\n"
        "  OutputConstructor: {ready.$: $Input.ready, lap.$: 'intAdd($Input.lap, 1)'}\n"
        "  Next: again\n"
        f"- Type: Choice\n  Name: again\n  Branches:\n"
        f"    - {{Condition: $Input.ready || $Input.lap > 100, Next: done}}\n  Default: pause\n"
        f"{_DONE}",
    ),
    "SK301": _condition("$Input.n = 3", "$Input.n == 3"),
    "SK302": _pass("a.$: $input.b", "a.$: $Input.b"),
    "SK303": _pass("a.$: lenght($Input.b)", "a.$: length($Input.b)"),
    "SK304": _pass("a.$: intAdd($Input.b)", "a.$: intAdd($Input.b, 1)"),
    "SK305": _pass("a.$: $Output.b", "a.$: $Input.b", "InputConstructor"),
    "SK306": _pass(f"a.$: {'toArray(' * 11}{')' * 11}", f"a.$: {'toArray(' * 10}{')' * 10}"),
    "SK307": _pass("a.$: 5", "a: 5"),
    "SK308": _pass("a: $Input.b", "a.$: $Input.b"),
    "SK309": _pass("a.$: $Context.Current.Error.Code", "a.$: $Context.Current.Name"),
    "SK310": _task("", _WAITING, parameters=_TOKEN),
    "SK311": _condition("$Context.Execution.Name == 3", '$Context.Execution.Name == "3"'),
    "SK312": _condition("$Input.a && $Input.b || $Input.c", "($Input.a && $Input.b) || $Input.c"),
    "SK313": _condition("length($Input.list) > 0", "$Input.count > 0"),
    "SK314": _condition("'\"yes\"'", '$Input.answer == "yes"'),
    "SK315": _condition("\"$Input.a == 'x'\"", "'$Input.a == \"x\"'"),
    "SK316": _pass("a.$: $Input.Content-Type", 'a.$: get($Input, "Content-Type")'),
    "SK317": _pass("a.$: randomInt(1, 6)", "a.$: uuid()"),
    "SK318": _pass("a.$: '\"text\"'", "a: text"),
    "SK319": _pass('a.$: hash($Input.b, "sha256")', 'a.$: hash($Input.b, "SHA-256")'),
    "SK320": _pass('a: "${region}"', "a: cn-hangzhou"),
    "SK401": _rule(
        "Catch",
        f"- {{Errors: [FnF.ALL], {_CAUGHT}, Next: done}}\n  - {{Errors: [CardDeclined], {_CAUGHT}, Next: done}}",
        f"- {{Errors: [CardDeclined], {_CAUGHT}, Next: done}}\n  - {{Errors: [FnF.ALL], {_CAUGHT}, Next: done}}",
    ),
    "SK402": _rule(
        "Catch",
        f"- {{Errors: [FC.Unknown, FC.Unknown], {_CAUGHT}, Next: done}}",
        f"- {{Errors: [FC.Unknown], {_CAUGHT}, Next: done}}",
    ),
    "SK403": _rule(
        "Catch",
        f"- {{Errors: [FnF.TaskTimeOut], {_CAUGHT}, Next: done}}",
        f"- {{Errors: [FnF.TaskTimeout], {_CAUGHT}, Next: done}}",
    ),
    "SK404": _rule(
        "Catch",
        f"- {{Errors: [CardDecline, FnF.ALL], {_CAUGHT}, Next: done}}",
        f"- {{Errors: [CardDeclined], {_CAUGHT}, Next: done}}",
    )._replace(note="The function `pay` declares `CardDeclined`."),
    "SK405": _rule(
        "Catch",
        f"- {{Errors: [FC.Unknown], {_CAUGHT}, Next: done}}",
        f"- {{Errors: [FC.Unknown, CardDeclined], {_CAUGHT}, Next: done}}",
    )._replace(note="The function `pay` declares `CardDeclined`."),
    "SK406": _rule(
        "Catch",
        f"- {{Errors: [FnF.OutputSizeExceeded], {_CAUGHT}, Next: done}}",
        f"- {{Errors: [FnF.ALL], {_CAUGHT}, Next: done}}",
    ),
    "SK407": _task(
        f"{_WAITING}\nRetry:\n  - {{Errors: [FnF.TaskTimeout], MaxAttempts: 1, IntervalSeconds: 1}}",
        f"{_WAITING}\nCatch:\n  - {{Errors: [FnF.TaskTimeout], {_CAUGHT}, Next: done}}",
        parameters=_TOKEN,
    ),
    "SK408": _rule("Catch", "- {Errors: [FnF.ALL], Next: done}", f"- {{Errors: [FnF.ALL], {_CAUGHT}, Next: done}}"),
    "SK409": _rule(
        "Retry",
        "- {Errors: [FC.Unknown], MaxAttempts: 3000, IntervalSeconds: 1}",
        "- {Errors: [FC.Unknown], MaxAttempts: 30, IntervalSeconds: 1}",
    ),
    "SK410": Example(
        "- {Type: Fail, Name: a, Code: FnF.Broken, Detail: x}", "- {Type: Fail, Name: a, Code: Broken, Detail: x}"
    ),
    "SK411": _branch(
        "{Type: Fail, Name: one, Code: Broken, Detail: x}",
        "{Type: Pass, Name: one, OutputConstructor: {failed: Broken}, End: true}",
    ),
    "SK501": _task(_WAITING, _WAITING)._replace(mended=_task(_WAITING, "", parameters=_TOKEN).broken),
    "SK502": _task("TaskMode: WaitForCustomCallback", _WAITING, parameters=_TOKEN),
    "SK503": _parameters("{resourceArn: acs:fc:::functions/pya, invocationType: Sync}", f"{{{_CALL}}}")._replace(
        note="s.yaml deploys `pay`."
    ),
    "SK504": _parameters("{resourceArn: pay, invocationType: Sync}", f"{{{_CALL}}}"),
    "SK505": _parameters("{resourceArn: acs:fc:::functions/pay, invocationType: sync}", f"{{{_CALL}}}"),
    "SK506": _parameters("{resourceArn: acs:fc:::functions/pay}", f"{{{_CALL}}}"),
    "SK507": _parameters(f"{{{_CALL}, boby: 1}}", f"{{{_CALL}, body: 1}}"),
    "SK508": Example(
        "- {Type: Task, Name: a, Action: 'CloudFlow:StartExecution', "
        "Parameters: {resourceArn: 'acs:fnf:::flow/x'}, End: true}",
        "- {Type: Task, Name: a, Action: 'FNF:StartExecution', "
        "Parameters: {resourceArn: 'acs:fnf:::flow/x'}, End: true}",
    ),
    "SK509": _task("OutputConstructor: {a.$: $Output.Code}", "OutputConstructor: {a.$: $Output.Body.code}"),
    "SK510": _rule(
        "Catch",
        "- {Errors: [FnF.ALL], OutputConstructor: {e.$: stringToJson($Context.Current.Error.Detail)}, Next: done}",
        "- {Errors: [FnF.ALL], OutputConstructor: {e.$: $Context.Current.Error.Detail}, Next: done}",
    ),
    "SK511": _map(
        "ItemsPath: $Input.a\n  InputConstructor: {a: [1, 2]}",
        "ItemsPath: $Input.a\n  InputConstructor: {a: [{id: 1}, {id: 2}]}",
    ),
    "SK512": _parameters(
        "{resourceArn: acs:fc:::functions/pay, invocationType: Async}\n  OutputConstructor: {id.$: $Output.RequestId}",
        "{resourceArn: acs:fc:::functions/pay, invocationType: Async}\n  OutputConstructor: {called: true}",
    ),
    "SK513": _map(
        f"{_CHILDREN}ItemReader: {{SourceType: OSS.JSON, SourceParameters: {{ObjectName: orders.json}}}}",
        f"{_CHILDREN}ItemsPath: $Input.orders",
    ),
    "SK514": _map(
        f"{_CHILDREN}ItemReader: {{SourceType: OSS.JSN, SourceParameters: {{ObjectName: orders.json}}}}",
        f"{_CHILDREN}ItemsPath: $Input.orders",
    )._replace(note="With a reader: `SourceType: OSS.JSON`, which SK513 notes."),
    "SK601": Example(
        "version: v1\ntype: flow\nname: demo\nsteps:\n  - {type: pass, name: a}\n",
        "- {Type: Pass, Name: a, End: true}",
    ),
}
"""One example for every rule."""

EXAMPLE_FUNCTIONS = {"pay": ("CardDeclined",)}
"""The deployed functions and their declared errors that the examples of WITH_FUNCTIONS are checked with."""

WITH_FUNCTIONS = ("SK404", "SK405", "SK503")
"""The rules that need to know the deployed functions."""
