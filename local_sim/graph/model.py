"""What is drawn: nodes with their nested lists, and edges, before anything has a place."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum


class Kind(str, Enum):
    """What a node stands for; the stylesheet has a class for each."""

    START = "start"
    END = "end"
    PASS = "pass"  # noqa: S105 - a state
    TASK = "task"
    CALLBACK = "callback"
    CHOICE = "choice"
    WAIT = "wait"
    SUCCEED = "succeed"
    FAIL = "fail"
    GROUP = "group"


class Line(str, Enum):
    """What an edge stands for."""

    NEXT = "next"
    CHOICE = "choice"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an execution is: a mark for each state entered, by name, and the pairs of states that followed another.

    A mark becomes a CSS class of the state's group; a pair's edges get the class `taken`.
    """

    marks: Mapping[str, str] = field(default_factory=dict)
    taken: Collection[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """A state. `note` is its second line; `parts` are the lists of states inside it, each with a heading."""

    name: str
    kind: Kind
    note: str = ""
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """A transition between two nodes of one part, by their names; `label` is a condition or error names."""

    source: str
    target: str
    line: Line = Line.NEXT
    label: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """The states of one scope: the flow itself, a branch, a Map's processor."""

    heading: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = field(default=())
