"""What the steps of one list of the older dialect share (legacy page, section 4)."""

from __future__ import annotations

from .events import Json


class Frame:
    """A list's `input`, its `local` (the union of its steps' outputs so far), and what `$context` shows of the step.

    `opened` turns true when the list's first step begins: until then the cursor's raw value is the list's input.
    """

    __slots__ = ("context", "input", "local", "opened")

    def __init__(self) -> None:
        self.opened = False
        self.input: dict[str, Json] = {}
        self.local: dict[str, Json] = {}
        self.context: dict[str, Json] = {}

    def merge(self, output: dict[str, Json]) -> dict[str, Json]:
        """Add a step's output to the local, later keys winning, and return it: a new object, as history has the old."""
        self.local = {**self.local, **output}
        return self.local
