"""`local-sim redrive`: goes on with an execution that ended badly, as a new one with the same input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from local_sim.errors import LocalSimError

__all__ = ["NotRedrivable"]


class NotRedrivable(LocalSimError):
    """An execution that runs or has succeeded is not started again; `execution` and `status` say which and why."""

    def __init__(self, execution: str, status: str, mend: str) -> None:
        super().__init__(f"execution {execution} is {status}: {mend}")
        self.execution = execution
        self.status = status


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(redrive)


def redrive(
    execution: Annotated[str, typer.Argument(help="Execution name (default: the newest).")] = "",
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Data folder (default: .local-sim in the project).")
    ] = None,
    project: Annotated[
        Path | None, typer.Option("--project", metavar="DIR", help="Project folder (default: found upwards).")
    ] = None,
    decide: Annotated[
        list[str] | None, typer.Option("--decide", metavar="VALUE|STATE=VALUE", help="Answer a callback.")
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    """Start an execution that failed again, with its input, by the flow's file as it is now.

    What its steps keep elsewhere, such as in a ledger, they find again: the task is the same. Exits as `run` does.
    """
    from .places import choose_data, choose_project
    from .run import RunOptions, run_command

    folder = choose_data(data, choose_project(project))
    name, source, given, virtual = _failed(folder, execution)
    options = RunOptions(
        flow=source,
        input=given,
        data=folder,
        project=project,
        decide=tuple(decide or ()),
        name=name,
        virtual_time=virtual,
        json_output=json_output,
    )
    return run_command(options)


def _failed(folder: Path, execution: str) -> tuple[str, str, str, bool]:
    """Of an execution that ended badly: the next name, the flow's file, the input as JSON, whether time was virtual."""
    from local_sim.engine import Started
    from local_sim.journal import Journal

    with Journal(folder, read_only=True) as journal:
        record = journal.find(execution)
        started = next((event for event in journal.events(record.id) if isinstance(event, Started)), None)
        names = set(journal.names())
    status = record.status.value
    if status == "Running":
        raise NotRedrivable(record.name, status, f"go on with local-sim run --resume {record.name}")
    if status == "Succeeded":
        raise NotRedrivable(record.name, status, "there is nothing to go on with")
    base = record.name.rpartition("-redrive-")[0] or record.name
    number = next(number for number in range(1, len(names) + 2) if f"{base}-redrive-{number}" not in names)
    given = json.dumps(started.input if started else {}, ensure_ascii=False)
    return f"{base}-redrive-{number}", record.source, given, record.virtual
