"""A distributed Map under way: its children are executions of their own, run by the driver (language page 5.7)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from local_sim.definition.model import DistributedConfig, MapState

from .commands import CancelChild, Command, RunChild
from .cursor import Cursor
from .events import Json


@dataclass(frozen=True, slots=True)
class ItemCounts:
    """How many children of a map run are in which state, as DescribeMapRun counts them."""

    aborted: int
    failed: int
    pending: int
    running: int
    succeeded: int
    total: int


@dataclass(frozen=True, slots=True)
class MapRunInfo:
    """A map run as DescribeMapRun has it. `status`: Pending, Running, Failed, Succeeded, Aborted; times are in ms."""

    number: int
    name: str
    path: tuple[str, ...]
    status: str
    concurrency: int
    tolerated_failed_count: int | None
    tolerated_failed_percentage: float | None
    counts: ItemCounts
    started_ms: int
    stopped_ms: int | None


class MapRun:
    """One attempt of a distributed Map. `number` is the id of its MapRunStarted event."""

    __slots__ = (
        "config",
        "cursor",
        "failed",
        "in_flight",
        "inputs",
        "name",
        "number",
        "open_io",
        "path",
        "results",
        "started",
        "started_ms",
        "state",
        "status",
        "stopped_ms",
        "succeeded",
        "tolerated_count",
        "tolerated_percentage",
        "total",
        "width",
    )

    def __init__(
        self, cursor: Cursor, state: MapState, config: DistributedConfig, number: int, name: str, now: int
    ) -> None:
        self.cursor = cursor
        self.state = state
        self.config = config
        self.number = number
        self.name = name
        self.path = cursor.path()
        self.started_ms = now
        self.stopped_ms: int | None = None
        self.status = "Pending"
        self.width = 1
        self.tolerated_count: int | None = None
        self.tolerated_percentage: float | None = None
        self.inputs: list[Json] = []
        self.results: list[Json] = []
        self.total = 0
        self.started = 0
        self.succeeded = 0
        self.failed = 0
        self.in_flight: dict[int, RunChild] = {}
        self.open_io: Command | None = None

    @property
    def over(self) -> bool:
        """Whether nothing can change it any more."""
        return self.stopped_ms is not None

    @property
    def tolerant(self) -> bool:
        """Whether any tolerance was set; without one the first failed child fails the Map."""
        return self.tolerated_count is not None or self.tolerated_percentage is not None

    def exceeded(self) -> bool:
        """Say whether more children have failed than are tolerated (A64)."""
        if not self.tolerant:
            return self.failed > 0
        by_count = self.tolerated_count is not None and self.failed > self.tolerated_count
        by_share = self.tolerated_percentage is not None and self.failed * 100 > self.tolerated_percentage * self.total
        return by_count or by_share

    def child(self, index: int) -> RunChild:
        """Return the command that runs child `index`, the same at every replay."""
        return RunChild(self.number, index, self.path, f"{self.name}-{index}", self.inputs[index])

    def cancel(self, text: str, status: str, now: int) -> list[Command]:
        """End it early; return the commands that stop its children."""
        commands: list[Command] = [
            CancelChild(self.number, index, child.name, text) for index, child in self.in_flight.items()
        ]
        self.in_flight.clear()
        self.close(status, now)
        return commands

    def close(self, status: str, now: int) -> None:
        """Take the final status and let go of the data."""
        self.status, self.stopped_ms, self.open_io = status, now, None
        self.inputs, self.results = [], []

    def info(self) -> MapRunInfo:
        """Return what DescribeMapRun shows."""
        rest = self.total - self.succeeded - self.failed - len(self.in_flight)
        aborted, pending = (rest, 0) if self.over else (0, rest)
        counts = ItemCounts(aborted, self.failed, pending, len(self.in_flight), self.succeeded, self.total)
        return MapRunInfo(
            self.number,
            self.name,
            self.path,
            self.status,
            self.width,
            self.tolerated_count,
            self.tolerated_percentage,
            counts,
            self.started_ms,
            self.stopped_ms,
        )


def map_run_name(flow: str, execution: str, number: int) -> str:
    """Return a name that fits the rule for execution names with room for an index, whatever the state is called."""
    digest = hashlib.sha256(f"{flow}#{execution}#{number}".encode()).hexdigest()
    return f"map-{digest[:24]}"
