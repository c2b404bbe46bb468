"""The scopes of a flow as read: what the builder makes and the checks look at."""

from __future__ import annotations

from dataclasses import dataclass, field

from local_sim.expression import Position

from .model import Scope, State
from .nodes import MapNode


@dataclass(frozen=True, slots=True)
class Move:
    """A transition: the target's name, where it is written, and by which field (`Next`, `Default`, `Catch`, ...)."""

    target: str
    position: Position
    field: str


@dataclass(slots=True)
class StateInfo:
    """A state as read.

    `state` is None when it has errors; `moves` are its transitions, `ends` whether it ends its scope.
    """

    name: str
    type: str
    node: MapNode
    position: Position
    what: str
    moves: list[Move] = field(default_factory=list)
    ends: bool = False
    state: State | None = None
    children: list[ScopeInfo] = field(default_factory=list)


@dataclass(slots=True)
class ScopeInfo:
    """A scope as read.

    `owner` is the state it belongs to (None for the flow itself); `scope` is None when it has errors.
    """

    node: MapNode
    what: str
    start: Move | None = None
    states: dict[str, StateInfo] = field(default_factory=dict)
    owner: StateInfo | None = None
    scope: Scope | None = None
