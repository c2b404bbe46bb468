"""What the ledger must say after any run, whatever went wrong in it: the rules `local-sim explore` holds runs against.

Each rule is given the finished run and yields a text for each breach. It reads the ledger that the environment names.
`[tool.local-sim] invariants` of pyproject.toml names this module; a project that uses the ledger may name it too. The
task is the one that the flow's input names as `task_id`; a run without one is not looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Protocol

from ledger.core import Ledger
from ledger.figures import TaskHistory
from ledger.model import Transition

__all__ = ["INVARIANTS", "FinishedRun"]

_CLOSED = frozenset({"done", "compensated", "irreversible", "tombstone", "carried"})
_OPEN = frozenset({"claimed", "compensating"})


class FinishedRun(Protocol):
    """What the rules want to know of a run. `status` is the execution's, `now_ms` when it was judged."""

    @property
    def input(self) -> Any:
        """The flow's input."""
        ...

    @property
    def status(self) -> str:
        """`Succeeded`, `Failed`, ..."""
        ...

    @property
    def now_ms(self) -> int:
        """The time, in milliseconds since the epoch."""
        ...


def no_claim_is_left_open(run: FinishedRun) -> Iterator[str]:
    """No worker's claim outlives a flow that ended well; in one that was given up, none is held any more."""
    for row in _history(run).rows:
        held = row.lease_until_ms is not None and row.lease_until_ms > run.now_ms
        if row.state in _OPEN and (run.status == "Succeeded" or held):
            yield f"{row.step} is still {row.state}"


def no_step_is_left_undecided(run: FinishedRun) -> Iterator[str]:
    """A flow that ended well leaves each step done, undone, or known to be irreversible."""
    if run.status != "Succeeded":
        return
    for row in _history(run).rows:
        if row.state not in _CLOSED | _OPEN:
            yield f"{row.step} is {row.state}: {row.error_type or 'no error'}"


def each_step_is_done_once(run: FinishedRun) -> Iterator[str]:
    """A step gets its result once, and is undone once."""
    ends: Counter[tuple[str, str, str]] = Counter()
    for change in _history(run).transitions:
        if change.to_status in ("done", "compensated"):
            ends[change.workflow_version, change.step_name, change.to_status] += 1
    for (_, step, status), count in ends.items():
        if count > 1:
            yield f"{step} became {status} {count} times"


def epochs_only_rise(run: FinishedRun) -> Iterator[str]:
    """Every change of a step has its own epoch or closes the one before; nobody writes after a newer owner."""
    last: dict[tuple[str, str], Transition] = {}
    for change in _history(run).transitions:
        before = last.get((change.workflow_version, change.step_name))
        if before is not None and change.epoch < before.epoch:
            yield f"{change.step_name} became {change.to_status} in epoch {change.epoch} after epoch {before.epoch}"
        last[change.workflow_version, change.step_name] = change


def steps_are_undone_in_reverse(run: FinishedRun) -> Iterator[str]:
    """Steps are undone in the reverse order of their completion."""
    done: dict[tuple[str, str], Transition] = {}
    earlier: Transition | None = None
    for change in _history(run).transitions:
        step = change.workflow_version, change.step_name
        if change.to_status == "done":
            done[step] = change
        elif change.to_status == "compensated" and step in done:
            if earlier is not None and done[step].timestamp > earlier.timestamp:
                yield f"{change.step_name} was undone after {earlier.step_name}, which was done before it"
            earlier = done[step]


INVARIANTS = (
    no_claim_is_left_open,
    no_step_is_left_undecided,
    each_step_is_done_once,
    epochs_only_rise,
    steps_are_undone_in_reverse,
)
"""All rules, for `local-sim explore`."""


_read: tuple[FinishedRun, TaskHistory] | None = None


def _history(run: FinishedRun) -> TaskHistory:
    """Return what the ledger has of the run's task; it is read once for all rules, as nothing changes any more."""
    global _read
    if _read is None or _read[0] is not run:
        task_id = run.input.get("task_id") if isinstance(run.input, dict) else None
        known = isinstance(task_id, str) and bool(task_id)
        _read = run, Ledger.open().history(str(task_id)) if known else TaskHistory("", (), ())
    return _read[1]
