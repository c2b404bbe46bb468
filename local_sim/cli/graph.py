"""`local-sim graph`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(graph)


def graph(
    flow: Annotated[str, typer.Argument(help="Flow file, or name of a flow of the project.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write the SVG (default: standard output)."),
    ] = None,
    project: Annotated[
        Path | None, typer.Option("--project", metavar="DIR", help="Project folder (default: found upwards).")
    ] = None,
) -> int:
    """Draw a flow as SVG, for example: local-sim graph flows/order_saga.yaml -o order_saga.svg

    States, transitions, caught errors (dashed), branches and Maps as boxes. Exits 2 for a flow that is not valid.
    """
    from local_sim.graph import draw_flow
    from local_sim.runner.api import find_flow

    from .places import choose_project, write_output

    picture = draw_flow(find_flow(choose_project(project, flow), flow).flow)
    if output is None or str(output) == "-":
        sys.stdout.write(picture)
        return 0
    write_output(output, picture)
    return 0
