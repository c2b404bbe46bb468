"""`local-sim explore`."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

_UNITS = {"s": 1, "m": 60, "h": 3600, "": 1}
_EXAMPLES = """
Examples:

  local-sim explore content_review --input task.json --decide HumanReview=approved

  local-sim explore order_saga -i order.json --jobs 2 --html report.html

  local-sim explore order_saga -i order.json --depth 2 --budget 30m --faults crash_after,reply_lost

  local-sim explore order_saga -i order.json --replay 17.crash_after
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(explore)


def explore(
    flow: Annotated[str, typer.Argument(help="Flow file, or name of a flow of the project.")],
    input: Annotated[  # noqa: A002 - the option's name
        str, typer.Option("--input", "-i", metavar="FILE|JSON", help="The execution's input, a JSON object.")
    ] = "{}",
    depth: Annotated[int, typer.Option("--depth", metavar="1|2", help="Most faults in one run.")] = 1,
    faults: Annotated[str, typer.Option("--faults", metavar="NAME,...", help="Only these faults (default: all).")] = "",
    budget: Annotated[str, typer.Option("--budget", metavar="60s|5m|1h", help="Most time to take.")] = "",
    seed: Annotated[str, typer.Option("--seed", help="Fixes the interleaving and everything random.")] = "0",
    jobs: Annotated[int, typer.Option("--jobs", help="Processes that share the work.")] = 0,
    decide: Annotated[
        list[str] | None,
        typer.Option("--decide", metavar="STATE=VALUE", help="Answer of a person at STATE; several are given in turn."),
    ] = None,
    replay: Annotated[str, typer.Option("--replay", metavar="ID", help="Run one run again and tell all of it.")] = "",
    json_output: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the report as a page.")] = None,
    project: Annotated[
        Path | None, typer.Option("--project", metavar="DIR", help="Project folder (default: found upwards).")
    ] = None,
) -> int:
    """Try every failure at every boundary of a flow: does each end well? 0 all do, 1 something is BROKEN."""
    from local_sim.explore import Plan
    from local_sim.explore.coordinate import explore as run
    from local_sim.explore.faults import read_faults
    from local_sim.explore.page import page

    from .places import choose_project
    from .values import read_input

    found = choose_project(project, flow)
    plan = Plan(
        root=found.root,
        flow=_name(found, flow),
        input=read_input(input),
        depth=depth,
        seed=seed,
        faults=read_faults(faults),
        budget_s=read_budget(budget),
        answers=_answers(found, flow, decide or []),
        replay=replay,
    )
    with _Progress(quiet=json_output) as progress:
        report = run(plan, jobs=jobs or os.cpu_count() or 1, heard=progress.heard, input_given=input)
    if html is not None:
        html.write_text(page(report), encoding="utf-8")
    if json_output:
        sys.stdout.write(report.as_json() + "\n")
    else:
        _show(report)
    return 1 if report.broken else 0


def _name(project: Any, flow: str) -> str:
    """A flow of the project goes by its name, so that a report does not depend on where the project lies."""
    path = Path(flow)
    if not path.is_file():
        return flow
    known = project.find_flow(path.stem)
    return path.stem if known is not None and known.samefile(path) else str(path.resolve())


def read_budget(text: str) -> float | None:
    """Return seconds of `60s`, `5m`, `1h` or a bare number; None for no budget. Raises BadPlan."""
    from local_sim.explore import BadPlan

    if not text:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if match is None:
        raise BadPlan("--budget", f"wants a time such as 60s, 5m or 1h, not {text!r}")
    return float(match[1]) * _UNITS[match[2]]


def _answers(project: Any, flow: str, decide: list[str]) -> tuple[Any, ...]:
    from local_sim.explore import Answer, BadPlan
    from local_sim.runner.api import find_flow
    from local_sim.runner.form import callbacks

    from .values import read_decision

    states = frozenset(callbacks(find_flow(project, flow).flow))
    answers = []
    for text in decide:
        decision = read_decision(text, states)
        if decision.state not in states:
            raise BadPlan("--decide", f"wants STATE=VALUE with one of {', '.join(sorted(states)) or 'no state'}")
        answers.append(Answer(decision.state, decision.value))
    return tuple(answers)


def _show(report: Any) -> None:
    from rich.console import Console

    from local_sim.explore.screen import show

    show(report, Console())


class _Progress:
    """Counts the runs on standard error, when that is a terminal."""

    def __init__(self, *, quiet: bool) -> None:
        self._on = not quiet and sys.stderr.isatty()
        self._runs = self._broken = 0

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._on:
            sys.stderr.write("\r\x1b[K")

    def heard(self, run: Any) -> None:
        """Take note of a run that has ended."""
        self._runs += 1
        self._broken += run.get("verdict") in ("BROKEN", None)
        if self._on and self._runs % 5 == 0:
            sys.stderr.write(f"\r{self._runs} runs, {self._broken} broken")
            sys.stderr.flush()
