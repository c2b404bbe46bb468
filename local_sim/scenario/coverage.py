"""Coverage of flows: which states, transitions, sides of conditions, Retry and Catch rules runs went through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_sim.definition.model import ChoiceState, Flow, State
from local_sim.definition.walk import states_of
from local_sim.engine import Part, Point, Trace
from local_sim.expression import Position
from local_sim.runner import Observer

KINDS = ("state", "transition", "condition", "retry", "catch")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that can be covered. `count` is how often it was; `text` says what it is."""

    kind: str
    text: str
    position: Position
    count: int


@dataclass(frozen=True, slots=True)
class FlowCoverage:
    """Coverage of one flow: `file` is its source."""

    flow: str
    file: str
    items: tuple[Item, ...]

    @property
    def missing(self) -> tuple[Item, ...]:
        """What no run went through."""
        return tuple(item for item in self.items if not item.count)

    @property
    def percent(self) -> float:
        """Covered items in per cent; 100 for a flow with nothing to cover."""
        return 100.0 * (len(self.items) - len(self.missing)) / len(self.items) if self.items else 100.0

    def of_kind(self, kind: str) -> tuple[int, int]:
        """Return how many items of a kind were covered, and how many there are."""
        found = [item for item in self.items if item.kind == kind]
        return sum(1 for item in found if item.count), len(found)


class Coverage(Observer):
    """Gathers what runs go through: an Observer of any number of runs. Sub-flows are counted under their own file."""

    def __init__(self) -> None:
        self._flows: dict[str, Flow] = {}
        self._traces: dict[str, Trace] = {}

    def trace(self, flow: Flow) -> Trace:
        """Return the counter that all executions of a definition share."""
        self._flows.setdefault(flow.source, flow)
        return self._traces.setdefault(flow.source, Trace())

    def flows(self) -> tuple[FlowCoverage, ...]:
        """Return the coverage of every flow seen, by file name."""
        return tuple(
            FlowCoverage(self._flows[file].name, file, tuple(_items(self._flows[file], self._traces[file].counts)))
            for file in sorted(self._flows)
        )

    def dump(self) -> list[list[Any]]:
        """Return the counts as JSON, to be loaded into another process's Coverage."""
        return [
            [file, position.line, position.column, part.value, index, count]
            for file, trace in self._traces.items()
            for (position, part, index), count in trace.counts.items()
        ]

    def load(self, rows: Iterable[Iterable[Any]]) -> None:
        """Add another process's counts. A flow whose file is gone or has become invalid is left out."""
        from local_sim.definition import DefinitionError
        from local_sim.definition.loader import load_flow_file

        for file, line, column, part, index, count in rows:
            if file not in self._flows:
                try:
                    self.trace(load_flow_file(Path(file)))
                except DefinitionError:
                    continue
            self._traces[file].counts[Position(line, column), Part(part), index] += count


def _items(flow: Flow, counts: Mapping[Point, int]) -> Iterator[Item]:
    for path, state in states_of(flow):
        name = "/".join(path)
        yield Item("state", name, state.position, counts.get((state.position, Part.ENTERED, 0), 0))
        yield from _ways_out(name, state, counts)
        yield from _rules(name, state, counts)


def _ways_out(name: str, state: State, counts: Mapping[Point, int]) -> Iterator[Item]:
    at = state.position
    if isinstance(state, ChoiceState):
        for index, branch in enumerate(state.branches):
            text = f"{name}: {branch.condition.text}"
            yield Item("condition", f"{text} is true", branch.position, counts.get((at, Part.HELD, index), 0))
            yield Item("condition", f"{text} is false", branch.position, counts.get((at, Part.FAILED, index), 0))
        yield Item("transition", f"{name} -> {state.default} (default)", at, counts.get((at, Part.DEFAULT, 0), 0))
    elif state.next is not None:
        yield Item("transition", f"{name} -> {state.next}", at, counts.get((at, Part.LEFT, 0), 0))


def _rules(name: str, state: State, counts: Mapping[Point, int]) -> Iterator[Item]:
    at = state.position
    for index, rule in enumerate(getattr(state, "retry", ())):
        errors = _listed(rule.errors)
        if rule.max_attempts > 0:
            count = counts.get((at, Part.RETRIED, index), 0)
            yield Item("retry", f"{name}: Retry of {errors} taken", rule.position, count)
        yield Item(
            "retry", f"{name}: Retry of {errors} used up", rule.position, counts.get((at, Part.EXHAUSTED, index), 0)
        )
    for index, rule in enumerate(getattr(state, "catch", ())):
        text = f"{name}: Catch of {_listed(rule.errors)} -> {rule.next}"
        yield Item("catch", text, rule.position, counts.get((at, Part.CAUGHT, index), 0))


def _listed(errors: tuple[str, ...]) -> str:
    return ", ".join(errors) if len(errors) <= 2 else f"{errors[0]} and {len(errors) - 1} more"
