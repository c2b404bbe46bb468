"""Tests of flows: mocks by state, decisions at a stated time, virtual time, scenario files, coverage of the flow.

    run = play(project, "content_review", {"task_id": "t-1"},
               mocks={"GenerateDraft": [raises("TemporaryUpstreamError"), returns({...})], ...},
               decisions=[decide("approved", after="2h")])
    assert run.path == [...]

docs/testing.md tells the whole story.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .coverage import Coverage, FlowCoverage
    from .errors import BadScenario, MockProblem, ScenarioError
    from .files import Scenario, find_files, read_scenarios
    from .outcome import ScenarioOutcome, run_scenario
    from .player import FlowRun, decide, play
    from .responses import Repeated, Response, never, raises, repeats, returns
    from .stand_ins import MockCall

__all__ = [
    "BadScenario",
    "Coverage",
    "FlowCoverage",
    "FlowRun",
    "MockCall",
    "MockProblem",
    "Repeated",
    "Response",
    "Scenario",
    "ScenarioError",
    "ScenarioOutcome",
    "decide",
    "find_files",
    "never",
    "play",
    "raises",
    "read_scenarios",
    "repeats",
    "returns",
    "run_scenario",
]

_HOMES = {
    "coverage": ("Coverage", "FlowCoverage"),
    "errors": ("BadScenario", "MockProblem", "ScenarioError"),
    "files": ("Scenario", "find_files", "read_scenarios"),
    "outcome": ("ScenarioOutcome", "run_scenario"),
    "player": ("FlowRun", "decide", "play"),
    "responses": ("Repeated", "Response", "never", "raises", "repeats", "returns"),
    "stand_ins": ("MockCall",),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
