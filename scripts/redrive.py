"""Goes on with an execution that failed: a new one with the same input, and so the same task.

    python -m scripts.redrive content_review t-1

Steps that are done answer from the ledger; the first one that is not runs again. The new execution uses the version of
the flow that the failed one used, unless told otherwise.
"""

from __future__ import annotations

from typing import Annotated

import typer

from scripts.cloud import CloudSettings, Execution, Flows, NotThere, Refused, command_app, reported, say, show_json
from scripts.flow_rollout import workflow_of
from scripts.start import wait_for_end

__all__ = ["app", "redrive"]

_VERSIONS_LOOKED_AT = 50
_NAME_LENGTH = 120

app = command_app()


@app.command(
    epilog="Examples:  python -m scripts.redrive content_review t-1 | "
    "python -m scripts.redrive order_saga o-7 --newest --wait.   "
    "Exit status: 0 started (with --wait: succeeded), 1 refused (with --wait: ended otherwise), 2 anything else."
)
@reported("redrive")
def main(
    flow: Annotated[str, typer.Argument(help="The flow's name.")],
    execution: Annotated[str, typer.Argument(help="The name of the execution that failed.")],
    newest: Annotated[bool, typer.Option("--newest", help="Use what the alias points at now.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it although finished steps would run again.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Start a failed execution again; what is done is not done twice."""
    settings = CloudSettings()
    flows = Flows(settings)
    started = redrive(flows, flow, execution, settings.alias, newest=newest, yes=yes)
    if wait:
        started = wait_for_end(flows, started)
    if as_json:
        show_json(started)
    else:
        say(f"{started.flow} {started.name}: {started.status or 'Starting'}")
    raise typer.Exit(1 if wait and started.status != "Succeeded" else 0)


def redrive(flows: Flows, flow: str, name: str, alias: str, *, newest: bool = False, yes: bool = False) -> Execution:
    """Start an ended execution again and return the new one, or the redrive of it that is running already.

    Raises `NotThere` for an unknown execution, `Refused` when it runs, has succeeded, or (with `newest` and without
    `yes`) when the alias names another workflow version, under which finished steps would run again.
    """
    failed = flows.execution(flow, name)
    if failed is None:
        raise NotThere(f"execution {name} of flow {flow}", f"python -m scripts.status {flow} lists them")
    if failed.running:
        raise Refused([f"execution {name} is still running; python -m scripts.status {flow} {name} says where"])
    if failed.status == "Succeeded" and not yes:
        raise Refused([f"execution {name} has succeeded"], "--yes")
    base = name.rpartition("-redrive-")[0] or name
    earlier = flows.executions(flow, prefix=f"{base[:_NAME_LENGTH]}-redrive-")
    for one in earlier:
        if one.running:
            return one
    qualifier = alias if newest else _version_of(flows, failed) or alias
    _check_workflow(flows, failed, qualifier, alias, yes=yes)
    return flows.start(flow, f"{base[:_NAME_LENGTH]}-redrive-{len(earlier) + 1}", failed.input, qualifier)


def _version_of(flows: Flows, execution: Execution) -> str:
    """The version whose definition the execution ran; empty when none has it any more."""
    for version in flows.versions(execution.flow)[:_VERSIONS_LOOKED_AT]:
        found = flows.find(execution.flow, version.number)
        if found is not None and found.definition == execution.definition:
            return version.number
    return ""


def _check_workflow(flows: Flows, failed: Execution, qualifier: str, alias: str, *, yes: bool) -> None:
    if qualifier != alias or yes:
        return
    there = flows.alias(failed.flow, alias)
    if there is None or not there.routes:
        raise NotThere(f"alias {alias} of flow {failed.flow}", "run python -m scripts.deploy_flows")
    found = flows.find(failed.flow, max(there.routes, key=lambda route: route.weight).version)
    before, after = workflow_of(failed.definition), workflow_of(found.definition if found else "")
    if before != after:
        raise Refused(
            [f"finished steps are kept under workflow {before}, the alias runs {after}: they would run again"], "--yes"
        )


if __name__ == "__main__":
    app()
