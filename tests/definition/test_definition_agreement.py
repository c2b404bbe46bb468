"""What the checker accepts, the engine runs; what it refuses, everything that takes a flow refuses with its words."""

# ruff: noqa: E501

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from local_sim.clock import VirtualClock
from local_sim.definition import RULES, DefinitionError, check_flow, load_flow
from local_sim.definition.examples import EXAMPLES, whole_flow
from local_sim.engine import Execution, InvokeTask, Limits, Started, StartTimer, TaskFailed, TaskSucceeded, TimerFired
from local_sim.project import Project
from local_sim.runner import run_flow
from local_sim.server.definitions import Definitions
from local_sim.services.cloudflow import CloudFlowError

REFUSED = [
    code
    for code, example in EXAMPLES.items()
    if example.broken and RULES[code].severity == "error" and "\n" in whole_flow(example.broken)
]


@pytest.mark.parametrize("code", REFUSED)
def test_what_the_checker_refuses_the_runner_and_the_service_refuse_with_the_same_words(
    code: str, tmp_path: Any
) -> None:
    text = whole_flow(EXAMPLES[code].broken)
    words = check_flow(text).errors[0].message
    with pytest.raises(DefinitionError) as by_runner:
        run_flow(Project(tmp_path), text, {}, clock=VirtualClock(0))
    assert words in str(by_runner.value)
    with pytest.raises(CloudFlowError) as by_service:
        Definitions().check(text, "demo", "Standard")
    assert words in str(by_service.value)


paths = st.sampled_from(
    ["$Input", "$Input.a", "$Input.xs[0]", "$Context.Execution.Name", "$Global.g", "$Output", "$Item"]
)
expressions = paths | st.sampled_from(
    [
        "intAdd($Input.n, 1)",
        "length($Input.xs)",
        "format('{}', $Input)",
        "get($Input, 'a')",
        "uuid()",
        "hash('a', 'MD5')",
    ]
)
conditions = st.sampled_from(
    [
        "$Input.n > 1",
        "$Input.a == 'x' && $Input.b",
        "!$Input.b",
        "$Input.n in $Input.xs",
        "'a' in $Input",
        "$Input.n",
        "1 >",
    ]
)
constructors = st.dictionaries(
    st.sampled_from(["n", "a.b", "中"]), st.integers() | st.booleans() | st.lists(st.none(), max_size=1), max_size=2
) | st.dictionaries(st.sampled_from(["n.$", "xs.$", "b.$"]), expressions, max_size=2)
optional = {
    "InputConstructor": constructors,
    "OutputConstructor": constructors,
    "GlobalConstructor": constructors,
    "Description": st.just("words"),
}
error_names = st.lists(st.sampled_from(["FnF.ALL", "Busy", "FnF.RuntimeError"]), min_size=1, max_size=2)
retry = st.fixed_dictionaries(
    {"Errors": error_names, "MaxAttempts": st.integers(0, 2), "IntervalSeconds": st.integers(0, 3)},
    optional={"BackoffRate": st.sampled_from([1, 2.5, 0]), "MaxBackoffSeconds": st.integers(1, 5)},
)


