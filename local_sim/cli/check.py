"""`local-sim check`. Imported at every start of the command line, so everything dear is imported inside."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from local_sim.definition import Report

CLEAN, FOUND, UNREADABLE = 0, 1, 2
_SUFFIXES = (".yaml", ".yml", ".json")


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(check)


def check(
    flows: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FLOW...", help="Flow files or folders (default: the project's flows)."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Make every warning and note an error.")] = False,
    output_format: Annotated[
        str, typer.Option("--format", metavar="text|json|sarif", help="How to print it.")
    ] = "text",
    express: Annotated[bool, typer.Option("--express", help="Check against the limits of Express flows.")] = False,
    project: Annotated[
        Path | None, typer.Option("--project", metavar="DIR", help="Project folder (default: found upwards).")
    ] = None,
) -> int:
    """Find what is wrong with flows before the cloud does, for example: local-sim check --strict flows/

    Exits 0 clean, 1 with findings (text that is no YAML is one), 2 when a file is not there or cannot be opened. Notes
    alone (places that lean on undocumented behaviour) exit 0; with --strict they are errors.
    """
    from local_sim.definition import UnreadableFlowError, check_flow, read_file, render_json, render_sarif, render_text

    from .places import choose_project

    renderers = {"text": render_text, "json": render_json, "sarif": render_sarif}
    if output_format not in renderers:
        sys.stderr.write(f"local-sim: --format is text, json or sarif, not {output_format!r}\n")
        return UNREADABLE
    given = flows or []
    known = choose_project(project, str(given[0]) if given else "")
    functions = {name: known.settings.errors.get(name) for name in known.functions} or None
    reports: list[Report] = []
    unreadable = False
    for path in _files(given or [known.flows]):
        try:
            text = read_file(path)
        except UnreadableFlowError as error:
            sys.stderr.write(f"local-sim: {error}\n")
            unreadable = True
            continue
        reports.append(check_flow(text, str(path), functions=functions, strict=strict, express=express))
    if reports or output_format != "text":
        sys.stdout.write(renderers[output_format](reports))
    return UNREADABLE if unreadable else CLEAN if all(report.ok for report in reports) else FOUND


def _files(paths: list[Path]) -> list[Path]:
    """Return the files meant: folders stand for the flow files directly in them."""
    found: list[Path] = []
    for path in paths:
        inside = sorted(item for item in path.iterdir() if item.suffix in _SUFFIXES) if path.is_dir() else []
        found.extend(inside or [path])
    return found
