"""The six figures of the ledger over a window of time, as a table, JSON or Prometheus text.

    python -m scripts.report --days 7
    python -m scripts.report --prometheus
    python -m scripts.report --transitions --days 1

Counts the tasks begun in the window. Works on whatever the endpoints of docs/architecture.md name. Exit status: 0, or
2 when the ledger cannot be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from functions import errors
from ledger import DEFAULT_LIMITS, Figures, Ledger, LedgerError, RealClock, TaskHistory, figures_of

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["REFUSALS", "business_errors", "histories", "limits_of", "prometheus"]

REFUSALS = frozenset({errors.OrderRefused.__name__, errors.ReviewRejected.__name__})
"""Errors that say no for a reason of business: the shipped flows undo the task by themselves, no person is asked."""

_DAY_MS = 86_400_000


def main(
    days: Annotated[float, typer.Option(min=0, help="Length of the window in days, ending now.")] = 7,
    limit: Annotated[list[str] | None, typer.Option(help="STATE=SECONDS: when a step in STATE is stuck.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    as_prometheus: Annotated[bool, typer.Option("--prometheus", help="Print Prometheus text.")] = False,
    transitions: Annotated[bool, typer.Option(help="Print every change of state as a line of JSON instead.")] = False,
) -> None:
    """Print the six figures: first-try success, recovered, to a person, exhausted, compensations, stuck."""
    now_ms = RealClock().now_ms()
    limits = limits_of(limit or [])
    try:
        found = list(histories(Ledger.open(), now_ms - int(days * _DAY_MS), now_ms + _DAY_MS))
    except LedgerError as error:
        typer.echo(f"report: {error}", err=True)
        raise typer.Exit(2) from None
    if transitions:
        _print_transitions(found)
        return
    figures = figures_of(found, now_ms, business_errors=business_errors(), refusals=REFUSALS, limits=limits)
    if as_json:
        typer.echo(json.dumps(asdict(figures), ensure_ascii=False, indent=2))
    elif as_prometheus:
        typer.echo(prometheus(figures), nl=False)
    else:
        _print_tables(figures)


def histories(ledger: Ledger, from_ms: int, to_ms: int) -> Iterator[TaskHistory]:
    """Yield the histories of the tasks begun in the window."""
    for entry in ledger.tasks(from_ms, to_ms):
        yield ledger.history(entry.task_id)


def limits_of(pairs: list[str]) -> Mapping[str, float]:
    """Return the limits in seconds by state. Raises `typer.BadParameter` for anything but STATE=SECONDS."""
    limits = dict(DEFAULT_LIMITS)
    for pair in pairs:
        state, _, seconds = pair.partition("=")
        if state not in limits:
            raise typer.BadParameter(f"{pair!r}: the states are {', '.join(limits)}")
        try:
            limits[state] = float(seconds)
        except ValueError:
            raise typer.BadParameter(f"{pair!r} is not STATE=SECONDS") from None
    return limits


def business_errors() -> frozenset[str]:
    """Return the names of the typed errors that go to a person: neither tried again nor settled by the flow."""
    kinds = (value for value in vars(errors).values() if isinstance(value, type))
    final = frozenset(
        kind.__name__
        for kind in kinds
        if issubclass(kind, errors.StepkeeperError) and not kind.retryable and kind is not errors.StepkeeperError
    )
    return final - REFUSALS


def prometheus(figures: Figures) -> str:
    """Return the figures in Prometheus' text format."""
    lines: list[str] = []

    def gauge(name: str, text: str, values: Mapping[str, float]) -> None:
        lines.append(f"# HELP stepkeeper_{name} {text}")
        lines.append(f"# TYPE stepkeeper_{name} gauge")
        lines.extend(f"stepkeeper_{name}{labels} {value:g}" for labels, value in values.items())

    gauge("tasks", "Tasks begun in the window.", {"": figures.tasks})
    gauge("steps_started", "Steps started, by step.", _labelled("step", figures.started))
    gauge("steps_first_try", "Steps done at their first attempt, by step.", _labelled("step", figures.first_try))
    gauge("errors_recovered", "Transient errors of steps that were done later.", {"": figures.recovered})
    gauge("errors_to_person", "Business errors and uncertain outcomes.", {"": figures.to_person})
    gauge("retries_exhausted", "Steps that stay failed.", {"": figures.exhausted})
    gauge("compensations", "Compensations, by outcome.", _labelled("outcome", figures.compensations))
    gauge("steps_stuck", "Steps over the limit of their state, by state.", _labelled("state", _stuck_by_state(figures)))
    return "\n".join(lines) + "\n"


def _labelled(label: str, values: Mapping[str, int]) -> dict[str, float]:
    return {f'{{{label}="{_escaped(name)}"}}': value for name, value in values.items()}


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _stuck_by_state(figures: Figures) -> dict[str, int]:
    counts = dict.fromkeys(DEFAULT_LIMITS, 0)
    for entry in figures.stuck:
        counts[entry.state] += 1
    return counts


def _print_transitions(found: list[TaskHistory]) -> None:
    changes = [change for history in found for change in history.transitions]
    for change in sorted(changes, key=lambda change: change.timestamp):
        typer.echo(json.dumps(asdict(change), ensure_ascii=False))


def _print_tables(figures: Figures) -> None:
    from rich.console import Console

    console = Console()
    console.print(_steps_table(figures), _totals_table(figures))
    if figures.stuck:
        console.print(_stuck_table(figures))


def _steps_table(figures: Figures) -> Table:
    from rich.table import Table

    table = Table("step", "started", "first try", "share", title=f"{figures.tasks} tasks", title_justify="left")
    for step, started in sorted(figures.started.items()):
        first = figures.first_try.get(step, 0)
        table.add_row(step, str(started), str(first), f"{first / started:.0%}")
    return table


def _totals_table(figures: Figures) -> Table:
    from rich.table import Table

    table = Table("figure", "count")
    table.add_row("transient errors that later succeeded", str(figures.recovered))
    table.add_row("business errors that went to a person", str(figures.to_person))
    table.add_row("retries exhausted", str(figures.exhausted))
    for name, text in (("done", "done"), ("failed", "failed"), ("skipped", "skipped as repeats")):
        table.add_row(f"compensations {text}", str(figures.compensations[name]))
    table.add_row("steps stuck", str(len(figures.stuck)))
    return table


def _stuck_table(figures: Figures) -> Table:
    from rich.table import Table

    table = Table("task", "step", "state", "for", title="stuck", title_justify="left")
    for entry in figures.stuck:
        table.add_row(entry.task_id, entry.step, entry.state, f"{entry.seconds:,.0f} s")
    return table


if __name__ == "__main__":
    typer.run(main)
