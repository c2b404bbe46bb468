"""State machines of business things: declared states and moves, each move one conditional write, all of them kept.

    ORDER = Machine("order", start="new", moves={"new": ["paid", "cancelled"], "paid": [], "cancelled": []})
    machines = Machines(Ledger.open().entries)
    machines.begin(ORDER, "o-7")
    machines.move(ORDER, "o-7", "paid", by="payment-service")

A move that is not declared is refused with the list of those that are. Of two that race, one wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from functions.errors import InvalidInput, ResultConflict, TemporaryUpstreamError
from ledger import Entries, Entry

__all__ = ["Machine", "Machines", "Move", "Place"]

_RACES = 20


@dataclass(frozen=True)
class Machine:
    """A declaration: from each state the states it may move to. A state without moves is final.

    Raises ValueError for a target or a start that is not declared, and for states nothing leads to.
    """

    name: str
    start: str
    moves: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = sorted({to for targets in self.moves.values() for to in targets} - set(self.moves))
        if self.start not in self.moves or unknown:
            raise ValueError(f"machine {self.name}: not declared: {', '.join(unknown) or self.start}")
        lost = sorted(set(self.moves) - self._reached())
        if lost:
            raise ValueError(f"machine {self.name}: nothing leads to {', '.join(lost)}")

    @property
    def final(self) -> frozenset[str]:
        """The states that nothing leaves."""
        return frozenset(state for state, targets in self.moves.items() if not targets)

    def allows(self, state: str, to: str) -> bool:
        """Say whether a move is declared."""
        return to in self.moves.get(state, ())

    def _reached(self) -> set[str]:
        reached, waiting = {self.start}, [self.start]
        while waiting:
            for to in self.moves[waiting.pop()]:
                if to not in reached:
                    reached.add(to)
                    waiting.append(to)
        return reached


@dataclass(frozen=True)
class Move:
    """One move that was made, at the store's own time. `after_ms` is how long the state before it lasted."""

    state: str
    by: str
    note: str
    at_ms: int
    after_ms: int


@dataclass(frozen=True)
class Place:
    """Where a thing is, and how it came there; the first move is its beginning."""

    thing: str
    state: str
    trail: tuple[Move, ...] = ()


class Machines:
    """Keeps the states of things as entries of the ledger: `thing` is a task id."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries

    def begin(self, machine: Machine, thing: str, *, by: str = "", note: str = "") -> Place:
        """Put a thing at the machine's start; one that is there already stays where it is."""
        made = self._entries.create(thing, _entry(machine), {"state": machine.start}, _noted(machine.start, by, note))
        return self.place(machine, thing) if made is None else Place(thing, machine.start)

    def place(self, machine: Machine, thing: str) -> Place:
        """Return where a thing is, with its trail. Raises `InvalidInput` for one that never began."""
        return _place(thing, self._read(machine, thing))

    def move(self, machine: Machine, thing: str, to: str, *, by: str = "", note: str = "") -> Place:
        """Move a thing. Raises `ResultConflict` for a move that is not declared, with `legal` in its details.

        A thing that is in `to` already, and may not move from there to itself, stays: the move was made before.
        """
        if to not in machine.moves:
            known = ", ".join(machine.moves)
            raise InvalidInput(f"{machine.name} has no state {to!r}; it has {known}", path="state", reason="unknown")
        for _ in range(_RACES):
            entry = self._read(machine, thing)
            state = str(entry.columns["state"])
            if not machine.allows(state, to):
                if state == to:
                    return _place(thing, entry)
                raise _illegal(machine, thing, state, to)
            if self._entries.change(entry, {"state": to}, _noted(to, by, note)) is not None:
                return self.place(machine, thing)
        raise TemporaryUpstreamError(
            f"{machine.name} {thing} is moved by too many at once", upstream="ledger", effect_applied=False
        )

    def _read(self, machine: Machine, thing: str) -> Entry:
        entry = self._entries.read(thing, _entry(machine))
        if entry is None:
            raise InvalidInput(f"{machine.name} {thing} has not begun", path="thing", reason="unknown")
        return entry


def _entry(machine: Machine) -> str:
    return f"machine/{machine.name}"


def _noted(state: str, by: str, note: str) -> dict[str, str]:
    return {"state": state, "by": by, "note": note}


def _illegal(machine: Machine, thing: str, state: str, to: str) -> ResultConflict:
    legal = list(machine.moves[state])
    allowed = f"it may move to {', '.join(legal)}" if legal else "that state is final"
    error = ResultConflict(f"{machine.name} {thing} is {state} and cannot become {to}: {allowed}", key=thing)
    error.details["legal"] = legal
    return error


def _place(thing: str, entry: Entry) -> Place:
    moves: list[Move] = []
    for mark in entry.trail:
        note = mark.note if isinstance(mark.note, dict) else {}
        after = mark.at_ms - moves[-1].at_ms if moves else 0
        moves.append(Move(str(note.get("state")), str(note.get("by")), str(note.get("note")), mark.at_ms, after))
    return Place(thing, str(entry.columns["state"]), tuple(moves))
