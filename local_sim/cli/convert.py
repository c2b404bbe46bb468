"""`local-sim convert`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

DONE, LOST = 0, 1


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(convert)


def convert(
    old: Annotated[Path, typer.Argument(help="A flow of the older dialect (type: flow).")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="NEW", help="Where to write it (default: standard output).")
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print the remarks as JSON on standard output.")] = False,
) -> int:
    """Rewrite a flow of the older dialect in the newer language, for example: local-sim convert old.yaml -o new.yaml

    Remarks go to stderr. Exits 0 when it behaves alike, 1 when parts have no equivalent (a Fail or a stand-in is
    there), 2 on bad input.
    """
    from local_sim.definition import read_file
    from local_sim.definition.legacy.convert import convert as rewrite

    from .places import write_output

    converted = rewrite(read_file(old), str(old))
    if output is not None:
        write_output(output, converted.text)
    if json_output:
        remarks = [
            {"weight": one.weight.value, "line": one.line, "step": one.step, "message": one.message}
            for one in converted.remarks
        ]
        document = {"lost": converted.lost, "remarks": remarks, **({} if output else {"definition": converted.text})}
        sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
        return LOST if converted.lost else DONE
    if output is None:
        sys.stdout.write(converted.text)
    for remark in converted.remarks:
        sys.stderr.write(f"{old}: {remark}\n")
    return LOST if converted.lost else DONE
