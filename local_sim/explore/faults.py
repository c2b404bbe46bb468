"""The faults, and at which boundaries each can happen.

A boundary has a fault only where it makes a difference that the cloud could make: an error that a function declares at
the start of its task, a missing object where one is read. `applicable` is the whole list for a boundary; coverage is
counted against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .errors import BadPlan
from .model import Boundary, BoundaryKind

ERROR = "error:"
"""Prefix of the fault that an error the function declares is raised: `error:OrderRefused`."""

DESCRIPTIONS: Mapping[str, str] = {
    "crash_before": "the process dies before it is sent",
    "crash_after": "the process dies after it took effect",
    "reply_lost": "it takes effect, the connection breaks before the answer",
    "error_after": "it takes effect, the answer is an error",
    "throttled": "it is refused as one too many",
    "slow_lease": "the process stands still past the lease, and the task is delivered again",
    "slow_timeout": "the process stands still past the state's Timeout, then goes on",
    "twice": "the task is delivered to two workers at once",  # and twice:2, twice:3: other interleavings
    "object_missing": "the object it asks for is gone",
    "object_changed": "the object it asks for has other bytes",
    "callback_twice": "the report comes twice",
    "callback_late": "the report comes after the state's Timeout",
    "callback_never": "no report comes",
    "version": "another version is deployed while the execution waits",
    ERROR: "the function raises an error it declares",
}

TWICE = ("twice", "twice:2", "twice:3")
"""Two workers at once, in three interleavings."""

_REQUEST = ("crash_before", "crash_after", "reply_lost", "error_after", "throttled", "slow_lease")


def description(fault: str) -> str:
    """Return what a fault does, in a few words."""
    if fault.startswith(ERROR):
        return f"the function raises {fault.removeprefix(ERROR)}"
    return DESCRIPTIONS.get(fault.partition(":")[0], fault)


def place(fault: str) -> tuple[int, str]:
    """Return where a fault stands in lists: in the order of the descriptions, declared errors last."""
    names = list(DESCRIPTIONS)
    base = ERROR if fault.startswith(ERROR) else fault.partition(":")[0]
    return (names.index(base) if base in names else len(names), fault)


class Catalogue:
    """The faults of one exploration. `errors` are the declared errors by function, `chosen` the faults wanted."""

    def __init__(self, errors: Mapping[str, tuple[str, ...]], chosen: Iterable[str], *, versions: bool) -> None:
        self._errors = errors
        self._chosen = frozenset(chosen)
        self._versions = versions

    def applicable(self, boundary: Boundary) -> list[str]:
        """Return the faults to try at a boundary, in the order in which they are tried."""
        return [fault for fault in self._all(boundary) if not self._chosen or self._wanted(fault)]

    def _wanted(self, fault: str) -> bool:
        return fault in self._chosen or fault.partition(":")[0] in self._chosen

    def _all(self, boundary: Boundary) -> list[str]:
        slow = ["slow_timeout"] if boundary.due_ms is not None else []
        if boundary.kind is BoundaryKind.REQUEST and not boundary.function:
            return ["reply_lost", "error_after", "throttled", *slow]  # sent by the flow itself, which does not crash
        if boundary.kind is BoundaryKind.REQUEST:
            objects = ["object_missing", "object_changed"] if boundary.reads else []
            return [*_REQUEST, *slow, *objects]
        if boundary.kind is BoundaryKind.START:
            declared = [ERROR + name for name in self._errors.get(boundary.function, ())]
            return ["crash_before", "throttled", *slow, *TWICE, *declared]
        if boundary.kind is BoundaryKind.END:
            return ["crash_after", "reply_lost", *slow]
        version = ["version"] if self._versions else []
        if boundary.kind is BoundaryKind.WAIT:
            return version
        late = ["callback_late"] if boundary.due_ms is not None else []
        return ["callback_twice", *late, "callback_never", *version]


def read_faults(text: str) -> tuple[str, ...]:
    """Return the names of `--faults a,b`. Raises BadPlan for one that does not exist."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in DESCRIPTIONS and name not in TWICE and name != "error" and not name.startswith(ERROR):
            known = ", ".join([*(one for one in DESCRIPTIONS if one != ERROR), "error"])
            raise BadPlan("--faults", f"there is no fault {name!r}; there are {known}")
    return names
