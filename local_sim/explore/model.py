"""What an exploration is made of: boundaries, faults, runs and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = Any


class BoundaryKind(str, Enum):
    """Where input or output crosses the edge of a handler or of the flow."""

    START = "start"
    REQUEST = "request"
    END = "end"
    CALLBACK = "callback"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Boundary:
    """One place of a run where something can go wrong.

    `number` counts the boundaries of the run from 0. `state` is the state at work, `attempt` its try from 0,
    `function` what it invokes. A request has `service`, `operation` (`PutRow`, `GetObject`, `POST /payments`) and `key`
    (the row, the object), and `line`: the line of the handler that sent it, with `stack`, all lines of the project on
    the way, the innermost last. `reads` is true when it asks for an object `outside` when it goes to an
    outside service. `due_ms` is when the state's Timeout ends it, `path` where the state stands from the root.
    """

    number: int
    kind: BoundaryKind
    state: str
    attempt: int = 0
    function: str = ""
    service: str = ""
    operation: str = ""
    key: str = ""
    line: str = ""
    stack: tuple[str, ...] = ()
    reads: bool = False
    due_ms: int | None = None
    outside: bool = False
    path: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The boundary in one line."""
        where = f"{self.state}" + (f" (try {self.attempt + 1})" if self.attempt else "")
        what = {
            BoundaryKind.START: f"{self.function} starts",
            BoundaryKind.END: f"{self.function} ends",
            BoundaryKind.CALLBACK: "waits for a report",
            BoundaryKind.WAIT: "waits",
            BoundaryKind.REQUEST: f"{self.service} {self.operation} {self.key}".rstrip(),
        }[self.kind]
        return f"{where}: {what}"


@dataclass(frozen=True, slots=True)
class Placed:
    """A fault at a boundary: `fault` is its name, such as `crash_after` or `error:OrderRefused`."""

    boundary: Boundary
    fault: str

    @property
    def id(self) -> str:
        """How it is written in a run's id: `17.crash_after`."""
        return f"{self.boundary.number}.{self.fault}"


class Verdict(str, Enum):
    """How a run ended."""

    RECOVERED = "recovered"
    COMPENSATED = "compensated"
    TO_A_PERSON = "to a person"
    BROKEN = "BROKEN"


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a run broke. `line` is the line of the handler that had to do with it, "" when none had; `stack` the
    lines of the project that sent the request, the innermost last.
    """

    rule: str
    text: str
    line: str = ""
    stack: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that really happened outside: what the outside service's own record says, or the HTTP recorder.

    `name` is the kind of effect, `subject` what it was done to; the same pair twice is done twice. `undoes` names the
    effect that this one takes back. `reversible` is false for what nothing takes back. `line`, `stack` and `path` (of
    the state that asked for it) are found by the explorer.
    """

    name: str
    subject: str = ""
    undoes: str = ""
    reversible: bool = True
    line: str = ""
    stack: tuple[str, ...] = ()
    path: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The effect in one line."""
        return f"{self.name} {self.subject}".rstrip()


@dataclass(frozen=True, slots=True)
class Overwrite:
    """An object that a handler put in the place of one with other bytes; `line` and `stack` say where."""

    key: str
    line: str = ""
    stack: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExploreSettings:
    """`[tool.local-sim.explore]` and `[tool.local-sim] invariants` of pyproject.toml.

    `lease` is how long a claim of the project's holds, in seconds: the fault `slow_lease` stands still a little longer.
    `versions` are the variables that a newer deployment would change, with their new values. `effects` tells the HTTP
    recorder what requests mean, by service and then `METHOD /path`; `ends` what the ends of a flow owe, by flow and
    state: `done`, `undone` or `open`; `answers` what people answer, by flow and state, unless the plan says otherwise.
    `prepare` is a function, `module:function`, that is given the input and puts the outside world in order for it.
    """

    invariants: tuple[str, ...] = ()
    lease: float = 60.0
    versions: Mapping[str, str] = field(default_factory=dict)
    effects: Mapping[str, Mapping[str, EffectRule]] = field(default_factory=dict)
    ends: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    answers: Mapping[str, tuple[Answer, ...]] = field(default_factory=dict)
    prepare: str = ""


@dataclass(frozen=True, slots=True)
class EffectRule:
    """What a request of an outside service means.

    `name` is the effect's name. `identity` are the fields of its JSON body that say what it is done to; none: the whole
    body. `undoes` is the effect it takes back. `reversible` false: nothing takes it back. `repeatable`: asking again
    changes nothing. `ignore`: it is no effect.
    """

    name: str
    identity: tuple[str, ...] = ()
    undoes: str = ""
    reversible: bool = True
    repeatable: bool = False
    ignore: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered at a waiting state; see `local-sim run --decide`."""

    state: str
    value: Json


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be explored. `faults` () means all. `replay` is a run's id: only that run, told in full."""

    root: Path
    flow: str
    input: Json
    depth: int = 1
    seed: str = "0"
    faults: tuple[str, ...] = ()
    budget_s: float | None = None
    answers: tuple[Answer, ...] = ()
    replay: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One finished run, as an invariant sees it and as a report keeps it.

    `end` is the last state of the flow, `asked` the states in which a person was asked that the fault-free run does not
    visit (or visits less often). `effects` are in order of taking effect, `overwrites` the objects in OSS that got
    other bytes. `boundaries` are all that it passed.
    """

    id: str
    flow: str
    input: Json
    schedule: tuple[Placed, ...]
    status: str
    end: str
    error: str
    output: Json
    path: tuple[str, ...]
    asked: tuple[str, ...]
    effects: tuple[Effect, ...]
    overwrites: tuple[Overwrite, ...]
    history: Sequence[Mapping[str, Json]]
    boundaries: tuple[Boundary, ...]
    now_ms: int

    @property
    def requests(self) -> tuple[Boundary, ...]:
        """The requests among the boundaries."""
        return tuple(one for one in self.boundaries if one.kind is BoundaryKind.REQUEST)
