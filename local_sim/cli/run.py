"""`local-sim run`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from local_sim.clock import Clock, RealClock, VirtualClock
from local_sim.engine import HistoryEvent
from local_sim.errors import LocalSimError
from local_sim.journal import Journal
from local_sim.project import Project
from local_sim.runner import Decision, RunResult, Waiting, resume_run, run_flow
from local_sim.runner.api import FlowSource, find_flow
from local_sim.runner.form import callbacks

from . import INTERRUPTED
from .outcome import as_json, exit_status, summary, unused_lines
from .places import choose_data, choose_project
from .progress import Progress, Screen
from .values import read_decision, read_input

if TYPE_CHECKING:
    from local_sim.definition.model import Flow


class BadOption(LocalSimError):
    """An option has a value that makes no sense."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `local-sim run`, as typed."""

    flow: str
    input: str = "{}"
    data: Path | None = None
    project: Path | None = None
    decide: tuple[str, ...] = ()
    note: str | None = None
    virtual_time: bool = False
    workers: str = "in-process"
    json_output: bool = False
    result: Path | None = None
    logs: bool = False
    name: str | None = None
    crash_after: str | None = None
    resume: str | None = None


def run_command(options: RunOptions) -> int:
    """Run or resume, show it, and return the exit status."""
    if options.workers not in ("in-process", "process"):
        raise BadOption(f"--workers is in-process or process, not {options.workers!r}")
    if options.result is not None and not os.access(options.result.resolve().parent, os.W_OK):
        raise BadOption(f"--result: {options.result.resolve().parent} is no folder that can be written to")
    if options.note is not None and not options.decide:
        raise BadOption("--note goes with a decision; give --decide too")
    if options.resume is not None and options.flow:
        raise BadOption(f"--resume goes on with what was started; {options.flow} cannot be given beside it")
    project = choose_project(options.project, options.flow)
    data = choose_data(options.data, project)
    screen = Screen(sys.stderr if options.json_output else sys.stdout)
    source = _source(options, project, data)
    progress = Progress(screen, _crash(options.crash_after, source.flow), logs=options.logs)
    try:
        with screen:
            result = _run(options, project, data, source, progress)
    except KeyboardInterrupt:
        _say_how_to_go_on(screen, options, data, progress.execution)
        return INTERRUPTED
    for line in unused_lines(result):
        screen.print(line, "!")
    if options.result is not None:
        options.result.write_text(as_json(result), encoding="utf-8")
    if options.json_output:
        print(as_json(result))  # noqa: T201
    if options.json_output or options.result is not None:
        return exit_status(result)
    for line in summary(result, _resume_line(options, data, result.execution)):
        screen.print(line)
    return exit_status(result)


def _run(options: RunOptions, project: Project, data: Path, source: FlowSource, progress: Progress) -> RunResult:
    states = frozenset(callbacks(source.flow))
    decisions = [read_decision(text, states, options.note) for text in options.decide]
    ask: Callable[[Waiting], Decision | None] | None = progress.ask if sys.stdin.isatty() else None
    workers = cast("Literal['in-process', 'process']", options.workers)
    if options.resume is not None:
        return resume_run(
            project,
            options.resume,
            data_dir=data,
            decisions=decisions,
            ask=ask,
            observer=progress,
            workers=workers,
        )
    clock: Clock = VirtualClock() if options.virtual_time else RealClock()
    return run_flow(
        project,
        Path(source.file),
        read_input(options.input),
        clock=clock,
        data_dir=data,
        decisions=decisions,
        ask=ask,
        observer=progress,
        workers=workers,
        name=options.name,
    )


def _source(options: RunOptions, project: Project, data: Path) -> FlowSource:
    """Return the flow to run; on resuming, the text the execution was started with."""
    if options.resume is None:
        if not options.flow:
            raise BadOption("which flow? Give a file, or the name of a flow of this project")
        return find_flow(project, options.flow)
    from local_sim.definition.loader import load_flow

    with Journal(data, read_only=True) as journal:
        record = journal.find(options.resume, unfinished=not options.resume)
    return FlowSource(load_flow(record.definition, record.source), record.definition, record.source)


def _crash(state: str | None, flow: Flow) -> Callable[[HistoryEvent], None] | None:
    if state is None:
        return None
    from local_sim.definition.walk import states_of

    names = [path[-1] for path, _ in states_of(flow)]
    if state not in names:
        raise BadOption(f"--crash-after: flow {flow.name!r} has no state {state!r}; it has {', '.join(names)}")

    def crash(event: HistoryEvent) -> None:
        if event.type == "StepExited" and event.step_name == state:
            sys.stdout.flush()
            sys.stderr.flush()
            # No handler, no atexit, no finally: what a power cut leaves behind.
            os.kill(os.getpid(), signal.SIGKILL)

    return crash


def _resume_line(options: RunOptions, data: Path, execution: str) -> str:
    where = f" --data {data}" if options.data is not None else ""
    project = f" --project {options.project}" if options.project is not None else ""
    return f"local-sim run --resume {execution}{where}{project}"


def _say_how_to_go_on(screen: Screen, options: RunOptions, data: Path, execution: str) -> None:
    if execution and not options.json_output and options.result is None:
        screen.print(f"\nInterrupted. Nothing is lost; go on with: {_resume_line(options, data, execution)}")
