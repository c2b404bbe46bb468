"""Plays scenarios and says how each went."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local_sim.errors import LocalSimError

from .coverage import Coverage
from .errors import MockProblem
from .files import Expectation, Scenario
from .golden import compare_with, history_lines
from .player import FlowRun, play

if TYPE_CHECKING:
    from local_sim.cloud import LocalCloud
    from local_sim.project import Project

_MOST = 400


@dataclass(frozen=True, slots=True)
class ScenarioOutcome:
    """How one scenario went. `problems` is empty when it passed; `seconds` is real time.

    `unusable` tells a scenario that could not be played at all from one whose run went otherwise than expected.
    """

    scenario: Scenario
    problems: tuple[str, ...]
    seconds: float
    unusable: bool = False

    @property
    def passed(self) -> bool:
        """True when everything was as expected."""
        return not self.problems


def run_scenario(
    project: Project,
    scenario: Scenario,
    coverage: Coverage,
    *,
    cloud: LocalCloud | None = None,
    update_golden: bool = False,
) -> ScenarioOutcome:
    """Play one scenario and compare. A scenario that cannot be played has failed, and its outcome says why."""
    begin = time.perf_counter()
    unusable = False
    try:
        run = play(
            project,
            scenario.flow,
            scenario.input,
            mocks=scenario.mocks,
            optional=scenario.optional,
            handlers=scenario.handlers,
            decisions=scenario.decisions,
            cloud=cloud,
            observer=coverage,
            start_ms=scenario.start_ms,
        )
        problems = tuple(mismatches(scenario.expect, run))
        if scenario.golden is not None:
            lines = history_lines(run.history, run.result.execution)
            differs = compare_with(scenario.golden, lines, update=update_golden)
            problems += (differs,) if differs else ()
    except MockProblem as problem:
        problems = (str(problem),)
    except LocalSimError as error:
        problems, unusable = (str(error),), True
    return ScenarioOutcome(scenario, problems, time.perf_counter() - begin, unusable)


def mismatches(expect: Expectation, run: FlowRun) -> Iterator[str]:
    """Yield what a run has otherwise than expected."""
    given = expect.model_fields_set
    if "status" in given and expect.status != run.status:
        reason = f" ({run.error}: {_short(run.cause)})" if run.error else ""
        yield f"status: expected {expect.status}, was {run.status}{reason}"
    if "output" in given and expect.output != run.output:
        yield f"output: expected {_json(expect.output)}, was {_json(run.output)}{_where(expect.output, run.output)}"
    if expect.contains is not None and not _contains(run.output, expect.contains):
        yield f"output: expected to contain {_json(expect.contains)}, was {_json(run.output)}"
    if "error" in given and expect.error != run.error:
        yield f"error: expected {expect.error}, was {run.error or 'none'}"
    if expect.cause is not None and expect.cause not in run.cause:
        yield f"cause: expected to contain {expect.cause!r}, was {_short(run.cause)!r}"
    yield from _way(expect, run)
    if expect.waiting is not None and expect.waiting != [waiting.state for waiting in run.waiting]:
        yield f"waiting: expected {expect.waiting}, was {[waiting.state for waiting in run.waiting]}"
    if expect.duration is not None and float(expect.duration) != run.duration_seconds:
        yield f"duration: expected {float(expect.duration):g} s, was {run.duration_seconds:g} s"


def _way(expect: Expectation, run: FlowRun) -> Iterator[str]:
    if expect.path is not None and expect.path != run.path:
        number = next(
            (i for i, pair in enumerate(zip(expect.path, run.path, strict=False)) if pair[0] != pair[1]), None
        )
        number = min(len(expect.path), len(run.path)) if number is None else number
        wanted, seen = (path[number] if number < len(path) else "the end" for path in (expect.path, run.path))
        yield f"path: step {number + 1} expected {wanted}, was {seen}; the whole path: {' > '.join(run.path)}"
    for state in expect.visits:
        if state not in run.path:
            yield f"visits: {state} was never entered; the path: {' > '.join(run.path)}"
    for state in expect.avoids:
        if state in run.path:
            yield f"avoids: {state} was entered; the path: {' > '.join(run.path)}"
    counts = run.call_counts()
    for state, count in expect.calls.items():
        if counts.get(state, 0) != count:
            yield f"calls: expected {state} {count} times, was {counts.get(state, 0)}"


def _contains(value: Any, part: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(value, dict) and all(key in value and _contains(value[key], one) for key, one in part.items())
    return bool(value == part)


def _where(wanted: Any, seen: Any, path: str = "") -> str:
    """Name the first place where two values part."""
    if isinstance(wanted, dict) and isinstance(seen, dict):
        for key in [*wanted, *(key for key in seen if key not in wanted)]:
            if key not in wanted or key not in seen:
                return f"; {path}.{key} is {'missing' if key in wanted else 'extra'}"
            if wanted[key] != seen[key]:
                return _where(wanted[key], seen[key], f"{path}.{key}")
    return f"; they part at {path}" if path else ""


def _json(value: Any) -> str:
    return _short(json.dumps(value, ensure_ascii=False))


def _short(text: str) -> str:
    return text if len(text) <= _MOST else text[:_MOST] + "..."


def junit_xml(outcomes: list[ScenarioOutcome], file: Path) -> None:
    """Write a JUnit report: a suite a scenario file, a case a scenario."""
    from junitparser import Failure, JUnitXml, TestCase, TestSuite

    report = JUnitXml()
    for source in dict.fromkeys(outcome.scenario.file for outcome in outcomes):
        suite = TestSuite(str(source))
        for outcome in (one for one in outcomes if one.scenario.file == source):
            case = TestCase(outcome.scenario.name, classname=outcome.scenario.flow, time=round(outcome.seconds, 3))
            if not outcome.passed:
                text = "\n".join(outcome.problems)
                failure = Failure(text.splitlines()[0], "mismatch")
                failure.text = f"{outcome.scenario.place}\n{text}"
                case.result = [failure]
            suite.add_testcase(case)
        report.add_testsuite(suite)
    report.update_statistics()  # type: ignore[no-untyped-call]
    file.parent.mkdir(parents=True, exist_ok=True)
    report.write(str(file), pretty=True)
