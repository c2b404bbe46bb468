"""The pytest plugin of local_sim, found by pytest itself: the fixture `flow_test`, and coverage of flows.

    def test_busy_provider_is_asked_again(flow_test):
        run = flow_test("content_review", {"task_id": "t-1"}, mocks={...}, decisions=[decide("approved", after="2h")])
        assert run.calls_of("GenerateDraft") == [...]

Options: `--flow-coverage` prints what of the flows no test went through, `--flow-coverage-fail-under=80` makes it a
threshold, `--update-golden` writes golden histories anew. Works under pytest-xdist.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from local_sim.project import Project
    from local_sim.scenario import Coverage, FlowRun

_OUTPUT = "local_sim_flow_coverage"
_KEY: pytest.StashKey[Coverage] = pytest.StashKey()


class FlowTest(Protocol):
    """Plays a flow: the arguments of `local_sim.scenario.play` without the project."""

    def __call__(self, flow: Path | str, input: Any, **options: Any) -> FlowRun:  # noqa: A002 - the API's word
        """Play the flow and return how it went."""
        ...


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of flow tests."""
    group = parser.getgroup("flows", "tests of flows")
    group.addoption("--flow-coverage", action="store_true", help="print what of the flows no flow_test went through")
    group.addoption(
        "--flow-coverage-fail-under", type=float, default=0, metavar="PERCENT", help="fail when a flow is covered less"
    )
    group.addoption(
        "--update-golden", action="store_true", help="write golden histories instead of comparing with them"
    )


@pytest.fixture
def flow_test_project(request: pytest.FixtureRequest) -> Project:
    """The project whose flows `flow_test` plays: the one around the test's file. Override it to use another."""
    from local_sim.project import Project, ProjectNotFound, find_project, load_project

    try:
        return load_project(find_project(Path(str(request.path)).parent))
    except ProjectNotFound:
        return Project(request.config.rootpath)


@pytest.fixture
def flow_test(request: pytest.FixtureRequest, flow_test_project: Project) -> Iterator[FlowTest]:
    """A function that plays flows of the project; handlers that run for real share one local cloud for the test."""
    from local_sim.cloud import LocalCloud
    from local_sim.scenario import play

    update = bool(request.config.getoption("--update-golden"))
    observer = _coverage(request.config)
    with LocalCloud(flow_test_project) as cloud:

        def run(flow: Path | str, input: Any, **options: Any) -> FlowRun:  # noqa: A002 - the API's word
            given = {"cloud": cloud, "observer": observer, "update_golden": update, **options}
            return play(flow_test_project, flow, input, **given)

        yield run


def _coverage(config: pytest.Config) -> Coverage:
    from local_sim.scenario import Coverage

    return config.stash.setdefault(_KEY, Coverage())


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over the counts of a pytest-xdist worker that has ended."""
    rows = getattr(node, "workeroutput", {}).get(_OUTPUT, [])
    if rows:
        _coverage(node.config).load(rows)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand a worker's counts to the controller; there, fail the session when a flow is covered too little."""
    output = getattr(session.config, "workeroutput", None)
    coverage = session.config.stash.get(_KEY, None)
    if coverage is None:
        return
    if output is not None:
        output[_OUTPUT] = coverage.dump()
    elif session.exitstatus == pytest.ExitCode.OK and _low(session.config, coverage):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the coverage of the flows."""
    coverage = config.stash.get(_KEY, None)
    least = config.getoption("--flow-coverage-fail-under")
    if coverage is None or not (config.getoption("--flow-coverage") or least):
        return
    terminalreporter.section("coverage of flows")
    for flow in coverage.flows():
        low = f", below {least:g} %" if flow.percent < least else ""
        terminalreporter.write_line(f"{flow.flow}: {flow.percent:.1f} %{low}")
        if config.getoption("--flow-coverage"):
            for item in flow.missing:
                terminalreporter.write_line(f"    {flow.file}:{item.position.line}: {item.text}")


def _low(config: pytest.Config, coverage: Coverage) -> bool:
    least = config.getoption("--flow-coverage-fail-under")
    return any(flow.percent < least for flow in coverage.flows())
