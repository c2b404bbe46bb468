"""Which project and which data folder a command means, and writing where it was told to."""

from __future__ import annotations

from pathlib import Path

from local_sim.errors import LocalSimError
from local_sim.project import Project, ProjectNotFound, find_project, load_project


def choose_project(given: Path | None, flow: str = "") -> Project:
    """Return the project given, else the one around the flow file, else the one around the working folder.

    A flow that lies in no project runs all the same; it has no functions.
    """
    if given is not None:
        return load_project(find_project(given))
    path = Path(flow)
    starts = [path.parent, Path.cwd()] if flow and path.is_file() else [Path.cwd()]
    root = next((root for root in map(_root, starts) if root is not None), None)
    return Project(Path.cwd()) if root is None else load_project(root)


def _root(start: Path) -> Path | None:
    try:
        return find_project(start)
    except ProjectNotFound:
        return None


def choose_data(given: Path | None, project: Project) -> Path:
    """Return the data folder given, else the project's own."""
    return (given or project.default_data).resolve()


class NotWritable(LocalSimError):
    """A file that was to be written cannot be."""


def write_output(file: Path, text: str) -> None:
    """Write a file a command was asked for. Raises NotWritable."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NotWritable(f"{file} cannot be written: {error.strerror or error}") from None


def choose_format(given: str, *, as_json: bool) -> str:
    """Return the format asked for: `--json` is short for `--format json`. Raises BadFormat."""
    if given not in ("text", "json"):
        raise BadFormat(f"--format is text or json, not {given!r}")
    return "json" if as_json else given


class BadFormat(LocalSimError):
    """A format that does not exist."""
