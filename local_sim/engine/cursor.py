"""What the engine remembers while an execution runs: where each branch is, and what it waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from local_sim.definition.model import Scope, State

from .commands import InvokeTask, StartTimer
from .events import Json
from .frame import Frame

if TYPE_CHECKING:
    from .fan import Fan
    from .machine import Machine
    from .maprun import MapRun


class _Absent:
    __slots__ = ()


ABSENT: Final = _Absent()
"""No result has arrived, as opposed to the result null."""


class Cursor:
    """One line of control: it runs the states of one scope, one after the other.

    `target` is the state's name (None once the scope has ended), `raw` its input before and `input` after construction,
    `last` the newest history event of this line. `retries` and `rule_uses` belong to the present visit of the state
    (A14); `frozen` is what a Parallel or Map keeps over its retries: the items, fixed at entry (A33, C18).
    `frame` is what the steps of one list of the older dialect share; None in the newer language.
    """

    __slots__ = (
        "arrived",
        "fan",
        "frame",
        "frozen",
        "index",
        "input",
        "last",
        "live",
        "raw",
        "retries",
        "rule_uses",
        "scope",
        "target",
        "visiting",
        "waits",
    )

    def __init__(self, scope: Scope, raw: Json, last: int, fan: Fan | None = None, index: int = 0) -> None:
        self.scope = scope
        self.target: str | None = scope.start_at
        self.raw = raw
        self.input: Json = raw
        self.last = last
        self.fan = fan
        self.index = index
        self.frame = None if scope.serial is None else Frame()
        self.live = True
        self.visiting = False
        self.retries = 0
        self.rule_uses: dict[int, int] | None = None
        self.frozen: Json = ABSENT
        self.arrived: Json = ABSENT
        self.waits: Task | Timer | Fan | MapRun | None = None

    @property
    def state(self) -> State:
        """The state this cursor is in."""
        return self.scope.states[self.target or ""]

    def path(self) -> tuple[str, ...]:
        """Return the names from the root to the present state, for example `("Fan", "Branch0", "Charge")`."""
        parts: list[str] = []
        here: Cursor | None = self
        while here is not None:
            if here.target is not None:
                parts.append(here.target)
            if here.fan is None:
                break
            parts.append(here.fan.label(here.index))
            here = here.fan.owner
        return tuple(reversed(parts))


class Timer:
    """A timer that runs, and what to do when it fires."""

    __slots__ = ("command", "cursor", "fire")

    def __init__(self, command: StartTimer, cursor: Cursor, fire: TimerAction) -> None:
        self.command = command
        self.cursor = cursor
        self.fire = fire


class Task:
    """An attempt of a Task that is under way."""

    __slots__ = ("command", "cursor", "submitted", "timer")

    def __init__(self, command: InvokeTask, cursor: Cursor) -> None:
        self.command = command
        self.cursor = cursor
        self.timer: Timer | None = None
        self.submitted = False


TimerAction: TypeAlias = "Callable[[Machine, Cursor], None]"
