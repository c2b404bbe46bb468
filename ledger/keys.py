"""Identifiers: what may be one, where a step lies in the table, and the key the other side sees."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from urllib.parse import quote, unquote

from ledger.errors import InvalidKey
from ledger.model import Direction

# A Tablestore primary key value holds 1,024 bytes (reference page tablestore.md, 9).
MAX_KEY_BYTES = 1024
MAX_COLUMN_BYTES = 255
RESERVED_PREFIX = "stepkeeper:"
TASK_ENTRY = "task"
STEP_PREFIX = "step/"
UNWIND_PREFIX = "unwind/"


@dataclass(frozen=True)
class RowKey:
    """Primary key of a row of the ledger table."""

    task_id: str
    entry: str


@dataclass(frozen=True)
class StepKey:
    """Identity of a step: the full identity, so that no two steps can share a row.

    `origin` is the workflow version the effect ran under when the step was carried over to this one; "" when it ran
    here.
    """

    task_id: str
    workflow_version: str
    step: str
    origin: str = ""

    @property
    def row(self) -> RowKey:
        """The row that holds the step and the undoing of it."""
        return RowKey(self.task_id, step_entry_prefix(self.workflow_version) + self.step)

    def side_effect_id(self, direction: Direction = Direction.FORWARD) -> str:
        """Return the idempotency key: the same for all attempts, another one for the compensation.

        Carrying a step over to another workflow version does not change it: the other side knows only this one.
        """
        text = "\0".join((self.task_id, self.origin or self.workflow_version, self.step, direction.value))
        return "step-" + hashlib.sha256(text.encode()).hexdigest()[:40]


def step_key(task_id: str, workflow_version: str, step: str) -> StepKey:
    """Check the three parts and return the key. Raises `InvalidKey` (empty, oversize, reserved, not text)."""
    check_task_id(task_id)
    check_part("workflow_version", workflow_version)
    check_part("step", step)
    key = StepKey(task_id, workflow_version, step)
    check_part("step", key.row.entry)
    return key


def check_task_id(task_id: str) -> None:
    """Raise `InvalidKey` unless `task_id` can be one."""
    check_part("task_id", task_id)
    if task_id.startswith(RESERVED_PREFIX):
        raise InvalidKey("task_id", task_id, f"the prefix {RESERVED_PREFIX} is the ledger's own")


def check_part(name: str, value: object) -> None:
    """Raise `InvalidKey` unless `value` is text of 1 to 1,024 bytes in UTF-8 with no NUL."""
    if not isinstance(value, str):
        raise InvalidKey(name, value, f"it is {type(value).__name__}, not text")
    if not value.strip():
        raise InvalidKey(name, value, "it is empty")
    if "\0" in value:
        raise InvalidKey(name, value, "it contains a NUL")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidKey(name, ascii(value), "it contains a lone surrogate") from None
    if size > MAX_KEY_BYTES:
        raise InvalidKey(name, value, f"it has {size} bytes, a key holds {MAX_KEY_BYTES}")


def check_column(name: object) -> None:
    """Raise `InvalidKey` unless `name` can be a column's: ASCII letters, digits and `_`, 1 to 255 of them, no digit
    first (tablestore.md 6 and 9; the SDK's own encoder breaks on anything that is not ASCII).
    """
    if not isinstance(name, str) or not name.isascii() or not name.isidentifier():
        raise InvalidKey("column", name, "a column's name is made of ASCII letters, digits and _")
    if len(name) > MAX_COLUMN_BYTES:
        raise InvalidKey("column", name, f"it has {len(name)} bytes, a column's name holds {MAX_COLUMN_BYTES}")


def step_entry_prefix(workflow_version: str) -> str:
    """Return what every entry of one workflow version begins with."""
    return f"{STEP_PREFIX}{quote(workflow_version, safe='.-_~+:@')}/"


def parse_entry(task_id: str, entry: str) -> StepKey | None:
    """Return the step an entry belongs to; None for rows that are not steps."""
    if not entry.startswith(STEP_PREFIX):
        return None
    version, _, step = entry[len(STEP_PREFIX) :].partition("/")
    return StepKey(task_id, unquote(version), step)