def named(names: list[str]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return the states of one scope, in a line: each goes to one of the later ones or ends."""
    return st.tuples(*(one(name, names[index + 1 :]) for index, name in enumerate(names))).map(list)


def one(name: str, later: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    target = st.sampled_from(later) if later else st.just("nowhere")
    onward = st.just({"End": True}) if not later else st.just({"End": True}) | target.map(lambda state: {"Next": state})
    catch = st.fixed_dictionaries({"Errors": error_names, "Next": target}, optional={"OutputConstructor": constructors})
    rules = {"Retry": st.lists(retry, max_size=1), "Catch": st.lists(catch, max_size=1 if later else 0)}
    inner = named([f"{name}x", f"{name}y"]) if len(name) < 3 else st.just([{"Type": "Succeed", "Name": f"{name}x"}])
    scope = inner.map(lambda states: {"StartAt": states[0]["Name"], "States": states})
    branch = st.fixed_dictionaries({"Condition": conditions, "Next": target})
    kinds: list[st.SearchStrategy[dict[str, Any]]] = [
        st.fixed_dictionaries({"Type": st.just("Pass")}, optional=optional),
        st.fixed_dictionaries({"Type": st.just("Wait"), "Seconds": st.integers(0, 9)}, optional=optional),
        st.fixed_dictionaries({"Type": st.just("Wait"), "Seconds.$": expressions}, optional=optional),
        st.fixed_dictionaries(
            {"Type": st.just("Task"), "Action": st.just("X:Y")},
            optional={**optional, **rules, "Parameters": constructors, "Timeout": st.integers(0, 9)},
        ),
        st.fixed_dictionaries(
            {"Type": st.just("Parallel"), "Branches": st.lists(scope, min_size=1, max_size=2)},
            optional={**optional, **rules},
        ),
        st.fixed_dictionaries(
            {"Type": st.just("Map"), "ItemsPath": paths, "Processor": scope},
            optional={**optional, **rules, "MaxConcuccency": st.integers(1, 41)},
        ),
    ]
    moving = st.tuples(st.one_of(kinds), onward).map(lambda pair: {**pair[0], **pair[1], "Name": name})
    ends = st.fixed_dictionaries({"Type": st.just("Succeed"), "Name": st.just(name)}, optional=optional)
    fails = st.fixed_dictionaries({"Type": st.just("Fail"), "Name": st.just(name), "Code": st.just("Busy")})
    if not later:
        return moving | ends | fails
    chooses = st.fixed_dictionaries(
        {
            "Type": st.just("Choice"),
            "Name": st.just(name),
            "Default": target,
            "Branches": st.lists(branch, min_size=1, max_size=2),
        }
    )
    return moving | ends | fails | chooses


flows = named(["a", "b", "c"]).map(
    lambda states: {"Type": "StateMachine", "SpecVersion": "v1", "Name": "f", "StartAt": "a", "States": states}
)
inputs = st.dictionaries(
    st.sampled_from(["n", "a", "b", "xs"]), st.integers(0, 3) | st.booleans() | st.lists(st.integers(0, 3), max_size=3)
)


@settings(max_examples=250)
@given(flows, inputs, st.lists(st.booleans(), max_size=6))
def test_what_the_checker_accepts_the_engine_runs(
    flow: dict[str, Any], value: dict[str, Any], good: list[bool]
) -> None:
    text = json.dumps(flow, ensure_ascii=False)
    report = check_flow(text)
    if report.errors:
        event("refused")
        with pytest.raises(DefinitionError) as caught:
            load_flow(text)
        assert caught.value.findings == report.errors
        return
    execution = Execution(load_flow(text), name="run", secret=b"s", limits=Limits(max_events=500))
    ahead = [Started(0, value, "seed")]
    outcomes = iter(good)
    while ahead:
        ahead.sort(key=lambda one: one.at_ms)
        now = ahead.pop(0)
        for command in execution.handle(now):
            if isinstance(command, InvokeTask):
                ok = next(outcomes, True)
                made = TaskSucceeded(now.at_ms, command.task_id, {"Body": 1})
                ahead.append(made if ok else TaskFailed(now.at_ms, command.task_id, "Busy", ""))
            elif isinstance(command, StartTimer):
                ahead.append(TimerFired(command.due_ms, command.timer_id))
    assert execution.status.value in ("Succeeded", "Failed"), execution.status
    event(execution.status.value)
    # What the checker let pass may fail over data, by a name and a cause that says where; never for the flow's own form.
    assert execution.error in ("", "Busy", "FnF.RuntimeError", "FnF.HistoryLimitExceeded", "FnF.TaskTimeout")
