"""Which project and which data folder a command means."""

from __future__ import annotations

from pathlib import Path

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
