"""Converts tasks: target, pattern, serviceParams, retry, catch and errorMappings."""

from __future__ import annotations

import math
from collections.abc import Mapping

from local_sim.definition.legacy.rules import DEFAULT_ATTEMPTS, DEFAULT_INTERVAL, DEFAULT_MULTIPLIER, MAX_SECONDS
from local_sim.definition.legacy.targets import FLOW, FUNCTION, MODES, action_of, resource_of
from local_sim.definition.model import TaskMode

from .lists import Json, State, StepWork
from .sources import FRAME, TOKEN, constructor, is_path

_ERRORS = {"$local.error": "$Context.Current.Error.Code", "$local.cause": "$Context.Current.Error.Detail"}


def convert_task(step: StepWork) -> None:
    """Append the Task, and the states that merge what it hands on."""
    data = step.data
    target = step.node.get("resourceArn")
    resource = "" if target is None else resource_of(target)
    action = data.get("action") or action_of(resource)
    mode = MODES[data.get("pattern") or "requestResponse"]
    state: State = {"Type": "Task", "Name": step.name, "InputConstructor": step.entry(), "Action": action}
    if mode is not TaskMode.REQUEST_COMPLETE:
        state["TaskMode"] = mode.value
    state["Parameters"] = _parameters(step, action, resource, mode)
    _timeout(step, state)
    if data.get("retry"):
        state["Retry"] = [_retry(step, rule) for rule in data["retry"]]
    handlers = _catch(step, state) if data.get("catch") else []
    called = action == FUNCTION and mode is not TaskMode.CUSTOM_CALLBACK
    step.leave(state, "$Output.Body" if called else "$Output")
    step.states.extend(handlers)


def _parameters(step: StepWork, action: str, resource: str, mode: TaskMode) -> dict[str, Json]:
    service = step.data.get("serviceParams") or {}
    made = constructor(service, step.expression, step.lose, deep=True)
    if action == FUNCTION and resource:
        default = "Async" if mode is TaskMode.SYSTEM_CALLBACK else "Sync"
        kind = {f"invocationType{mark}": value for mark, value in _field(made, "InvocationType")}
        return {"resourceArn": resource, **(kind or {"invocationType": default}), **_whole(step, "body")}
    if action == FLOW and resource:
        given = {f"input{mark}": value for mark, value in _field(made, "Input")} or _whole(step, "input")
        name = {f"executionName{mark}": value for mark, value in _field(made, "ExecutionName")}
        return {"resourceArn": resource, **given, **name}
    if resource:
        return {"resourceArn": resource, **{key[:1].lower() + key[1:]: value for key, value in made.items()}}
    if not service:
        step.changed("the action's Parameters are the mapped input's keys; the whole input is handed on as 'body'")
        return _whole(step, "body")
    return made


def _field(made: Mapping[str, Json], name: str) -> list[tuple[str, Json]]:
    return [(key.removeprefix(name), value) for key, value in made.items() if key in (name, f"{name}.$")]


def _whole(step: StepWork, key: str) -> dict[str, Json]:
    """Return the mapped input as a parameter; the callback token is read where it is allowed, in Parameters."""
    if not step.tokens:
        return {f"{key}.$": "$Input.step"}
    others = [one["target"] for one in step.data["inputMappings"] if one["target"] not in step.tokens]
    body = {f"{name}.$": step.expression(f'$["{name}"]') for name in others}
    return {key: {**body, **{f"{token}.$": TOKEN for token in step.tokens}}}


def _timeout(step: StepWork, state: State) -> None:
    timeout = step.data.get("timeoutSeconds")
    if is_path(timeout):
        state["Timeout.$"] = step.expression(timeout)
    elif timeout is not None:
        state["Timeout"] = int(timeout)


def _retry(step: StepWork, rule: Mapping[str, Json]) -> dict[str, Json]:
    interval = rule.get("intervalSeconds", DEFAULT_INTERVAL)
    longest = rule.get("maxIntervalSeconds", MAX_SECONDS)
    if math.ceil(interval) != interval or math.ceil(longest) != longest:
        step.changed("fractions of a second in a retry rule were rounded up")
    return {
        "Errors": list(rule["errors"]),
        "MaxAttempts": rule.get("maxAttempts", DEFAULT_ATTEMPTS),
        "IntervalSeconds": math.ceil(interval),
        "BackoffRate": rule.get("multiplier", DEFAULT_MULTIPLIER),
        "MaxBackoffSeconds": math.ceil(longest),
    }


def _catch(step: StepWork, state: State) -> list[State]:
    """Write the Catch rules; return the states that merge what errorMappings make, one a target."""
    mappings = step.data.get("errorMappings") or []
    output: dict[str, Json] = dict(FRAME)
    if mappings:
        step.changed("errorMappings became the Catch rules' own OutputConstructor")
        made = {
            f"{one['target']}.$" if one.get("source") in _ERRORS else one["target"]: _ERRORS.get(
                one.get("source") if isinstance(one.get("source"), str) else "", one.get("source")
            )
            for one in mappings
        }
        output["output"] = made
    state["Catch"] = []
    merges: dict[str, str] = {}
    for rule in step.data["catch"]:
        target = rule["goto"]
        if mappings:
            merges[target] = merges.get(target) or step.merge(target, "caught")
        state["Catch"].append(
            {"Errors": list(rule["errors"]), "OutputConstructor": output, "Next": merges.get(target, target)}
        )
    handlers, step.states[:] = list(step.states), []
    return handlers
