"""Builds the code package of the functions, without Docker: `build/code` and `build/code.zip`.

    python scripts/build.py
    python scripts/build.py --python 3.10 --json

In it: the functions, the ledger, `fc_handlers.py` at the root, and the packages of functions/requirements.lock as
wheels for the target. The same sources give the same ZIP, byte for byte. `s deploy` runs this first (s.yaml).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

if __package__ in (None, ""):  # run as a file: its own folder would hide the package `scripts`
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import typer

from scripts.building import (
    BuildError,
    Built,
    Target,
    fetch,
    find_interpreter,
    handlers_of,
    lay_out,
    make_zip,
    preflight,
    read_build_settings,
    settle_times,
    sizes,
    wanted,
)

__all__ = ["LIMIT", "build"]

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 30_000_000
"""Largest ZIP in bytes. FC takes more (function-compute.md section 6), but a cold start has to fetch it."""
PYTHONS = ("3.10", "3.12")
"""What FC has. Others can be built for, to run the package on this machine."""
Say = Callable[[str], None]


def build(root: Path, out: Path, target: Target, say: Say = lambda _: None) -> Built:
    """Build the package below `out`. The folder that was there before stays until the new one is whole.

    Raises `BuildError`; what the preflight found is in the answer's `problems`.
    """
    settings = read_build_settings(root / "pyproject.toml")
    handlers = handlers_of(root / "s.yaml")
    requirements = wanted(root / "functions" / "requirements.lock", target, settings.drop)
    say(f"1/4 Fetching {len(requirements)} packages for {target.name}")
    wheels = fetch(requirements, target, out / "cache", settings)
    say("2/4 Laying out the code folder")
    staging = out / ".code.new"
    packages = lay_out(root, wheels, staging, settings.prune)
    settle_times(staging)
    folder = _replace(staging, out / "code")
    say("3/4 Packing")
    archive = out / "code.zip"
    make_zip(folder, archive)
    interpreter = find_interpreter(target)
    say(f"4/4 Importing every handler with {interpreter or 'nothing: looking only'}")
    problems = preflight(folder, handlers, target, interpreter)
    shares = sizes(archive)
    return Built(
        folder=folder,
        archive=archive,
        python=target.python,
        sha256=hashlib.sha256(archive.read_bytes()).hexdigest(),
        zipped=archive.stat().st_size,
        unpacked=sum(one.bytes for one in shares),
        files=sum(1 for path in folder.rglob("*") if path.is_file()),
        packages=packages,
        largest=tuple(shares[:10]),
        handlers=tuple(sorted(handlers.values())),
        checked_with=interpreter or "",
        problems=tuple(problems),
    )


def _replace(new: Path, place: Path) -> Path:
    old = place.with_name(f".{place.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if place.exists():
        os.replace(place, old)
    os.replace(new, place)
    shutil.rmtree(old, ignore_errors=True)
    return place


def _show(built: Built) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    summary = f"{_mb(built.zipped)} zipped, {_mb(built.unpacked)} unpacked, {built.files} files"
    console.print(f"{built.archive}: {summary}", soft_wrap=True)
    table = Table()
    table.add_column("the ten largest")
    table.add_column("zipped", justify="right")
    table.add_column("unpacked", justify="right")
    for one in built.largest:
        table.add_row(one.package, _mb(one.zipped), _mb(one.bytes))
    console.print(table)
    console.print(f"sha256 {built.sha256}", soft_wrap=True)
    how = f"imported with {built.checked_with}" if built.checked_with else f"looked at (no python{built.python} here)"
    console.print(f"{len(built.handlers)} handlers {how}: {'problems, see below' if built.problems else 'all work'}")


def _mb(size: int) -> str:
    return f"{size / 1_000_000:.2f} MB"


app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(
    epilog="Examples:  python scripts/build.py | python scripts/build.py --python 3.10 | "
    "python scripts/build.py --json | jq .zipped.   "
    "Exit status: 0 built and checked, 1 built but a handler does not import or the ZIP is too large, 2 not built."
)
def main(
    python: Annotated[str, typer.Option(help="Target Python: 3.12 or 3.10.", metavar="VERSION")] = "3.12",
    out: Annotated[Path, typer.Option(help="Folder for the result and the fetched wheels.")] = Path("build"),
    as_json: Annotated[bool, typer.Option("--json", help="Say what was built as one JSON object.")] = False,
    limit: Annotated[int, typer.Option(help="Largest ZIP in bytes.")] = LIMIT,
) -> None:
    """Build build/code and build/code.zip: what the functions need, for the target's Python, without Docker."""
    if not re.fullmatch(r"3\.1[0-9]", python):
        typer.echo(f"build: --python is {python!r}; FC has {' and '.join(PYTHONS)}", err=True)
        raise typer.Exit(2)
    if python not in PYTHONS:
        typer.echo(f"build: FC has no python{python}: the package is for this machine only", err=True)
    try:
        built = build(ROOT, ROOT / out, Target(python), say=lambda text: typer.echo(text, err=True))
    except BuildError as error:
        typer.echo(f"build: {error}", err=True)
        raise typer.Exit(2) from None
    if as_json:
        typer.echo(json.dumps(built.as_json(), ensure_ascii=False, indent=1))
    else:
        _show(built)
    for problem in built.problems:
        typer.echo(f"build: {problem}", err=True)
    if built.zipped > limit:
        typer.echo(f"build: {built.archive} has {built.zipped} bytes; {limit} are allowed", err=True)
    raise typer.Exit(1 if built.problems or built.zipped > limit else 0)


if __name__ == "__main__":
    app()
