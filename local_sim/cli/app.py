"""The commands and their options."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

_HOMES = {
    "check": "check",
    "explore": "explore",
    "test": "scenarios",
    "serve": "serve",
    "stop": "serve",
    "env": "serve",
    "fault": "serve",
    "console": "console",
    "graph": "graph",
    "diff": "diff",
    "convert": "convert",
    "init": "init",
    "redrive": "redrive",
}
"""The module that registers each command; it is imported when the command, or the list of all, is asked for."""

DataOption = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Data folder (default: .local-sim in the project).")
]
_PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""What stands behind `exec` is the command's own."""
ProjectOption = Annotated[
    Path | None, typer.Option("--project", metavar="DIR", help="Project folder (default: found upwards).")
]


def run_app(arguments: list[str]) -> int:
    """Run a command line and return its exit status; usage errors are printed and give 2."""
    app = _app_for(arguments[0] if arguments else "")
    try:
        result = app(_optional_value(arguments, "--resume"), prog_name="local-sim", standalone_mode=False)
    except Exception as error:
        code = getattr(error, "exit_code", None)
        show: Any = getattr(error, "show", None)
        if not isinstance(code, int):
            raise
        if callable(show):
            show()
        return code
    return result if isinstance(result, int) else 0


def _optional_value(arguments: list[str], option: str) -> list[str]:
    """Let an option stand without its value: `--resume` alone becomes `--resume=`."""
    done: list[str] = []
    for index, word in enumerate(arguments):
        follows = arguments[index + 1] if index + 1 < len(arguments) else "-"
        if word == "--":
            return [*done, *arguments[index:]]
        done.append(f"{option}=" if word == option and (follows.startswith("-") or Path(follows).is_file()) else word)
    return done


def _app_for(word: str) -> typer.Typer:
    """Return the command line with the command meant, or with all: making one from its annotations takes long."""
    app = typer.Typer(
        name="local-sim",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        help="The local cloud: runs flows and functions of an FC and CloudFlow project on this machine.",
    )
    app.callback()(_group)
    own: dict[str, Callable[..., int]] = {"run": run, "history": history, "exec": execute}
    known = word in own or word in _HOMES
    for name, command in own.items():
        if name == word or not known:
            settings = _PASSED_ON if name == "exec" else None
            app.command(name, context_settings=settings)(command)
    homes = dict.fromkeys(_HOMES.values()) if not known else ([_HOMES[word]] if word in _HOMES else [])
    for home in homes:
        register: Any = import_module(f"local_sim.cli.{home}").register
        register(app)
    return app


def _group() -> None:
    # A command line of one command would do without the command's name.
    pass


def run(
    flow: Annotated[str, typer.Argument(help="Flow file, or name of a flow of the project.")] = "",
    input: Annotated[  # noqa: A002 - the option's name
        str, typer.Option("--input", "-i", metavar="FILE|JSON", help="The execution's input, a JSON object.")
    ] = "{}",
    data: DataOption = None,
    project: ProjectOption = None,
    decide: Annotated[
        list[str] | None,
        typer.Option("--decide", metavar="VALUE|STATE=VALUE", help="Answer a callback; may be given several times."),
    ] = None,
    note: Annotated[str | None, typer.Option("--note", metavar="TEXT", help="The note of the --decide words.")] = None,
    virtual_time: Annotated[bool, typer.Option("--virtual-time", help="Waits and backoffs cost no time.")] = False,
    workers: Annotated[
        str, typer.Option("--workers", metavar="in-process|process", help="Where handlers run.")
    ] = "in-process",
    json_output: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON; progress goes to stderr.")
    ] = False,
    result: Annotated[
        Path | None, typer.Option("--result", metavar="FILE", help="Write the result to FILE as JSON, say no more.")
    ] = None,
    logs: Annotated[bool, typer.Option("--logs", help="Show what handlers print.")] = False,
    name: Annotated[str | None, typer.Option("--name", help="The execution's name (default: made up).")] = None,
    crash_after: Annotated[
        str | None, typer.Option("--crash-after", metavar="STATE", help="Kill this process right after STATE.")
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option("--resume", metavar="[EXECUTION]", help="Go on with an execution (default: the last unfinished)."),
    ] = None,
) -> int:
    """Run a flow, or go on with one that was broken off, for example: local-sim run order_saga --input order.json

    Exits 0 when it succeeded, 1 when it failed, 2 on bad input, 3 when it waits for an answer, 130 on Ctrl-C.
    """
    from .run import RunOptions, run_command

    return run_command(
        RunOptions(
            flow=flow,
            input=input,
            data=data,
            project=project,
            decide=tuple(decide or ()),
            note=note,
            virtual_time=virtual_time,
            workers=workers,
            json_output=json_output,
            result=result,
            logs=logs,
            name=name,
            crash_after=crash_after,
            resume=resume,
        )
    )


def history(
    execution: Annotated[str, typer.Argument(help="Execution name (default: the newest).")] = "",
    data: DataOption = None,
    project: ProjectOption = None,
    output_format: Annotated[str, typer.Option("--format", metavar="text|json", help="How to print it.")] = "text",
    json_output: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
) -> int:
    """Print the events of an execution with times and durations, for example: local-sim history --format json

    Exits 2 when there is no such execution.
    """
    from .history import history_command
    from .places import choose_format

    return history_command(execution, data, project, choose_format(output_format, as_json=json_output))


def execute(
    command: Annotated[list[str], typer.Argument(metavar="COMMAND...", help="The command and its arguments.")],
    data: DataOption = None,
    project: ProjectOption = None,
    tablestore_port: Annotated[int, typer.Option(help="Port of Tablestore (default: a free one).")] = 0,
    oss_port: Annotated[int, typer.Option(help="Port of OSS (default: a free one).")] = 0,
) -> int:
    """Run a command while Tablestore and OSS are up, with their endpoints in its environment."""
    from .execute import exec_command

    return exec_command(command, data, project, (tablestore_port, oss_port))
