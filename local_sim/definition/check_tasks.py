"""Looks at Tasks: actions, parameters, modes, callbacks, results (language page 6). Maps: check_maps.py."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from local_sim.expression import Call, Literal, Node, Path, Template, walk
from local_sim.expression.spelling import nearest

from .arns import parse_flow_arn, parse_function_arn, text_parameter
from .collector import Collector
from .model import TaskMode, TaskState
from .nodes import MapNode, ScalarNode
from .scopes import ScopeInfo, StateInfo
from .uses import expressions_of

_INVOKE = "FC:InvokeFunction"
_START = "FNF:StartExecution"
_HTTP = "HTTP:Request"
_ACTION = re.compile(r"[A-Za-z][\w-]*:[A-Za-z][\w-]*\Z")
_PARAMETERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    _INVOKE: (("resourceArn", "invocationType"), ("body",)),
    _HTTP: (("url", "method"), ("body", "headers")),
    _START: (("resourceArn",), ("executionName", "input")),
}
"""Required and optional parameters of the optimised integrations."""
_OTHER_ACTIONS = {"cloudflow:startexecution": _START, "fc:invoke": _INVOKE, "http:invoke": _HTTP}
_METHODS = ("GET", "POST", "PATCH", "PUT", "DELETE", "HEAD")
_NO_SYSTEM_CALLBACK = ("HTTP", "MNS", "EventBridge")
_FUNCTION_FORM = "acs:fc:<region>:<account>:functions/<function>/<qualifier>"


def check_tasks(
    scopes: Sequence[ScopeInfo],
    collector: Collector,
    functions: Mapping[str, Collection[str] | None] | None,
    *,
    express: bool = False,
) -> None:
    """Report SK501 to SK509 and SK512 (SK510 comes with the expressions)."""
    for scope in scopes:
        for info in scope.states.values():
            if isinstance(info.state, TaskState):
                _Task(info, info.state, collector).run(functions, express=express)


class _Task:
    """The checks of one Task."""

    def __init__(self, info: StateInfo, state: TaskState, collector: Collector) -> None:
        self._info = info
        self._state = state
        self._collector = collector
        self._action = state.action

    def run(self, functions: Mapping[str, Collection[str] | None] | None, *, express: bool) -> None:
        """Run them all."""
        self._check_action()
        self._check_parameters()
        self._check_arn(functions)
        self._check_mode(express=express)
        if self._state.mode is TaskMode.CUSTOM_CALLBACK:
            self._check_callback()
        self._check_results()

    def _check_action(self) -> None:
        node = self._info.node.entries["Action"][1]
        action = self._action
        if not _ACTION.match(action):
            fix = "write <Service>:<Operation>, for example FC:InvokeFunction"
            self._collector.add(
                "SK508", node, f"Action {action[:60]!r} of {self._info.what} names no operation", fix=fix
            )
            return
        near = _OTHER_ACTIONS.get(action.lower()) or nearest(action, _PARAMETERS)
        if near and near != action and (action.lower() in _OTHER_ACTIONS or _is_slip(action, near)):
            self._collector.add("SK508", node, f"there is no action {action[:60]!r}", fix=f"did you mean {near}?")

    def _check_parameters(self) -> None:
        if self._action not in _PARAMETERS:
            return
        required, optional = _PARAMETERS[self._action]
        node = self._info.node.get("Parameters")
        given = node.entries if isinstance(node, MapNode) else {}
        names = {name.removesuffix(".$"): key for name, (key, _) in given.items()}
        for name in required:
            if name not in names:
                message = f"{self._action} of {self._info.what} needs the parameter {name}"
                self._collector.add("SK506", node or self._info.position, message, fix=f"add '{name}:' to Parameters")
        for name, key in names.items():
            if name not in required + optional:
                near = nearest(name, required + optional)
                fix = f"did you mean {near}?" if near else f"there are {', '.join(required + optional)}"
                self._collector.add("SK507", key, f"{self._action} has no parameter {name[:60]!r}", fix=fix)
        self._check_choice("invocationType", ("Sync", "Async"))
        self._check_choice("method", _METHODS)

    def _check_choice(self, name: str, allowed: tuple[str, ...]) -> None:
        node = text_parameter(self._info, name)
        if node is not None and node.text not in allowed:
            near = nearest(node.text, allowed)
            fix = f"did you mean {near}?" if near else f"allowed are {', '.join(allowed)}"
            self._collector.add("SK505", node, f"{name} of {self._info.what} is {node.text[:60]!r}", fix=fix)

    def _check_arn(self, functions: Mapping[str, Collection[str] | None] | None) -> None:
        node = text_parameter(self._info, "resourceArn")
        if node is None or "${" in node.text:
            return
        if self._action == _INVOKE:
            self._check_function(node, functions)
        elif self._action == _START and parse_flow_arn(node.text) is None:
            fix = "write acs:fnf:<region>::flow/<name>"
            self._collector.add("SK504", node, f"{node.text[:80]!r} names no flow", fix=fix)

    def _check_function(self, node: ScalarNode, functions: Mapping[str, Collection[str] | None] | None) -> None:
        name = parse_function_arn(node.text)
        if name is None:
            self._collector.add("SK504", node, f"{node.text[:80]!r} names no function", fix=f"write {_FUNCTION_FORM}")
        elif functions is not None and name not in functions:
            near = nearest(name, functions)
            fix = f"did you mean {near}?" if near else "add it to s.yaml"
            self._collector.add("SK503", node, f"s.yaml deploys no function {name!r}", fix=fix)

    def _check_mode(self, *, express: bool) -> None:
        mode = self._state.mode
        if mode is TaskMode.REQUEST_COMPLETE:
            return
        node = self._info.node.entries["TaskMode"][1]
        service = self._action.partition(":")[0]
        if express:
            message = "an Express flow offers RequestComplete only"
            self._collector.add("SK505", node, message, fix="make the flow a Standard one")
        elif service == "OSS" or (mode is TaskMode.SYSTEM_CALLBACK and service in _NO_SYSTEM_CALLBACK):
            offered = "RequestComplete" if service == "OSS" else "RequestComplete and WaitForCustomCallback"
            self._collector.add("SK505", node, f"{service} does not offer {mode.value}", fix=f"it offers {offered}")
        kind = text_parameter(self._info, "invocationType")
        if mode is TaskMode.SYSTEM_CALLBACK and kind is not None and kind.text == "Sync":
            self._collector.add(
                "SK505", kind, "WaitForSystemCallback goes with invocationType Async", fix="write Async"
            )

    def _check_callback(self) -> None:
        what, at = self._info.what, self._info.position
        if self._action != _HTTP and not any(_hands_token(template) for template in self._sent()):
            fix = "add 'token.$: $Context.Current.TaskToken' to the body in Parameters"
            self._collector.add(
                "SK501", at, f"{what} waits for a callback and hands its token to nobody", fix=fix, text=self._info.name
            )
        if self._state.timeout is None or self._state.timeout == 0:
            message = f"{what} waits for a callback for ever when the report gets lost"
            self._collector.add(
                "SK502", at, message, fix="add 'Timeout:' with seconds, up to 604800", text=self._info.name
            )

    def _sent(self) -> list[Template]:
        return [part for part in (self._state.parameters, self._state.input_constructor) if part is not None]

    def _check_results(self) -> None:
        kind = text_parameter(self._info, "invocationType")
        asynchronous = kind is not None and kind.text == "Async" and self._state.mode is TaskMode.REQUEST_COMPLETE
        if self._action != _INVOKE or self._state.mode is TaskMode.CUSTOM_CALLBACK:
            return
        for use in expressions_of(self._info):
            for node in walk(use.expression.tree):
                key = _result_key(node)
                if key is None:
                    continue
                at = use.expression.position or self._info.position
                where = f"{use.where} of {self._info.what}"
                text = use.expression.text[:200]
                if asynchronous:
                    fix = "do not read it; only its presence is promised"
                    self._collector.add(
                        "SK512", at, f"{where}: the result of an Async call is not documented", fix=fix, text=text
                    )
                elif key != "Body":
                    message = f"{where}: {key!r} of a function's result is not documented; Body is"
                    self._collector.add(
                        "SK509", at, message, fix="return it in the body and read $Output.Body", text=text
                    )


def _is_slip(action: str, near: str) -> bool:
    return action.lower() == near.lower() or abs(len(action) - len(near)) <= 4


def _hands_token(template: Template) -> bool:
    return any(_reads_token(node) for _, expression in template.expressions for node in walk(expression.tree))


def _reads_token(node: Node) -> bool:
    return (
        isinstance(node, Path)
        and node.root == "$Context"
        and node.steps in ((), ("Current",), ("Current", "TaskToken"))
    )


def _result_key(node: Node) -> str | None:
    """Return the first key that a node reads of the Task's result, or None."""
    if isinstance(node, Path):
        if node.root == "$Output" and node.steps:
            return str(node.steps[0])
        if node.root == "$Context" and node.steps[:2] == ("Current", "Output") and len(node.steps) > 2:
            return str(node.steps[2])
    if isinstance(node, Call) and node.name == "get" and isinstance(node.arguments[1], Literal):
        container = node.arguments[0]
        if isinstance(container, Path) and container.root == "$Output" and not container.steps:
            return str(node.arguments[1].value)
    return None
