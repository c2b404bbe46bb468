"""What happened in an execution, in the order of time: the flow's history and the ledger's changes of state.

python -m scripts.logs content_review t-1
python -m scripts.logs content_review t-1 --follow --errors
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Annotated, Any

import typer

from ledger import Ledger, LedgerError
from scripts.cloud import CloudSettings, Event, Flows, NotThere, command_app, reported, say
from scripts.cloud.deployment import adopt_environment
from scripts.status import task_of

__all__ = ["Line", "app", "lines"]

_WAIT_SECONDS = 5
_QUIET = ("StepEntered", "StepStarted", "StepExited", "TaskStarted")

app = command_app()


@dataclass(frozen=True)
class Line:
    """One thing that happened. `source` is flow or ledger; `time` is UTC with milliseconds."""

    time: str
    source: str
    step: str
    what: str
    error: str = ""
    detail: str = ""


@app.command(
    epilog="Examples:  python -m scripts.logs content_review t-1 | python -m scripts.logs order_saga o-7 --errors | "
    "python -m scripts.logs content_review t-1 --all --json.   Exit status: 0, or 2 when something is not there."
)
@reported("logs")
def main(
    flow: Annotated[str, typer.Argument(help="The flow's name.")],
    execution: Annotated[str, typer.Argument(help="The execution's name.")],
    follow: Annotated[bool, typer.Option("--follow", help="Go on until the execution has ended.")] = False,
    errors: Annotated[bool, typer.Option("--errors", help="Only what went wrong.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every event, with its detail.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON each.")] = False,
) -> None:
    """Print what happened. What functions print themselves is in their log project (docs/operations.md)."""
    settings = CloudSettings()
    flows = Flows(settings)
    adopt_environment(settings)
    seen: set[Line] = set()
    while True:
        found = flows.execution(flow, execution, _WAIT_SECONDS if follow and seen else 0)
        if found is None:
            raise NotThere(f"execution {execution} of flow {flow}", f"python -m scripts.status {flow} lists them")
        told = lines(flows.history(flow, execution), task_of(found))
        for line in told:
            if line not in seen and _wanted(line, errors=errors, everything=everything):
                _print(line, everything=everything, as_json=as_json)
        seen.update(told)
        if not follow or not found.running:
            return


def lines(events: Iterable[Event], task: str) -> list[Line]:
    """History and ledger as lines, by time."""
    told = [_from_event(event) for event in events]
    try:
        history = Ledger.open().history(task) if task else None
    except LedgerError:
        history = None
    for change in history.transitions if history else ():
        when = _time(change.timestamp)
        states = f"{change.from_status or 'new'} -> {change.to_status}"
        told.append(
            Line(when, "ledger", change.step_name, f"{states}, attempt {change.attempt}", change.error_type or "")
        )
    return sorted(told, key=lambda line: line.time)


def _from_event(event: Event) -> Line:
    error = str(event.detail.get("error", ""))
    return Line(event.time, "flow", event.step, event.type, error, json.dumps(event.detail, ensure_ascii=False))


def _time(value: Any) -> str:
    if isinstance(value, int | float):
        moment = datetime.fromtimestamp(value / 1000, tz=timezone.utc)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
    return str(value)


def _wanted(line: Line, *, errors: bool, everything: bool) -> bool:
    if errors:
        return bool(line.error)
    return everything or line.what not in _QUIET


def _print(line: Line, *, everything: bool, as_json: bool) -> None:
    if as_json:
        say(json.dumps(line.__dict__, ensure_ascii=False))
        return
    detail = f"  {line.detail}" if everything and line.detail not in ("", "{}") else ""
    error = f"  {line.error}" if line.error else ""
    say(f"{line.time}  {line.source:6}  {line.step:24}  {line.what}{error}{detail}")


if __name__ == "__main__":
    app()
