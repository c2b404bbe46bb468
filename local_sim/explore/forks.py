"""The tree of runs: at each boundary the process is copied once a fault, and each copy runs to its own end.

A copy starts where its fault is, with everything as it is in that moment, so no run repeats what came before. The
copy's report goes into a pipe; then it ends, and the run it was taken from tries the next fault, or goes on without.
"""

from __future__ import annotations

import gc
import json
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .errors import Hung
from .faults import Catalogue
from .files import read_tree, write_tree
from .model import Boundary, Placed

_MOST_CPU_S = 60
_MOST_S = 180  # for a run that waits for something real; it copies nothing any more, so it waits for no other run
MOST_BOUNDARIES = 20_000

Emit = Callable[[Mapping[str, Any]], None]


@dataclass
class Share:
    """The part of the first faults that this process tries: those whose number leaves `mine` modulo `of`."""

    mine: int = 0
    of: int = 1


@dataclass
class Explorer:
    """Decides what happens at each boundary of the run in progress.

    `depth` is how many faults a run has at most, 0 for a run without any; `forced` are the faults of a run that is
    replayed, by boundary number. `over` says that the budget is used up.
    """

    catalogue: Catalogue
    emit: Emit
    folder: Path
    depth: int = 0
    share: Share = field(default_factory=Share)
    forced: Mapping[int, str] = field(default_factory=dict)
    over: Callable[[], bool] = lambda: False
    passed: list[Boundary] = field(default_factory=list)
    taken: list[Placed] = field(default_factory=list)
    counted: int = 0
    tried: int = 0
    known: int = 0

    def reset(self) -> None:
        """Begin anew, as if no boundary had been passed."""
        self.passed.clear()
        self.taken.clear()
        self.counted = self.tried = self.known = 0

    def brief(self) -> bool:
        """Say whether this run can meet no more faults."""
        return self.copied and len(self.taken) >= self.depth

    @property
    def copied(self) -> bool:
        """True in a process that was copied for a fault."""
        return bool(self.taken) and not self.forced

    def at(self, boundary: Boundary) -> str | None:
        """Return the fault that happens at this boundary of this run."""
        here = replace(boundary, number=len(self.passed))
        self.passed.append(here)
        if len(self.passed) > MOST_BOUNDARIES:
            raise Hung("the run does not end")
        if here.number in self.forced:
            self.taken.append(Placed(here, self.forced[here.number]))
            return self.forced[here.number]
        if len(self.taken) >= self.depth:
            return None
        for fault in self.catalogue.applicable(here):
            if self._try(Placed(here, fault)):
                return fault
        return None

    def _try(self, placed: Placed) -> bool:
        """Copy the process for one fault; True in the copy."""
        self.known += 1
        self.counted += 1
        first = not self.taken
        if first and (self.counted - 1) % self.share.of != self.share.mine:
            return False
        if self.over():
            return False
        self.tried += 1
        tree = read_tree(self.folder)
        child = os.fork()
        if child == 0:
            self._become(placed)
            return True
        self._await(child, placed)
        write_tree(self.folder, tree)
        return False

    def _become(self, placed: Placed) -> None:
        self.taken.append(placed)
        self.tried = self.known = 0
        signal.setitimer(signal.ITIMER_PROF, _MOST_CPU_S)
        if len(self.taken) >= self.depth:
            signal.setitimer(signal.ITIMER_REAL, _MOST_S)

    def _await(self, child: int, placed: Placed) -> None:
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code != 0:
            self.emit({"died": code, "schedule": [*self.taken, placed]})


def freeze() -> None:
    """Make copying cheap: what is there now stays where it is."""
    gc.collect()
    gc.freeze()
    gc.disable()


def writer(descriptor: int) -> Callable[[Mapping[str, Any]], None]:
    """Return what writes one line of JSON an item to a descriptor that copies share."""

    def emit(item: Mapping[str, Any]) -> None:
        data = json.dumps(item, ensure_ascii=False, default=_plain).encode() + b"\n"
        while data:
            data = data[os.write(descriptor, data) :]

    return emit


def _plain(value: Any) -> Any:
    if isinstance(value, Placed):
        one = value.boundary
        return {"boundary": one.number, "fault": value.fault, "state": one.state, "text": one.text, "line": one.line}
    raise TypeError(f"{type(value).__name__} has no JSON form")
