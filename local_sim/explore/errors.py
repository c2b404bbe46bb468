"""What the explorer raises on purpose.

LocalSimError
└── ExploreError              catch it for: an exploration that cannot be started or finished
    ├── BadPlan               an option, an id to replay or a setting of [tool.local-sim.explore] that makes no sense
    └── ExplorerDied          a process of the explorer ended without its report
"""

from __future__ import annotations

from local_sim.errors import LocalSimError


class ExploreError(LocalSimError):
    """An exploration cannot be started or finished."""


class BadPlan(ExploreError):
    """Something that was asked for makes no sense. `what` is the option or setting."""

    def __init__(self, what: str, problem: str) -> None:
        self.what = what
        super().__init__(f"{what}: {problem}")


class ExplorerDied(ExploreError):
    """A process of the explorer ended without its report. `output` is the end of what it printed."""

    def __init__(self, status: int, output: str) -> None:
        self.status, self.output = status, output
        super().__init__(f"the explorer's process ended with status {status} before its report was complete:\n{output}")


class Hung(Exception):
    """Nothing can go on and nothing is left to wait for, or a run does not end. Never leaves a run: it is its end."""
