"""The steps of the older dialect that no state of the newer language can stand for (legacy page, section 2.4)."""

from __future__ import annotations

from dataclasses import dataclass

from local_sim.definition.model import MapState, Scope, State
from local_sim.expression import Condition, Expression


@dataclass(frozen=True, slots=True)
class Option:
    """One way out of a choice: the nested steps to run (an index into the step's `branches`), then where to go.

    Without `goto` the flow goes on behind the choice. The default has no condition.
    """

    condition: Condition | None = None
    branch: int | None = None
    goto: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceStep(State):
    """Takes the first option whose condition holds; without one and without default the step just ends."""

    options: tuple[Option, ...]
    default: Option | None = None
    branches: tuple[Scope, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitStep(State):
    """Waits `duration` seconds, or until `timestamp` (RFC 3339); exactly one of the two is set. At most 2 days."""

    duration: int | Expression | None = None
    timestamp: str | Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeachStep(MapState):
    """A Map whose iterations see the step's input, the item under the name `item` and its number under `index`."""

    item: str | None = None
    index: str | None = None
