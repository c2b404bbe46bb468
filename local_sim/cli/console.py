"""`local-sim console`. Imported at every start of the command line, so everything dear is imported inside."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(console)


def console(
    cloud: Annotated[bool, typer.Option("--cloud", help="Show the account that the environment names.")] = False,
    write: Annotated[
        bool, typer.Option("--write", help="With --cloud: let the console start, stop and answer.")
    ] = False,
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port (default: a free one).")] = 0,
    project: Annotated[
        Path | None, typer.Option("--project", metavar="DIR", help="Project folder (default: found upwards).")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Data folder (default: .local-sim in the project).")
    ] = None,
) -> int:
    """Say where the console of the running local cloud is; with --cloud, serve one for a real account, read-only.

    Examples: `local-sim serve --background && local-sim console`, `local-sim console --cloud`,
    `local-sim console --cloud --write --port 8080`. Exits 2 when no server runs or the account cannot be told.
    """
    if cloud:
        return _serve_cloud(project, port, write)
    if write or port:
        raise typer.BadParameter("--write and --port belong to --cloud; the local console is part of local-sim serve")
    from local_sim.server import ControlClient

    from .places import choose_data, choose_project

    folder = data.resolve() if data is not None else choose_data(None, choose_project(project))
    typer.echo(f"{ControlClient(folder).state.endpoint}/console")
    return 0


def _serve_cloud(project: Path | None, port: int, write: bool) -> int:
    import os

    from local_sim.console import Panels, make_console
    from local_sim.console.cloud import from_environment
    from local_sim.services.host import LoopThread, ServiceHost

    from .places import choose_project

    source = from_environment(writable=write)
    found = choose_project(project)
    panels = Panels(found.settings.panels, found.root, os.environ)
    thread = LoopThread("local-sim-console")
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    try:
        with ServiceHost(make_console(source, panels=panels), port=port, name="console", thread=thread) as host:
            typer.echo(f"{host.endpoint}/console  ({source.title}{'' if write else ', read-only'})")
            sys.stdout.flush()
            while not ended.wait(0.5):
                pass
    finally:
        thread.run(panels.close())
        thread.close()
    return 0
