"""The flows that are measured, each in CloudFlow's language and, where it exists there, in the neighbours' (ASL)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Json = Any


@dataclass(frozen=True, slots=True)
class Case:
    """One measured flow. `steps` is what the rate counts: transitions, laps, items, branches or levels.

    `asl` is None when the neighbours' language has no equivalent that means the same.
    """

    name: str
    steps: int
    unit: str
    flow: dict[str, Json]
    input: Json
    asl: dict[str, Json] | None


def chain(length: int) -> Case:
    """Pass states, one after the other."""
    names = [f"s{number}" for number in range(length)]
    ours: list[dict[str, Json]] = [{"Type": "Pass", "Name": name, "Next": after} for name, after in pairwise(names)]
    ours.append({"Type": "Pass", "Name": names[-1], "End": True})
    theirs = {state["Name"]: {key: value for key, value in state.items() if key != "Name"} for state in ours}
    asl = {"StartAt": "s0", "States": theirs}
    return Case(f"chain of {length:,} Pass states", length, "transitions", _flow("s0", ours), {"n": 1}, asl)


def loop(laps: int) -> Case:
    """A counter and a Choice; two transitions a lap."""
    ours: list[dict[str, Json]] = [
        {"Type": "Pass", "Name": "add", "OutputConstructor": {"lap.$": "intAdd($Input.lap, 1)"}, "Next": "check"},
        {
            "Type": "Choice",
            "Name": "check",
            "Branches": [{"Condition": f"$Input.lap < {laps}", "Next": "add"}],
            "Default": "done",
        },
        {"Type": "Succeed", "Name": "done"},
    ]
    theirs = {
        "add": {"Type": "Pass", "Parameters": {"lap.$": "States.MathAdd($.lap, 1)"}, "Next": "check"},
        "check": {
            "Type": "Choice",
            "Choices": [{"Variable": "$.lap", "NumericLessThan": laps, "Next": "add"}],
            "Default": "done",
        },
        "done": {"Type": "Succeed"},
    }
    asl = {"StartAt": "add", "States": theirs}
    return Case(f"Choice loop of {laps:,} laps", 2 * laps, "transitions", _flow("add", ours), {"lap": 0}, asl)


def items(count: int) -> Case:
    """An inline Map over small objects; its collected output is dropped, for it would be over 64 KiB (C56)."""
    inner: list[dict[str, Json]] = [{"Type": "Pass", "Name": "item", "End": True}]
    ours: list[dict[str, Json]] = [
        {
            "Type": "Map",
            "Name": "each",
            "ItemsPath": "$Input.xs",
            "Processor": {"StartAt": "item", "States": inner},
            "OutputConstructor": {"done": True},
            "End": True,
        }
    ]
    iterator = {"StartAt": "item", "States": {"item": {"Type": "Pass", "End": True}}}
    each = {"Type": "Map", "ItemsPath": "$.xs", "Iterator": iterator, "MaxConcurrency": 40, "End": True}
    asl = {"StartAt": "each", "States": {"each": each}}
    value = {"xs": [{"n": number} for number in range(count)]}
    # The input of 10,000 items is over 64 KiB, so it stands in the flow instead.
    ours[0]["ItemsPath"] = "$Input.xs" if count <= 1000 else "$Context.Execution.Input.xs"
    return Case(f"Map over {count:,} items", count, "items", _flow("each", ours), value, asl)


def wide(branches: int) -> Case:
    """A Parallel with one Pass a branch."""
    ours = [
        {
            "Type": "Parallel",
            "Name": "fan",
            "Branches": [
                {"StartAt": f"b{number}", "States": [{"Type": "Pass", "Name": f"b{number}", "End": True}]}
                for number in range(branches)
            ],
            "End": True,
        }
    ]
    theirs = [
        {"StartAt": f"b{number}", "States": {f"b{number}": {"Type": "Pass", "End": True}}} for number in range(branches)
    ]
    asl = {"StartAt": "fan", "States": {"fan": {"Type": "Parallel", "Branches": theirs, "End": True}}}
    return Case(f"Parallel {branches} wide", branches, "branches", _flow("fan", ours), {"n": 1}, asl)


def nested(levels: int) -> Case:
    """Parallels inside each other, a Pass at the bottom."""
    ours: dict[str, Json] = {"StartAt": "leaf", "States": [{"Type": "Pass", "Name": "leaf", "End": True}]}
    theirs: dict[str, Json] = {"StartAt": "leaf", "States": {"leaf": {"Type": "Pass", "End": True}}}
    for level in range(levels):
        name = f"p{level}"
        ours = {"StartAt": name, "States": [{"Type": "Parallel", "Name": name, "Branches": [ours], "End": True}]}
        theirs = {"StartAt": name, "States": {name: {"Type": "Parallel", "Branches": [theirs], "End": True}}}
    return Case(f"{levels} nested levels", levels, "levels", {**_HEAD, **ours}, {"n": 1}, theirs)


def wait() -> Case:
    """A Wait of 300 seconds under virtual time."""
    ours = [{"Type": "Wait", "Name": "w", "Seconds": 300, "End": True}]
    return Case("wait of 300 s", 1, "waits", _flow("w", ours), {"n": 1}, None)


def expiry() -> Case:
    """A callback nobody reports, which expires after seven days under virtual time."""
    ours: list[dict[str, Json]] = [
        {
            "Type": "Task",
            "Name": "review",
            "Action": "Bench:Ask",
            "TaskMode": "WaitForCustomCallback",
            "Timeout": 604_800,
            "Parameters": {"token.$": "$Context.Current.TaskToken"},
            "Catch": [{"Errors": ["FnF.TaskTimeout"], "OutputConstructor": {"late": True}, "Next": "end"}],
            "Next": "end",
        },
        {"Type": "Succeed", "Name": "end"},
    ]
    return Case("callback that expires after 7 days", 1, "expiries", _flow("review", ours), {"n": 1}, None)


def small() -> Case:
    """Three states: what a first run costs."""
    made = chain(3)
    return Case("cold process to first finished execution", 1, "processes", made.flow, made.input, made.asl)


CASES: dict[str, Callable[[], Case]] = {
    "cold": small,
    "chain-1000": lambda: chain(1_000),
    "chain-10000": lambda: chain(10_000),
    "chain-100000": lambda: chain(100_000),
    "loop-10000": lambda: loop(10_000),
    "map-1000": lambda: items(1_000),
    "map-10000": lambda: items(10_000),
    "parallel-50": lambda: wide(50),
    "nested-200": lambda: nested(200),
    "wait-300": wait,
    "expiry-7-days": expiry,
    "check-1000": lambda: chain(1_000),
}
"""By the name that `--case` takes."""

_HEAD = {"Type": "StateMachine", "SpecVersion": "v1", "Name": "bench"}


def _flow(start: str, states: list[dict[str, Json]]) -> dict[str, Json]:
    return {**_HEAD, "StartAt": start, "States": states}


def as_text(case: Case) -> str:
    """Return the definition as JSON text, which CloudFlow takes as well as YAML."""
    return json.dumps(case.flow)
