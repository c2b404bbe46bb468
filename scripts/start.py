"""Starts a flow by its alias: on a document, or on an input of JSON.

    python -m scripts.start content_review --task t-1 --document contract.pdf
    python -m scripts.start order_saga --input order.json --wait

The execution is named after the task, so starting the same task twice is one execution.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from scripts.cloud import (
    CloudSettings,
    Execution,
    Flows,
    NotThere,
    ServiceFault,
    command_app,
    reported,
    say,
    show_json,
)
from scripts.cloud.deployment import adopt_environment

__all__ = ["app", "execution_name", "wait_for_end"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,127}")
_POLL_SECONDS = 20

app = command_app()


@app.command(
    epilog="Examples:  python -m scripts.start content_review --task t-1 --document a.pdf | "
    "python -m scripts.start order_saga --input order.json --wait | python -m scripts.start hello --input -.   "
    "Exit status: 0 started (with --wait: succeeded), 1 with --wait: it ended otherwise, 2 it could not be started."
)
@reported("start")
def main(
    flow: Annotated[str, typer.Argument(help="The flow's name.")],
    document: Annotated[Path | None, typer.Option(help="Upload this and start the flow on it.")] = None,
    given: Annotated[str | None, typer.Option("--input", help="JSON, the name of a JSON file, or - for stdin.")] = None,
    task: Annotated[str, typer.Option(help="The task's id; put into the input when it has none.")] = "",
    name: Annotated[str, typer.Option(help="The execution's name (default: the task's id).")] = "",
    qualifier: Annotated[str, typer.Option(help="A version or alias (default: the deployment's alias).")] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Start an execution."""
    settings = CloudSettings()
    flows = Flows(settings)
    value = _input(document, given, task, settings)
    wanted = name or execution_name(str(value.get("task_id", task)))
    chosen = qualifier or settings.alias
    try:
        execution = flows.start(flow, wanted or None, json.dumps(value, ensure_ascii=False), chosen)
    except ServiceFault as fault:
        raise _explained(fault, flow, wanted, chosen) from fault
    if wait:
        execution = wait_for_end(flows, execution)
    if as_json:
        show_json(execution)
    else:
        say(f"{execution.flow} {execution.name}: {execution.status or 'Starting'}")
    raise typer.Exit(1 if wait and execution.status != "Succeeded" else 0)


def execution_name(task: str) -> str:
    """The name of a task's execution: its id with what names cannot hold replaced; "" for no id."""
    if not task or _NAME.fullmatch(task):
        return task
    name = re.sub(r"[^A-Za-z0-9_-]", "_", task)[:126]
    return name if name[0].isalpha() or name[0] == "_" else f"_{name}"


def wait_for_end(flows: Flows, execution: Execution) -> Execution:
    """Wait until the execution has ended; waits for a person too. Raises `NotThere` when it is deleted meanwhile."""
    while execution.running:
        found = flows.execution(execution.flow, execution.name, _POLL_SECONDS)
        if found is None:
            raise NotThere(f"execution {execution.name} of flow {execution.flow}", "it was deleted meanwhile")
        execution = found
    return execution


def _input(document: Path | None, given: str | None, task: str, settings: CloudSettings) -> dict[str, Any]:
    if document is not None:
        if not task:
            raise typer.BadParameter("--document needs --task")
        from scripts.put_document import put_document

        adopt_environment(settings)
        return dict(put_document(document, task))
    value = _parsed(given) if given is not None else {}
    return {"task_id": task, **value} if task else value


def _parsed(given: str) -> dict[str, Any]:
    text = given
    try:
        if given == "-":
            text = sys.stdin.read()
        elif not given.lstrip().startswith(("{", "[")):
            text = Path(given).read_text(encoding="utf-8-sig")
        value = json.loads(text)
    except OSError as error:
        raise typer.BadParameter(f"--input {given}: {error.strerror or error}") from None
    except ValueError as error:
        raise typer.BadParameter(f"--input is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise typer.BadParameter("--input must be a JSON object")
    return value


def _explained(fault: ServiceFault, flow: str, name: str, qualifier: str) -> Exception:
    if fault.code == "ExecutionAlreadyExists":
        mend = f"it has ended; go on with it by python -m scripts.redrive {flow} {name}, or choose another --name"
        return NotThere(f"a free name: execution {name!r} exists, so starting", mend)
    if fault.missing:
        return NotThere(f"flow {flow!r} with alias or version {qualifier!r}", "run python -m scripts.deploy_flows")
    return fault


if __name__ == "__main__":
    app()
