"""Looks at Retry, Catch and Fail: rules that never apply, names nobody raises, retries beyond the event limit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from .arns import function_of, text_parameter
from .collector import Collector
from .error_names import ALL, SIZE_ERRORS, TASK_TIMEOUT, is_reserved, problem_of_own_name, problem_of_rule_name
from .model import FailState, MapState, ParallelState, TaskMode, TaskState
from .nodes import ListNode, MapNode, ScalarNode
from .reach import Names, raised_by, taken_around, task_errors
from .scopes import ScopeInfo, StateInfo

MAX_EVENTS = 5_000
"""Events per execution (LIM, STATED)."""
_EVENTS_PER_ATTEMPT = 3
_EVENTS_PER_STATE = 2


def check_errors(
    scopes: Sequence[ScopeInfo], collector: Collector, functions: Mapping[str, Collection[str] | None] | None
) -> None:
    """Report SK401 to SK411."""
    raised = raised_by(scopes, functions) if functions is not None else {}
    taken = taken_around(scopes)
    _check_events(scopes, collector)
    for scope in scopes:
        for info in scope.states.values():
            for field in ("Retry", "Catch"):
                _check_rules(info, field, collector, raised.get(id(info)))
            _check_fail(scope, info, collector)
            if functions is not None:
                _check_declared(info, taken[id(info)], collector, functions)


def _names(info: StateInfo, field: str) -> Iterator[tuple[int, ScalarNode]]:
    """Yield the error names in the rules of a state with their rule's index."""
    rules = info.node.get(field)
    for index, rule in enumerate(rules.items if isinstance(rules, ListNode) else ()):
        errors = rule.get("Errors") if isinstance(rule, MapNode) else None
        for node in errors.items if isinstance(errors, ListNode) else ():
            if isinstance(node, ScalarNode) and isinstance(node.value, str):
                yield index, node


def _check_rules(info: StateInfo, field: str, collector: Collector, raised: Names) -> None:
    names = list(_names(info, field))
    last = max((index for index, _ in names), default=0)
    seen: dict[str, ScalarNode] = {}
    for index, node in names:
        name = node.text
        if name == ALL and index < last:
            fix = "move the rule with FnF.ALL to the end"
            collector.add(
                "SK401", node, f"{field} of {info.what}: FnF.ALL takes every error before the rules after it", fix=fix
            )
        if name in seen:
            message = f"{field} of {info.what}: an earlier rule (line {seen[name].line}) takes {name!r} already"
            collector.add("SK402", node, message, fix="remove it here", related=seen[name].position)
        seen.setdefault(name, node)
        _check_name(info, field, node, collector, raised)
    if field == "Catch":
        _check_outputs(info, collector)


def _check_name(info: StateInfo, field: str, node: ScalarNode, collector: Collector, raised: Names) -> None:
    name, where = node.text, f"{field} of {info.what}"
    if problem := problem_of_rule_name(name):
        collector.add("SK403", node, f"{where}: {problem[0]}", fix=problem[1])
    elif raised is not None and not is_reserved(name) and name not in raised:
        listed = f"; there are {', '.join(sorted(raised)[:10])}" if raised else ""
        collector.add(
            "SK404", node, f"{where}: nothing here raises {name!r}{listed}", fix="correct the name or remove it"
        )
    if name in SIZE_ERRORS:
        fix = "use FnF.ALL, and keep outputs small"
        collector.add("SK406", node, f"{where}: the name of the size error is not documented", fix=fix)
    callback = isinstance(info.state, TaskState) and info.state.mode is not TaskMode.REQUEST_COMPLETE
    if field == "Retry" and callback and name in (ALL, TASK_TIMEOUT):
        fix = "take FnF.TaskTimeout in Catch instead, or make the receiver refuse outdated tokens"
        collector.add("SK407", node, f"{where}: each retry of a callback task hands out a fresh token", fix=fix)


def _check_outputs(info: StateInfo, collector: Collector) -> None:
    rules = info.node.get("Catch")
    for rule in rules.items if isinstance(rules, ListNode) else ():
        if isinstance(rule, MapNode) and rule.get("OutputConstructor") is None:
            fix = "add OutputConstructor, for example {error.$: $Context.Current.Error.Code}"
            collector.add("SK408", rule, f"a Catch rule of {info.what} has no OutputConstructor", fix=fix)


def _check_fail(scope: ScopeInfo, info: StateInfo, collector: Collector) -> None:
    if info.type != "Fail":
        return
    node = info.node.get("Code")
    if (
        isinstance(info.state, FailState)
        and isinstance(node, ScalarNode)
        and (problem := problem_of_own_name(node.text))
    ):
        collector.add(
            "SK410",
            node,
            f"{info.what}: {node.text[:60]!r} cannot be an own error: {problem}",
            fix="choose another name",
        )
    if scope.owner is not None:
        message = f"{info.what} stands in {scope.what}: whether that state's Catch may take it is not documented"
        fix = "let the branch end with a result that says what failed, and decide after it"
        collector.add("SK411", info.position, message, fix=fix, text=info.name)


def _check_declared(
    info: StateInfo, taken: frozenset[str], collector: Collector, functions: Mapping[str, Collection[str] | None]
) -> None:
    """Compare the errors a Task's function declares with the rules that could take them."""
    if info.type != "Task":
        return
    at = text_parameter(info, "resourceArn") or info.node
    name = function_of(info)
    for error in sorted(functions.get(name or "") or ()):
        if problem := problem_of_own_name(error):
            collector.add("SK410", at, f"{name} declares the error {error!r}: {problem}", fix="rename the class")
    declared = task_errors(info, functions) or frozenset()
    missing = [] if ALL in taken else sorted(error for error in declared - taken if not problem_of_own_name(error))
    if missing:
        message = f"no rule of {info.what} takes {', '.join(missing)}, which {name} declares"
        collector.add("SK405", at, message, fix="add a Catch rule for them, or one with FnF.ALL")


def _check_events(scopes: Sequence[ScopeInfo], collector: Collector) -> None:
    """Count the events one run of each state can write, from the inside out.

    Report rules that alone exceed the limit.
    """
    of_scope: dict[int, int] = {}
    for scope in reversed(scopes):
        total = 0
        for info in scope.states.values():
            inner = sum(of_scope.get(id(child), 0) for child in info.children)
            attempt = inner + (_EVENTS_PER_ATTEMPT if info.type == "Task" else _EVENTS_PER_STATE)
            retries = _count_retries(info, attempt, collector)
            # Nested retries multiply; the cap keeps the numbers small however deep the nesting is.
            total += min(attempt * (retries + 1), 10 * MAX_EVENTS) + _EVENTS_PER_STATE
        of_scope[id(scope)] = total


def _count_retries(info: StateInfo, attempt: int, collector: Collector) -> int:
    """Return how often a state's rules may run it again; `attempt` is the events of one run."""
    retries = 0
    for rule in info.state.retry if isinstance(info.state, TaskState | ParallelState | MapState) else ():
        retries += rule.max_attempts
        events = attempt * (rule.max_attempts + 1)
        if events > MAX_EVENTS:
            message = f"MaxAttempts {rule.max_attempts} of {info.what}: {events} events; an execution has {MAX_EVENTS}"
            allowed = max(0, MAX_EVENTS // attempt - 1)
            collector.add("SK409", rule.position, message, fix=f"allow at most {allowed} retries")
    return retries
