"""What is wrong with a test of a flow, as opposed to what the flow did.

ScenarioError             catch it for: a test that cannot say anything about the flow
├── BadScenario           a scenario file, a mock or an option that makes no sense; `place` says where
└── MockProblem           mocks that do not fit the run; `problems` lists how
"""

from __future__ import annotations

from local_sim.errors import LocalSimError


class ScenarioError(LocalSimError):
    """A test of a flow cannot be carried out as written."""


class BadScenario(ScenarioError):
    """The test itself is wrong. `place` is `file:line:column` where it stands in a file, else empty."""

    def __init__(self, reason: str, place: str = "") -> None:
        self.reason = reason
        self.place = place
        super().__init__(f"{place}: {reason}" if place else reason)


class MockProblem(ScenarioError):
    """Mocks and run do not fit: a state without one, a response left over, one too few, one of the wrong shape."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(("the mocks do not fit the run:", *(f"- {problem}" for problem in problems))))
