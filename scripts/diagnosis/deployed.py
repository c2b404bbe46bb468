"""Is what is deployed what the files say, and does it hang together? Functions, flows, versions, waiting tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from scripts.checking import flow_files
from scripts.cloud import CloudSettings, Flows, Functions, FunctionState
from scripts.cloud.deployment import Deployment
from scripts.diagnosis.model import Result
from scripts.flow_rollout import Deployer, waiting_tasks

__all__ = ["flow_state", "function_state", "quotas", "versions_in_use"]

_ARN = re.compile(r"acs:fc:[a-z0-9-]*:[0-9]*:functions/([A-Za-z0-9_-]+)/([A-Za-z0-9_-]+)")
_RUNNING_LIMIT = 10_000
_NEAR = 0.8


def function_state(functions: Functions, deployment: Deployment, alias: str) -> Iterator[Result]:
    """Every function there, with the template's environment, published, with its alias."""
    wrong = False
    for spec in deployment.functions:
        state = functions.find(spec.name)
        if state is None:
            mend = "deploy: s deploy, or python -m scripts.deploy_functions"
            wrong = True
            yield Result(f"function {spec.name}", "bad", "not deployed", mend)
            continue
        for result in _function_faults(functions, state, dict(spec.document.get("environmentVariables", {})), alias):
            wrong = True
            yield result
    if not wrong:
        yield Result("functions", "good", f"{len(deployment.functions)} deployed as s.yaml says")


def _function_faults(
    functions: Functions, state: FunctionState, wanted: dict[str, str], alias: str
) -> Iterator[Result]:
    subject = f"function {state.name}"
    there = dict(state.document.get("environmentVariables") or {})
    differ = sorted(key for key in {*there, *wanted} if there.get(key) != wanted.get(key))
    if differ:
        yield Result(subject, "warning", f"its environment differs from s.yaml: {', '.join(differ)}", "deploy again")
    if functions.alias(state.name, alias) is None:
        yield Result(subject, "bad", f"it has no alias {alias}", "run python -m scripts.publish")


def flow_state(deployer: Deployer, folder: Path) -> Iterator[Result]:
    """Every flow there and as its file says, its alias at the newest version."""
    for file in flow_files(folder):
        plan = deployer.plan(file)
        subject = f"flow {plan.name}"
        if not plan.present:
            yield Result(subject, "bad", "not deployed", "run python -m scripts.deploy_flows")
        elif plan.to_write or plan.to_publish:
            yield Result(
                subject, "warning", "its file or its functions are newer", "run python -m scripts.deploy_flows"
            )
        elif plan.alias is None:
            yield Result(subject, "bad", "it has no alias", "run python -m scripts.deploy_flows")
        elif len(plan.alias.routes) > 1:
            shares = ", ".join(f"{route.version} for {route.weight} %" for route in plan.alias.routes)
            mend = "deploy_flows without --canary finishes it, --rollback takes it back"
            yield Result(subject, "warning", f"a canary is under way: {shares}", mend)
        else:
            yield Result(subject, "good", f"version {plan.alias.routes[0].version}, workflow {plan.workflow or '-'}")


def versions_in_use(flows: Flows, functions: Functions, folder: Path) -> Iterator[Result]:
    """Do running executions still find the function versions that their definitions name?"""
    gone: set[str] = set()
    known: dict[tuple[str, str], bool] = {}
    running = 0
    for file in flow_files(folder):
        for execution in flows.executions(file.stem, status="Running"):
            running += 1
            for name, qualifier in sorted(set(_ARN.findall(execution.definition))):
                if (name, qualifier) not in known:
                    known[name, qualifier] = functions.find(name, qualifier) is not None
                if not known[name, qualifier]:
                    gone.add(f"{file.stem} {execution.name} needs {name}/{qualifier}")
    for need in sorted(gone):
        yield Result("versions in use", "bad", need, "publish that code again and redrive the execution")
    if not gone:
        yield Result("versions in use", "good", f"{running} running executions have what they call")
    waiting = [task for file in flow_files(folder) for task in waiting_tasks(flows, file.stem)]
    if waiting:
        oldest = min(waiting, key=lambda task: task.since)
        text = f"{len(waiting)} wait for an answer, the oldest ({oldest.execution}) since {oldest.since}"
        yield Result("waiting tasks", "good", text)


def quotas(settings: CloudSettings, flows: Flows) -> Iterator[Result]:
    """How near are the limits of an account (cloudflow-api page, 4.1)?"""
    files = flow_files(settings.flows)
    running = sum(len(flows.executions(file.stem, status="Running")) for file in files)
    share = running / _RUNNING_LIMIT
    text = f"{running} of {_RUNNING_LIMIT} running executions"
    if share >= _NEAR:
        yield Result("quotas", "warning", text, "ask for a higher limit, or find out why they do not end")
    else:
        yield Result("quotas", "good", text)
