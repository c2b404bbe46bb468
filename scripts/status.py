"""Shows how things stand: all flows, the executions of one, or one execution with the steps of its task.

python -m scripts.status
python -m scripts.status content_review --state Failed
python -m scripts.status content_review t-1
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from ledger import Ledger, LedgerError, StepRow
from scripts.checking import flow_files
from scripts.cloud import (
    CloudSettings,
    Execution,
    Flows,
    NotThere,
    command_app,
    reported,
    say,
    show_json,
    show_table,
)
from scripts.cloud.deployment import adopt_environment
from scripts.flow_rollout import waiting_states, workflow_of

__all__ = ["app", "task_of"]

_SHOWN = 50

app = command_app()


@dataclass(frozen=True)
class _FlowLine:
    flow: str
    workflow_version: str
    alias: str
    running: int
    failed: int
    succeeded: int


@app.command(
    epilog="Examples:  python -m scripts.status | python -m scripts.status content_review --state Running | "
    "python -m scripts.status content_review t-1 --json.   Exit status: 0, or 2 when something is not there."
)
@reported("status")
def main(
    flow: Annotated[str, typer.Argument(help="The flow's name; all flows without it.")] = "",
    execution: Annotated[str, typer.Argument(help="The execution's name; all of the flow without it.")] = "",
    state: Annotated[str, typer.Option(help="Only executions in this status, such as Running or Failed.")] = "",
    prefix: Annotated[str, typer.Option(help="Only executions whose name begins so.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="Most executions shown, the newest first.")] = _SHOWN,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what runs, what waits and what failed."""
    settings = CloudSettings()
    flows = Flows(settings)
    if not flow:
        _show_flows(_overview(flows, settings), settings.alias, as_json=as_json)
    elif not execution:
        _show_executions(flows, flow, flows.executions(flow, state or None, prefix or None)[:limit], as_json=as_json)
    else:
        adopt_environment(settings)
        _show_execution(flows, flow, execution, as_json=as_json)


def task_of(execution: Execution) -> str:
    """The id of the execution's task: `task_id` of its input; empty without one."""
    try:
        value = json.loads(execution.input or "{}")
    except ValueError:
        return ""
    return str(value.get("task_id", "")) if isinstance(value, dict) else ""


def _overview(flows: Flows, settings: CloudSettings) -> list[_FlowLine]:
    files = flow_files(settings.flows) if settings.flows.is_dir() else []
    return [_line(flows, file.stem, settings.alias) for file in files]


def _line(flows: Flows, name: str, alias: str) -> _FlowLine:
    found = flows.find(name)
    if found is None:
        return _FlowLine(name, "", "not deployed", 0, 0, 0)
    there = flows.alias(name, alias)
    routes = ", ".join(f"{route.version} for {route.weight} %" for route in there.routes) if there else "-"
    executions = flows.executions(name)
    counts = [sum(one.status == status for one in executions) for status in ("Running", "Failed", "Succeeded")]
    return _FlowLine(name, workflow_of(found.definition), routes, *counts)


def _show_flows(lines: list[_FlowLine], alias: str, *, as_json: bool) -> None:
    if as_json:
        show_json(lines)
        return
    headings = ("flow", "workflow", f"alias {alias}", "running", "failed", "succeeded")
    show_table(headings, (asdict(line).values() for line in lines))  # type: ignore[misc]


def _show_executions(flows: Flows, flow: str, found: list[Execution], *, as_json: bool) -> None:
    if flows.find(flow) is None:
        raise NotThere(f"flow {flow}", "python -m scripts.status lists those that are deployed")
    waiting = {one.name: ", ".join(waiting_states(flows.history(flow, one.name))) for one in found if one.running}
    if as_json:
        show_json([{**asdict(one), "waiting_in": waiting.get(one.name, "")} for one in found])
        return
    rows = [(one.name, one.status, waiting.get(one.name, ""), one.started, one.stopped) for one in found]
    show_table(("execution", "status", "waits in", "started", "stopped"), rows)


def _show_execution(flows: Flows, flow: str, name: str, *, as_json: bool) -> None:
    execution = flows.execution(flow, name)
    if execution is None:
        raise NotThere(f"execution {name} of flow {flow}", f"python -m scripts.status {flow} lists them")
    events = flows.history(flow, name)
    waiting = waiting_states(events)
    rows, trouble = _steps(task_of(execution))
    if as_json:
        steps = [asdict(row) for row in rows]
        show_json({**asdict(execution), "waiting_in": list(waiting), "steps": steps, "ledger": trouble})
        return
    say(f"{flow} {name}: {execution.status}, {len(events)} events, started {execution.started}")
    for state, since in waiting.items():
        say(f"waits in {state} since {since}")
    last = next((one for one in reversed(events) if "error" in one.detail), None)
    if last is not None:
        say(f"last error: {last.detail.get('error')} in {last.step or 'the execution'}")
    if rows:
        cells = [(row.step, row.direction.value, row.attempt, row.state, row.error_type or "") for row in rows]
        show_table(("step", "direction", "attempts", "state", "error"), cells, title=f"ledger of {task_of(execution)}")
    if trouble:
        say(f"the ledger could not be read: {trouble}")


def _steps(task: str) -> tuple[list[StepRow], str]:
    if not task:
        return [], ""
    try:
        return list(Ledger.open().rows(task)), ""
    except LedgerError as error:
        return [], str(error)


if __name__ == "__main__":
    app()
