"""One style for all commands: tables for people, `--json` for programs, one line on standard error for a fault."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, is_dataclass
from typing import ParamSpec

import typer

from scripts.cloud.errors import CloudError, Refused

__all__ = ["command_app", "reported", "say", "show_json", "show_table"]

P = ParamSpec("P")


def command_app() -> typer.Typer:
    """An app for one command, as every script has it."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def reported(name: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Print what is wrong as one line and exit: 1 for a refusal, 2 for everything else that is expected to go wrong."""

    def wrap(command: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(command)
        def run(*arguments: P.args, **options: P.kwargs) -> None:
            from functions.errors import StepkeeperError, describe
            from ledger import LedgerError
            from scripts.template import TemplateError

            try:
                command(*arguments, **options)
            except Refused as error:
                typer.echo(f"{name}: refused: {error}", err=True)
                raise typer.Exit(1) from None
            except (CloudError, LedgerError, TemplateError) as error:
                typer.echo(f"{name}: {error}", err=True)
                raise typer.Exit(2) from None
            except StepkeeperError as error:
                typer.echo(f"{name}: {describe(error)['message']}", err=True)
                raise typer.Exit(2) from None

        return run

    return wrap


def say(text: str) -> None:
    """Print a line."""
    typer.echo(text)


def show_json(value: object) -> None:
    """Print a dataclass, a list of them, or plain values as JSON."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=_plain))


def show_table(headings: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Print a table as wide as the screen, or 140 columns wide into a pipe."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, title_justify="left")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    Console(width=None if sys.stdout.isatty() else 140, highlight=False, markup=False).print(table)


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)
