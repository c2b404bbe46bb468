"""What the checker says about a flow of the older dialect: its graph, its error rules, its functions, its callbacks.

It looks at the lowered flow, so it says nothing before the flow loads. The rules are those of the newer language.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from local_sim.definition.arns import parse_function_arn
from local_sim.definition.collector import Collector
from local_sim.definition.error_names import (
    ALL,
    TASK_TIMEOUT,
    is_reserved,
    problem_of_own_name,
    problem_of_rule_name,
)
from local_sim.definition.graph import loops, reachable, reverse
from local_sim.definition.model import CatchRule, FailState, Flow, RetryRule, Scope, State, TaskMode, TaskState
from local_sim.definition.walk import scopes_of
from local_sim.expression.spelling import nearest

from .model import ChoiceStep
from .steps import DEFAULT_ERROR
from .targets import FUNCTION

Functions: TypeAlias = Mapping[str, Collection[str] | None]
MAX_EVENTS = 5_000
_EVENTS_PER_ATTEMPT = 3
_END = ""


def check_legacy(flow: Flow, collector: Collector, functions: Functions | None) -> None:
    """Report SK203, SK204 and SK209 for each list of steps, SK401 to SK410 and SK502 to SK504 for its tasks."""
    for scope in scopes_of(flow.root):
        _check_graph(scope, collector)
        for step in scope.states.values():
            if isinstance(step, TaskState):
                _Task(step, collector, functions).run()
            elif isinstance(step, FailState):
                _check_fail(step, collector)


def _check_fail(step: FailState, collector: Collector) -> None:
    name = step.code if isinstance(step.code, str) else ""
    if name not in ("", DEFAULT_ERROR) and (problem := problem_of_own_name(name)):
        message = f"the fail step {step.name!r}: {name[:60]!r} cannot be an own error: {problem}"
        collector.add("SK410", step.position, message, fix="choose another name", text=step.name)


def _ways(step: State) -> set[str]:
    """Return the steps that may follow one; an empty name is the end of the list."""
    if isinstance(step, FailState):
        return {_END}
    following = step.next or _END
    if isinstance(step, ChoiceStep):
        options = [*step.options, *([step.default] if step.default is not None else [])]
        ways = {option.goto or following for option in options}
        return ways if step.default is not None else {*ways, following}
    caught = {rule.next for rule in step.catch} if isinstance(step, TaskState) else set()
    return {following, *caught}


def _check_graph(scope: Scope, collector: Collector) -> None:
    ways = {name: _ways(step) for name, step in scope.states.items()}
    graph = {name: [target for target in found if target != _END] for name, found in ways.items()}
    seen = reachable(graph, [scope.start_at])
    for name, step in scope.states.items():
        if name not in seen:
            fix = "lead a goto to it, or remove it"
            collector.add("SK203", step.position, f"nothing leads to the step {name!r}", fix=fix, text=name)
    can_end = reachable(reverse(graph), [name for name, found in ways.items() if _END in found])
    for loop in loops(graph):
        members = [name for name in graph if name in loop]
        if members[0] not in seen:
            continue
        circle = " -> ".join([*members[:6], members[0]])
        head = scope.states[members[0]]
        if not loop & can_end:
            fix = "add a choice that leaves it, or end: true"
            collector.add("SK204", head.position, f"no path leads out of the loop {circle}", fix=fix, text=head.name)
        else:
            message = f"the loop {circle} has no visible limit and can exceed the 5,000 events of an execution"
            fix = "let a function count the laps and leave by a choice"
            collector.add("SK209", head.position, message, fix=fix, text=head.name)


class _Task:
    """The checks of one task step."""

    def __init__(self, step: TaskState, collector: Collector, functions: Functions | None) -> None:
        self._step = step
        self._collector = collector
        self._functions = functions
        self._what = f"the task step {step.name!r}"

    def run(self) -> None:
        """Run them all."""
        name = self._check_function() if self._step.action == FUNCTION else None
        declared = self._declared(name)
        self._check_rules("retry", self._step.retry, declared)
        self._check_rules("catch", self._step.catch, declared)
        self._check_taken(name, declared)
        self._check_events()
        if self._step.mode is TaskMode.CUSTOM_CALLBACK and not self._step.timeout:
            message = f"{self._what} waits for a callback for ever when the report gets lost"
            self._add("SK502", message, "add 'timeoutSeconds:', up to 604800")

    def _add(self, code: str, message: str, fix: str) -> None:
        self._collector.add(code, self._step.position, message, fix=fix, text=self._step.name)

    def _check_function(self) -> str | None:
        given = self._step.parameters.constant.get("resourceArn") if self._step.parameters is not None else None
        if not isinstance(given, str) or not given or given.startswith("$"):
            return None
        name = parse_function_arn(given)
        if name is None:
            form = "acs:fc:<region>:<account>:services/<service>/functions/<function>"
            self._add("SK504", f"{given[:100]!r} of {self._what} names no function", f"write {form}")
        elif self._functions is not None and self._known(name) is None:
            near = nearest(name, self._functions)
            fix = f"did you mean {near}?" if near else "add it to s.yaml"
            self._add("SK503", f"s.yaml deploys no function {name!r}, which {self._what} calls", fix)
        return name

    def _known(self, name: str) -> str | None:
        """Return a function's name in s.yaml; one of a service of FC 2.0 is `service$name` there."""
        return next((one for one in self._functions or () if one == name or one.endswith(f"${name}")), None)

    def _declared(self, name: str | None) -> frozenset[str] | None:
        """Return the own errors the function declares; None when anything may come."""
        known = self._known(name) if name is not None else None
        if known is None or self._functions is None or self._step.mode is TaskMode.CUSTOM_CALLBACK:
            return None
        declared = self._functions[known]
        return None if declared is None else frozenset(declared)

    def _names(self, rules: Sequence[RetryRule | CatchRule]) -> Iterator[tuple[int, str]]:
        for index, rule in enumerate(rules):
            for name in rule.errors:
                yield index, name

    def _check_rules(self, field: str, rules: Sequence[RetryRule | CatchRule], declared: frozenset[str] | None) -> None:
        seen: set[str] = set()
        where = f"{field} of {self._what}"
        for index, name in self._names(rules):
            at = rules[index].position
            if name == ALL and index < len(rules) - 1:
                message = f"{where}: FnF.ALL takes every error before the rules after it"
                self._collector.add("SK401", at, message, fix="move the rule with FnF.ALL to the end")
            if name in seen:
                self._collector.add(
                    "SK402", at, f"{where}: an earlier rule takes {name!r} already", fix="remove it here"
                )
            seen.add(name)
            if problem := problem_of_rule_name(name):
                self._collector.add("SK403", at, f"{where}: {problem[0]}", fix=problem[1])
            elif declared is not None and not is_reserved(name) and name not in declared:
                message = f"{where}: nothing here raises {name!r}; there are {', '.join(sorted(declared)[:10])}"
                self._collector.add("SK404", at, message, fix="correct the name or remove it")
            callback = self._step.mode is not TaskMode.REQUEST_COMPLETE
            if field == "retry" and callback and name in (ALL, TASK_TIMEOUT):
                message = f"{where}: each retry of a callback task hands out a fresh token"
                self._collector.add("SK407", at, message, fix="take FnF.TaskTimeout in catch instead")

    def _check_taken(self, function: str | None, declared: frozenset[str] | None) -> None:
        taken = {name for _, name in (*self._names(self._step.retry), *self._names(self._step.catch))}
        missing = sorted((declared or frozenset()) - taken)
        if missing and ALL not in taken:
            message = f"no rule of {self._what} takes {', '.join(missing)}, which {function} declares"
            self._add("SK405", message, "add a catch rule for them, or one with FnF.ALL")

    def _check_events(self) -> None:
        for rule in self._step.retry:
            events = _EVENTS_PER_ATTEMPT * (rule.max_attempts + 1)
            if events > MAX_EVENTS:
                message = f"maxAttempts {rule.max_attempts} of {self._what}: {events} events; an execution has 5000"
                fix = f"allow at most {MAX_EVENTS // _EVENTS_PER_ATTEMPT - 1} retries"
                self._collector.add("SK409", rule.position, message, fix=fix)
