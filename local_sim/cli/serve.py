"""`local-sim serve`, `stop`, `env` and `fault`."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from local_sim.project import Project
    from local_sim.server import ControlClient, ServerState

DataOption = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Data folder (default: .local-sim in the project).")
]
ProjectOption = Annotated[
    Path | None, typer.Option("--project", metavar="DIR", help="Project folder (default: found upwards).")
]
SECRET_VARIABLE = "LOCAL_SIM_SECRET"  # noqa: S105 - a variable's name
_DEBUG_PORT = 5678
"""What editors propose for attaching to Python."""
fault_app = typer.Typer(name="fault", no_args_is_help=True, help="Faults on demand of a running server.")


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    app.command()(serve)
    app.command()(stop)
    app.command()(env)
    app.add_typer(fault_app)


def serve(
    project: ProjectOption = None,
    data: DataOption = None,
    port: Annotated[
        int,
        # Two ports follow this one, so the last two of all are no use.
        typer.Option(
            "--port", metavar="N", min=0, max=65533, help="CloudFlow and FC; Tablestore and OSS take the next two."
        ),
    ] = 0,
    host: Annotated[str, typer.Option("--host", metavar="H", help="Address to listen on.")] = "127.0.0.1",
    secret: Annotated[
        str | None,
        typer.Option("--secret", metavar="S", envvar=SECRET_VARIABLE, help="Check signatures; needed beyond loopback."),
    ] = None,
    workers: Annotated[
        str, typer.Option("--workers", metavar="process|in-process", help="Where handlers run.")
    ] = "process",
    debug: Annotated[
        list[str] | None,
        typer.Option("--debug", metavar="FUNCTION[:PORT]", help="Wait for a debugger there (default port 5678)."),
    ] = None,
    limit_rates: Annotated[
        bool, typer.Option("--limit-rates", help="Answer 429 above CloudFlow's documented request rates.")
    ] = False,
    background: Annotated[bool, typer.Option("--background", help="Return once the server answers.")] = False,
) -> int:
    """Serve CloudFlow, Function Compute, Tablestore and OSS on this machine.

    Examples: `local-sim serve`, `local-sim serve --background && eval "$(local-sim env)"`,
    `local-sim serve --port 7070 --host 0.0.0.0 --secret "$SECRET"`, `local-sim serve --debug draft:5678`.
    """
    found, folder = _places(project, data)
    ports = _debug_ports(found, debug or [])
    if background:
        from local_sim.server import start_background

        arguments = ["--data", str(folder), "--port", str(port), "--host", host, "--workers", workers]
        if project is not None:
            arguments += ["--project", str(found.root)]
        arguments += [part for text in debug or [] for part in ("--debug", text)]
        arguments += ["--limit-rates"] if limit_rates else []
        _announce(start_background(arguments, folder, {SECRET_VARIABLE: secret} if secret else {}))
        return 0
    return _serve_here(
        found,
        folder,
        workers,
        host=host,
        port=port,
        secret=secret,
        debug=ports,
        limit_rates=limit_rates,
    )


def stop(project: ProjectOption = None, data: DataOption = None) -> int:
    """Stop the server of a data folder; its running executions go on after the next start.

    Examples: `local-sim stop`, `local-sim stop --data DIR`.
    """
    _control(project, data).stop()
    return 0


def env(project: ProjectOption = None, data: DataOption = None) -> int:
    """Print the variables that point SDKs at the server.

    Examples: `eval "$(local-sim env)"`, `local-sim env --data DIR | grep FNF_ENDPOINT`.
    """
    client = _control(project, data)
    for key, value in sorted(client.state.environment.items()):
        typer.echo(f"export {key}={shlex.quote(value)}")
    return 0


@fault_app.command("add")
def add_fault(
    service: Annotated[str, typer.Option("--service", help="fnf, fc, ots, oss or *.")],
    kind: Annotated[str, typer.Option("--kind", help="drop-before, drop-after, applied-then-error, delay, ...")],
    api: Annotated[str, typer.Option("--api", help="Name of the API, such as PutRow; * for all.")] = "*",
    rate: Annotated[float, typer.Option("--rate", help="Chance of each matching request, 0 to 1.")] = 1.0,
    times: Annotated[int | None, typer.Option("--times", help="Most hits.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the chance.")] = 0,
    delay_ms: Annotated[int, typer.Option("--delay-ms", help="Milliseconds, for the kinds that wait.")] = 100,
    code: Annotated[str | None, typer.Option("--code", help="Error code instead of the usual one.")] = None,
    project: ProjectOption = None,
    data: DataOption = None,
) -> int:
    """Let requests meet a fault; prints the rule's id."""
    rule = {"service": service, "api": api, "kind": kind, "rate": rate, "times": times, "seed": seed}
    answer = _control(project, data).call("POST", "faults", {**rule, "delay_ms": delay_ms, "code": code})
    typer.echo(answer["id"])
    return 0


@fault_app.command("list")
def list_faults(project: ProjectOption = None, data: DataOption = None) -> int:
    """Print the rules and how often each has struck, one JSON object a line."""
    for rule in _control(project, data).call("GET", "faults")["faults"]:
        typer.echo(json.dumps(rule))
    return 0


@fault_app.command("clear")
def clear_faults(project: ProjectOption = None, data: DataOption = None) -> int:
    """Take all rules out."""
    _control(project, data).call("POST", "faults/clear")
    return 0


def _debug_ports(project: Project, wanted: list[str]) -> dict[str, int]:
    ports: dict[str, int] = {}
    for number, text in enumerate(wanted):
        name, given, port = text.partition(":")
        if given and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
            raise typer.BadParameter(f"--debug {text}: {port!r} is no port, which is 1 to 65535")
        # A function that only the API will make is no mistake; a project's misspelt one is.
        if project.functions and name not in project.functions:
            project.function(name)
        ports[name] = int(port) if given else _DEBUG_PORT + number
    return ports


def _serve_here(project: Project, folder: Path, workers: str, **options: Any) -> int:
    import logging

    from local_sim.server import LocalServer, read_state

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    if workers not in ("process", "in-process"):
        raise typer.BadParameter(f"--workers must be process or in-process, not {workers!r}")
    if options["debug"] and workers != "process":
        raise typer.BadParameter("--debug needs --workers process")
    server = LocalServer(project, folder, workers=workers, **options)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: server.stop_requested.set())
    with server:
        _announce(read_state(folder))
        # A wait without end would not let the signal's handler run on every system.
        while not server.stop_requested.wait(0.5):
            pass
    return 0


def _announce(state: ServerState) -> None:
    shown = {"FNF_ENDPOINT": "CloudFlow", "FC_ENDPOINT": "Function Compute", "TABLESTORE_ENDPOINT": "Tablestore"}
    for key, name in {**shown, "OSS_ENDPOINT": "OSS"}.items():
        typer.echo(f"{name:17}{state.environment.get(key, '')}")
    typer.echo(f"{'Console':17}{state.endpoint}/console")
    typer.echo('In a shell: eval "$(local-sim env)"')
    sys.stdout.flush()


def _places(project: Path | None, data: Path | None) -> tuple[Project, Path]:
    from .places import choose_data, choose_project

    found = choose_project(project)
    return found, choose_data(data, found)


def _control(project: Path | None, data: Path | None) -> ControlClient:
    from local_sim.server import ControlClient

    # With a data folder given there is no need to read the project.
    return ControlClient(data.resolve() if data is not None else _places(project, None)[1])
