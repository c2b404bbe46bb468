"""Checks a deployment offline: s.yaml by the rules of `s`, fc3 and the service, every handler, every flow.

python -m scripts.check_deploy
python -m scripts.check_deploy s.prod.yaml --strict --json
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

if __package__ in (None, ""):  # run as a file: its own folder would hide the package `scripts`
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import typer

from scripts.checking import Finding, check
from scripts.template import TemplateError

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(
    epilog="Examples:  python -m scripts.check_deploy | python -m scripts.check_deploy s.prod.yaml --strict | "
    "python -m scripts.check_deploy --json.   "
    "Exit status: 0 nothing wrong, 1 findings (with --strict warnings too), 2 the template cannot be read."
)
def main(
    template: Annotated[Path, typer.Argument(metavar="TEMPLATE", help="The template.")] = Path("s.yaml"),
    strict: Annotated[bool, typer.Option("--strict", help="Let warnings fail too.")] = False,
    code: Annotated[bool, typer.Option(help="Import every handler.")] = True,
    flows: Annotated[bool, typer.Option(help="Check the flows.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find what is wrong with a deployment before the cloud does; no network, no credentials."""
    if not template.is_file():
        typer.echo(f"check_deploy: there is no {template} here; only that file is read{_beside(template)}", err=True)
        raise typer.Exit(2)
    try:
        found = check(template, os.environ, code=code, flows=flows)
    except TemplateError as error:
        _show([Finding(error.place, "SD01", "error", error.problem)], template, as_json=as_json)
        raise typer.Exit(2) from None
    _show(found, template, as_json=as_json)
    failed = [finding for finding in found if strict or finding.severity == "error"]
    raise typer.Exit(1 if failed else 0)


def _beside(template: Path) -> str:
    """Other templates in the folder are named, never read (C49)."""
    folder = template.parent
    names = sorted(file.name for file in folder.glob("*.y*ml")) if folder.is_dir() else []
    return f" (there is {', '.join(names)})" if names else ""


def _show(found: list[Finding], template: Path, *, as_json: bool) -> None:
    if as_json:
        report = {"template": str(template), "findings": [_flat(finding) for finding in found]}
        typer.echo(json.dumps(report, ensure_ascii=False, indent=2))
        return
    for finding in found:
        typer.echo(str(finding))
    errors = sum(finding.severity == "error" for finding in found)
    typer.echo(f"{template}: {errors} errors, {len(found) - errors} warnings")


def _flat(finding: Finding) -> dict[str, object]:
    flat = asdict(finding)
    return {**flat.pop("place"), **flat}


if __name__ == "__main__":
    app()
