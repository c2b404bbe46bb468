"""`local-sim test`. Imported at every start of the command line, so everything dear is imported inside."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from local_sim.project import Project
    from local_sim.scenario import Coverage, FlowCoverage, Scenario, ScenarioOutcome

PASSED, FAILED, UNUSABLE = 0, 1, 2
_FOLDERS = ("scenarios", "tests/scenarios")
_KINDS = ("state", "transition", "condition", "retry", "catch")


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("test")(play_scenarios)


def play_scenarios(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH...", help="Scenario files or folders (default: scenarios or tests/scenarios)."),
    ] = None,
    project: Annotated[
        Path | None, typer.Option("--project", metavar="DIR", help="Project folder (default: found upwards).")
    ] = None,
    keyword: Annotated[str, typer.Option("-k", metavar="TEXT", help="Only scenarios whose name contains TEXT.")] = "",
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Show what of the flows no scenario went through.")
    ] = False,
    fail_under: Annotated[
        float, typer.Option("--fail-under", metavar="PERCENT", help="Fail when a flow is covered less than that.")
    ] = 0,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write a JUnit report.")] = None,
    update_golden: Annotated[
        bool, typer.Option("--update-golden", help="Write the golden histories instead of comparing with them.")
    ] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> int:
    """Play scenario files against flows: mocks, virtual time, decisions; no cloud and no waiting.

    Exits 0 when all pass, 1 when one fails or a flow is covered too little, 2 when a file or a scenario cannot be used.

    Examples: `local-sim test`, `local-sim test tests/scenarios/review.yaml -k rejected`,
    `local-sim test --coverage --fail-under 80 --junit report.xml`.
    """
    from local_sim.scenario import Coverage

    from .places import choose_project

    known = choose_project(project, str(paths[0]) if paths else "")
    scenarios = _scenarios(paths or _default_paths(known), keyword)
    seen = Coverage()
    outcomes = _play(known, scenarios, seen, quiet=json_output, update_golden=update_golden)
    if junit is not None:
        from local_sim.scenario.outcome import junit_xml

        junit_xml(outcomes, junit)
    flows = seen.flows() if coverage or fail_under or json_output else ()
    if json_output:
        sys.stdout.write(_as_json(outcomes, flows) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _summary(outcomes, flows, fail_under, details=coverage))
    if any(outcome.unusable for outcome in outcomes):
        return UNUSABLE
    low = any(flow.percent < fail_under for flow in flows)
    return FAILED if low or not all(outcome.passed for outcome in outcomes) else PASSED


def _default_paths(project: Project) -> list[Path]:
    from local_sim.scenario import BadScenario

    for folder in _FOLDERS:
        if (project.root / folder).is_dir():
            return [project.root / folder]
    raise BadScenario(
        f"there are no scenarios: {project.root} has neither {' nor '.join(_FOLDERS)}; give files or folders"
    )


def _scenarios(paths: list[Path], keyword: str) -> list[Scenario]:
    from local_sim.scenario import BadScenario, find_files, read_scenarios

    files = find_files(paths)
    found = [scenario for file in files for scenario in read_scenarios(file)]
    chosen = [scenario for scenario in found if keyword.lower() in scenario.name.lower()]
    if not chosen:
        where = ", ".join(map(str, paths))
        raise BadScenario(f"no scenario in {where}" + (f" has {keyword!r} in its name" if found else ""))
    return chosen


def _play(
    project: Project, scenarios: list[Scenario], coverage: Coverage, *, quiet: bool, update_golden: bool
) -> list[ScenarioOutcome]:
    from local_sim.cloud import LocalCloud
    from local_sim.scenario import run_scenario

    outcomes = []
    with LocalCloud(project) as cloud:
        for scenario in scenarios:
            outcome = run_scenario(project, scenario, coverage, cloud=cloud, update_golden=update_golden)
            outcomes.append(outcome)
            if not quiet:
                sys.stdout.writelines(f"{line}\n" for line in _lines(outcome))
                sys.stdout.flush()
    return outcomes


def _lines(outcome: ScenarioOutcome) -> list[str]:
    scenario = outcome.scenario
    if outcome.passed:
        return [f"✓ {scenario.name}"]
    problems = [line for problem in outcome.problems for line in problem.splitlines()]
    return [f"✗ {scenario.name}  ({scenario.place})", *(f"    {line}" for line in problems)]


def _summary(
    outcomes: list[ScenarioOutcome], flows: tuple[FlowCoverage, ...], fail_under: float, *, details: bool
) -> list[str]:
    lines = [""] if flows else []
    for flow in flows:
        parts = ", ".join(f"{kind} {covered}/{total}" for kind, (covered, total) in _counts(flow).items() if total)
        low = f"  below {fail_under:g} %" if flow.percent < fail_under else ""
        lines.append(f"{flow.flow}: {flow.percent:.1f} % covered ({parts}){low}")
        if details:
            lines += [f"    {flow.file}:{item.position.line}: {item.text}" for item in flow.missing]
    failed = sum(1 for outcome in outcomes if not outcome.passed)
    lines += ["", f"{len(outcomes) - failed} passed, {failed} failed"]
    return lines


def _counts(flow: FlowCoverage) -> dict[str, tuple[int, int]]:
    return {kind: flow.of_kind(kind) for kind in _KINDS}


def _as_json(outcomes: list[ScenarioOutcome], flows: tuple[FlowCoverage, ...]) -> str:
    document: dict[str, Any] = {
        "scenarios": [
            {
                "name": outcome.scenario.name,
                "flow": outcome.scenario.flow,
                "place": outcome.scenario.place,
                "passed": outcome.passed,
                "problems": list(outcome.problems),
            }
            for outcome in outcomes
        ],
        "coverage": [
            {
                "flow": flow.flow,
                "file": flow.file,
                "percent": round(flow.percent, 2),
                "kinds": {kind: {"covered": covered, "all": total} for kind, (covered, total) in _counts(flow).items()},
                "missing": [
                    {"kind": item.kind, "text": item.text, "line": item.position.line, "column": item.position.column}
                    for item in flow.missing
                ],
            }
            for flow in flows
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=2)
