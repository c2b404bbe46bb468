"""What a job is going to change, for people to read first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scripts.cloud.printing import say, show_json

__all__ = ["Change", "show_changes"]

_SHOWN = 100


@dataclass(frozen=True)
class Change:
    """One thing that differs: `thing` is what it belongs to, `what` the part, `before` None when there was none."""

    thing: str
    what: str
    before: object
    after: object

    def __str__(self) -> str:
        return f"{self.thing}: {self.what}: {_short(self.before)} -> {_short(self.after)}"


def show_changes(changes: Sequence[Change], *, planned: bool, as_json: bool) -> None:
    """Print what was changed, or is planned to be."""
    if as_json:
        show_json({"applied": not planned, "changes": list(changes)})
        return
    for change in changes:
        say(str(change))
    say(f"{len(changes)} changes{' planned' if planned else ''}" if changes else "nothing to change")


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
