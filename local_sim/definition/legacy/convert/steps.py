"""Converts each type of step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from local_sim.definition.nodes import ListNode, MapNode

from .lists import Json, ListWork, State, StepWork
from .sources import FRAME, NoEquivalent, branch_locals, condition_of, item_locals
from .tasks import convert_task
from .waits import convert_wait

MAX_BRANCHES = 50
NO_EQUIVALENT = "Convert.NoEquivalent"
"""The error of the Fail that stands where nothing can: better a loud failure than a silent gap."""


def convert_step(step: StepWork) -> None:
    """Append the states a step becomes; the first one bears its name."""
    _CONVERTERS[step.data["type"]](step)


def _pass(step: StepWork) -> None:
    step.leave({"Type": "Pass", "Name": step.name, "InputConstructor": step.entry()}, "$Input.step")


def _succeed(step: StepWork) -> None:
    if step.data.get("outputMappings"):
        step.leave({"Type": "Pass", "Name": step.name, "InputConstructor": step.entry()}, None)
    else:
        step.add({"Type": "Pass", "Name": step.name, "OutputConstructor": dict(FRAME)})


def _fail(step: StepWork) -> None:
    code = step.data.get("error") or "FnF.Fail"
    step.add({"Type": "Fail", "Name": step.name, "Code": code, "Detail": step.data.get("cause") or ""}, ends=True)


def no_equivalent(step: StepWork, message: str) -> None:
    """Put a Fail where the step was, and say so."""
    step.lost(message)
    step.add({"Type": "Fail", "Name": step.name, "Code": NO_EQUIVALENT, "Detail": message}, ends=True)


def _wait(step: StepWork) -> None:
    if step.data.get("timestamp") is not None:
        no_equivalent(step, "a wait until a moment has no equivalent; a Wait is relative only")
    else:
        convert_wait(step)


def _choice(step: StepWork) -> None:
    state: State = {"Type": "Choice", "Name": step.name, "InputConstructor": step.entry(), "Branches": []}
    step.add(state, ends=True)
    nodes = step.node.get("choices")
    for number, node in enumerate(nodes.items if isinstance(nodes, ListNode) else []):
        option = step.data["choices"][number]
        target = _option(step, node, option, f"{step.name}-{number + 1}")
        state["Branches"].append({"Condition": condition_of(option["condition"]), "Next": target})
    default = step.node.get("default")
    if isinstance(default, MapNode):
        state["Default"] = _option(step, default, step.data["default"], f"{step.name}-default")
    else:
        state["Default"] = _option(step, step.node, {}, f"{step.name}-default")


def _option(step: StepWork, node: Any, option: Mapping[str, Json], name: str) -> str:
    """Return the state an option leads to; nested steps become a Parallel of one branch, a scope of their own."""
    if not option.get("steps"):
        if not step.data.get("outputMappings"):
            return step.target_or_end(option.get("goto"))
        name = step.owner.fresh(name)
        step.leave({"Type": "Pass", "Name": name}, None, option.get("goto"))
        return name
    name = step.owner.fresh(name)
    step.changed(f"the nested steps became the one branch of the Parallel {name!r}")
    state = {"Type": "Parallel", "Name": name, "Branches": [nested(step, node)]}
    step.leave(state, "$Output.Branch0.local", option.get("goto"))
    return name


def nested(step: StepWork, node: MapNode, begin: State | None = None) -> Json:
    """Convert a list inside a step: its input is the step's, its local starts empty."""
    start = begin or {"Type": "Pass", "Name": "begin", "OutputConstructor": {"input.$": "$Input.step", "local": {}}}
    return ListWork(node, step.owner.work).convert(convert_step, start)


def _parallel(step: StepWork) -> None:
    nodes = step.node.get("branches")
    branches = [node for node in (nodes.items if isinstance(nodes, ListNode) else []) if isinstance(node, MapNode)]
    if len(branches) > MAX_BRANCHES:
        no_equivalent(step, f"{len(branches)} branches; a Parallel holds {MAX_BRANCHES}")
        return
    state: State = {"Type": "Parallel", "Name": step.name, "InputConstructor": step.entry()}
    state["Branches"] = [nested(step, node) for node in branches]
    if step.data.get("outputMappings"):
        step.changed("the array local is an object of branches; mappings read the branches by name")
    step.leave(state, branch_locals(len(branches)))


def _foreach(step: StepWork) -> None:
    mapping = step.data["iterationMapping"]
    state: State = {"Type": "Map", "Name": step.name, "InputConstructor": step.entry()}
    try:
        state["ItemsPath"] = step.expression(mapping["collection"])
    except NoEquivalent as error:
        step.lose(error)
        state["ItemsPath"] = error.stand_in
    state["ItemConstructor"] = {"input.$": "$Input.step", "item.$": "$Item"}
    step.changed(
        "the item is laid over the input by ItemConstructor, which is documented for distributed Maps only (A51)"
    )
    state["MaxConcuccency"] = 40
    if mapping.get("index") is not None:
        step.lost("index: a Map does not tell the number of an item")
    begin: State = {"Type": "Pass", "Name": "begin"}
    item = mapping.get("item")
    if item is None:
        begin["OutputConstructor"] = {"input.$": "$Input.input", "local": {}}
    else:
        begin["InputConstructor"] = {"input.$": "$Input.input", "item": {f"{item}.$": "$Input.item"}}
        begin["OutputConstructor"] = {"input.$": "jsonMerge($Input.input, $Input.item)", "local": {}}
    state["Processor"] = nested(step, step.node, begin)
    step.leave(state, item_locals)


_CONVERTERS: Mapping[str, Callable[[StepWork], None]] = {
    "pass": _pass,
    "succeed": _succeed,
    "fail": _fail,
    "wait": _wait,
    "choice": _choice,
    "parallel": _parallel,
    "foreach": _foreach,
    "task": convert_task,
}
