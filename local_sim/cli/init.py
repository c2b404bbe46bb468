"""`local-sim init`: a new project from a template, which runs at once."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from local_sim.errors import LocalSimError

__all__ = ["FolderNotEmpty", "UnknownTemplate", "make_project", "templates"]

_TEMPLATES = Path(__file__).parent / "templates"
_SUFFIX = ".tmpl"  # keeps linters and packagers from taking a template's files for ours
_FLOWS = {"empty": "hello", "content-review": "content_review", "order-saga": "order_saga"}


class UnknownTemplate(LocalSimError):
    """`name` is no template."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no template {name!r}; there are {', '.join(templates())}")
        self.name = name


class FolderNotEmpty(LocalSimError):
    """`folder` holds something already."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder} is not empty; a new project goes into a new or an empty folder")
        self.folder = folder


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(init)


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The new project's folder; made when it is not there.")],
    template: Annotated[str, typer.Option("--template", "-t", help="empty, content-review or order-saga.")] = "empty",
) -> int:
    """Make a new project that runs at once."""
    made = make_project(folder, template)
    shown = os.path.relpath(folder)
    for file in made:
        sys.stdout.write(f"{shown}/{file}\n")
    sys.stdout.write(f"\nNow: cd {shown} && local-sim run {_FLOWS[template]} --input input.json\n")
    return 0


def templates() -> tuple[str, ...]:
    """The names of the templates, the simplest first."""
    return tuple(_FLOWS)


def make_project(folder: Path, template: str) -> list[str]:
    """Fill a new or empty folder from a template; returns the files made, in order.

    Raises `UnknownTemplate`, `FolderNotEmpty`, and `LocalSimError` when the folder cannot be written.
    """
    if template not in _FLOWS:
        raise UnknownTemplate(template)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FolderNotEmpty(folder)
    source = _TEMPLATES / template
    files = sorted(path for path in source.rglob(f"*{_SUFFIX}") if path.is_file())
    made = [str(path.relative_to(source)).removesuffix(_SUFFIX) for path in files]
    try:
        for path, name in zip(files, made, strict=True):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    except OSError as error:
        raise LocalSimError(f"{folder} cannot be written: {error.strerror or error}") from None
    return made
