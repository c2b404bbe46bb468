"""Plays a flow against mocks or real handlers under virtual time, always the same way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from local_sim.clock import VirtualClock
from local_sim.engine import HistoryEvent
from local_sim.runner import Decision, Observer, RunResult, Waiting, run_flow
from local_sim.runner.api import find_flow

from .durations import seconds_of
from .errors import BadScenario, MockProblem
from .golden import compare_with, history_lines
from .responses import Json, Mock
from .stand_ins import MockCall, StandIns

if TYPE_CHECKING:
    from local_sim.cloud import LocalCloud
    from local_sim.project import Project

Handlers: TypeAlias = Literal["mock", "real"]
START_MS = 1_767_225_600_000
"""When a played flow starts unless told otherwise: 2026-01-01T00:00:00Z."""
_NAME = "flow-test"


def decide(
    answer: Json = None,
    *,
    state: str | None = None,
    after: float | str = 0,
    at: float | str | None = None,
    error: str = "",
    cause: str = "",
) -> Decision:
    """Return a decision for a callback, given `after` its wait began or `at` a time since the start of the run.

    `answer` is the report's object, or the word the flow decides on; with `error` the report is a failure. Durations
    are seconds or texts such as `2h`. Raises BadScenario.
    """
    when = None if at is None else seconds_of(at)
    return Decision(answer, state, seconds_of(after), when, error, cause)


@dataclass(frozen=True, slots=True)
class FlowRun:
    """How a played flow went. `calls` are the calls of its states, mocked or not, in order."""

    result: RunResult
    calls: tuple[MockCall, ...]
    update_golden: bool = field(default=False, repr=False)
    cloud: LocalCloud | None = field(default=None, repr=False)

    @property
    def status(self) -> str:
        """Succeeded, Failed, TimedOut, Stopped; Running when a callback was left unanswered."""
        return self.result.status.value

    @property
    def output(self) -> Json:
        """The execution's output."""
        return self.result.output

    @property
    def error(self) -> str:
        """The error's name when the execution failed."""
        return self.result.error

    @property
    def cause(self) -> str:
        """The text that belongs to the error."""
        return self.result.cause

    @property
    def path(self) -> list[str]:
        """The names of the states entered, in order, those of branches included."""
        return list(self.result.path)

    @property
    def history(self) -> tuple[HistoryEvent, ...]:
        """The execution's history."""
        return self.result.history

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """The callbacks nobody answered."""
        return self.result.waiting

    @property
    def duration_seconds(self) -> float:
        """How long the execution took, by its own clock."""
        return (self.history[-1].time_ms - self.history[0].time_ms) / 1000 if self.history else 0.0

    def calls_of(self, state: str) -> list[Json]:
        """Return the events a state sent, one a call, retries included."""
        return [call.event for call in self.calls if call.state == state]

    def call_counts(self) -> dict[str, int]:
        """Return how often each state made its call."""
        counts: dict[str, int] = {}
        for call in self.calls:
            counts[call.state] = counts.get(call.state, 0) + 1
        return counts

    def rows(self, table: str) -> list[dict[str, Json]]:
        """Return the rows of a table of the local Tablestore, for handlers that ran for real: the ledger's, say."""
        from .tables import rows_of

        if self.cloud is None:
            raise BadScenario("rows() needs the cloud the flow was played in: play(..., cloud=...)")
        return rows_of(self.cloud.environment, table)

    def assert_history(self, file: Path | str) -> None:
        """Assert that the history is the one in a golden file. Raises AssertionError with the difference."""
        problem = compare_with(
            Path(file), history_lines(self.history, self.result.execution), update=self.update_golden
        )
        if problem:
            raise AssertionError(problem)


def play(
    project: Project,
    flow: Path | str,
    input: Json,  # noqa: A002 - the API's word
    *,
    mocks: Mapping[str, Mock] | None = None,
    optional: Collection[str] = (),
    handlers: Handlers = "mock",
    decisions: Sequence[Decision] = (),
    cloud: LocalCloud | None = None,
    observer: Observer | None = None,
    start_ms: int = START_MS,
    update_golden: bool = False,
) -> FlowRun:
    """Play a flow to its end, or to callbacks nobody answers.

    With handlers "mock" every call needs a mock; with "real" states without one run their handlers on the local cloud.
    Every response must be used, but for those of the states named in `optional`.
    The same call gives the same run. Raises MockProblem when mocks, decisions and run do not fit, BadScenario for mocks
    of states the flow does not have, and what `run_flow` raises.
    """
    source = find_flow(project, flow)
    errors = project.settings.errors
    stand_ins = StandIns(source.flow, mocks or {}, real=handlers == "real", errors=errors, optional=optional)
    result = run_flow(
        project,
        source.text if source.file == "<text>" else Path(source.file),
        input,
        clock=VirtualClock(start_ms),
        cloud=cloud,
        decisions=decisions,
        observer=observer,
        name=_NAME,
        seed=_NAME,
        stand_in=stand_ins,
    )
    problems = (*stand_ins.problems(), *map(_unused, result.unused))
    if problems:
        raise MockProblem(problems)
    return FlowRun(result, tuple(stand_ins.calls), update_golden, cloud)


def _unused(decision: Decision) -> str:
    what = decision.error or repr(decision.value)
    where = f" for {decision.state}" if decision.state else ""
    return f"decision {what}{where} was not reported: no callback waited for it when it came"
