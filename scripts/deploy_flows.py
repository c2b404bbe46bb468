"""Deploys the flows: checked strictly, ARNs filled in, a version published, an alias moved at once or gradually.

    python -m scripts.deploy_flows --plan
    python -m scripts.deploy_flows --flow content_review --canary 10
    python -m scripts.deploy_flows --flow content_review --rollback

Running executions keep the version they were started with. `python -m scripts.start` starts by the alias.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scripts.checking import flow_files, flow_problems
from scripts.cloud import (
    CloudSettings,
    FlowAlias,
    Flows,
    Functions,
    NotThere,
    Refused,
    command_app,
    reported,
    say,
    show_json,
    show_table,
)
from scripts.flow_rollout import Deployer, FlowPlan, Qualifiers

__all__ = ["app"]

app = command_app()


@app.command(
    epilog="Examples:  python -m scripts.deploy_flows --plan | python -m scripts.deploy_flows --canary 10 | "
    "python -m scripts.deploy_flows --rollback.   "
    "Exit status: 0 done (or nothing to do), 1 refused, 2 anything that stood in the way."
)
@reported("deploy_flows")
def main(
    plan_only: Annotated[bool, typer.Option("--plan", help="Show what would change and change nothing.")] = False,
    flow: Annotated[list[str] | None, typer.Option(help="Names of flows; all without it.")] = None,
    canary: Annotated[int | None, typer.Option(min=1, max=99, help="Per cent of starts for the new version.")] = None,
    functions: Annotated[str, typer.Option(help="What ARNs name: version, alias or latest.")] = "version",
    yes: Annotated[bool, typer.Option("--yes", help="Deploy although waiting tasks would be stranded.")] = False,
    rollback: Annotated[bool, typer.Option("--rollback", help="Let the alias point at the version before.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make the flows what the files of flows/ say."""
    settings = CloudSettings()
    deployer = Deployer(settings, Flows(settings), Functions(settings), _qualifiers(functions))
    files = _files(settings.flows, flow or [])
    if rollback:
        _show_moves({file.stem: deployer.roll_back(file.stem) for file in files}, as_json=as_json)
        return
    problems = flow_problems(files, settings.template.resolve().parent)
    if problems:
        raise Refused([f"{place}: {problem}" for place, problem in problems])
    plans = [deployer.plan(file, canary) for file in files]
    if not plan_only:
        _refuse(plans, yes=yes)
        for plan in plans:
            deployer.apply(plan, canary)
    _show(plans, planned=plan_only, as_json=as_json)


def _qualifiers(text: str) -> Qualifiers:
    known: dict[str, Qualifiers] = {"version": "version", "alias": "alias", "latest": "latest"}
    if text not in known:
        raise typer.BadParameter(f"--functions is version, alias or latest, not {text!r}")
    return known[text]


def _files(folder: Path, names: list[str]) -> list[Path]:
    """The flows' files; a flow's file is called after it."""
    there = {file.stem: file for file in flow_files(folder)} if folder.is_dir() else {}
    for name in names:
        if name not in there:
            raise NotThere(f"a file of flow {name} in {folder}", f"there are {', '.join(there) or 'none'}")
    return [there[name] for name in names or there]


def _refuse(plans: list[FlowPlan], *, yes: bool) -> None:
    lost = [f"{plan.name}: {task}" for plan in plans for task in plan.stranded]
    if lost and not yes:
        raise Refused(lost, "--yes")


def _show(plans: list[FlowPlan], *, planned: bool, as_json: bool) -> None:
    if as_json:
        show_json({"applied": not planned, "flows": [_summary(plan) for plan in plans]})
        return
    for plan in plans:
        if planned and plan.diff:
            say(plan.diff)
        for task in plan.stranded:
            say(f"{plan.name}: {task}")
    rows = [
        (plan.name, plan.workflow, _action(plan), _routes(plan.alias), _routes(FlowAlias("", plan.wanted)))
        for plan in plans
    ]
    show_table(("flow", "workflow", "planned" if planned else "done", "alias before", "alias after"), rows)


def _summary(plan: FlowPlan) -> dict[str, object]:
    before = plan.alias.routes if plan.alias else ()
    return {
        "flow": plan.name,
        "workflow_version": plan.workflow,
        "sha256": plan.digest,
        "action": _action(plan),
        "alias_before": before,
        "alias_after": plan.wanted,
        "functions": plan.functions,
        "stranded": plan.stranded,
        "diff": plan.diff,
    }


def _action(plan: FlowPlan) -> str:
    parts = [
        "create" if not plan.present else "update" if plan.to_write else "",
        "publish" if plan.to_publish else "",
        "move alias" if plan.to_move else "",
    ]
    return ", ".join(part for part in parts if part) or "nothing"


def _routes(alias: FlowAlias | None) -> str:
    if alias is None:
        return "-"
    return ", ".join(f"{route.version} for {route.weight} %" for route in alias.routes)


def _show_moves(moves: dict[str, tuple[FlowAlias, FlowAlias]], *, as_json: bool) -> None:
    if as_json:
        show_json([{"flow": flow, "before": before, "after": after} for flow, (before, after) in moves.items()])
        return
    rows = [(flow, _routes(before), _routes(after)) for flow, (before, after) in moves.items()]
    show_table(("flow", "alias before", "alias after"), rows)


if __name__ == "__main__":
    app()
