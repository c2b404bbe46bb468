"""What the console shows: flows, executions, events, waiting tasks. Times are milliseconds since the epoch, UTC."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = Any
RUNNING = frozenset({"Starting", "Running"})
STATUSES = ("Running", "Succeeded", "Failed", "TimedOut", "Stopped")


@dataclass(frozen=True, slots=True)
class FlowRow:
    """A flow in a list; `counts` are its executions by status where that is known."""

    name: str
    description: str = ""
    mode: str = "Standard"
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionRow:
    """An execution in a list."""

    flow: str
    name: str
    status: str
    started_ms: int
    stopped_ms: int | None = None

    @property
    def running(self) -> bool:
        """True until it has ended."""
        return self.status in RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionDetail(ExecutionRow):
    """An execution by itself. `input` and `output` are JSON text, empty when there is none."""

    definition: str
    input: str
    output: str = ""
    error: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """A history event. `given` is its detail, or the JSON text of it: most of a long history is never looked at."""

    id: int
    after: int
    state: str
    type: str
    time_ms: int
    given: Mapping[str, Json] | str

    @property
    def detail(self) -> Mapping[str, Json]:
        """The detail's JSON object; text that is none is under `text`."""
        if not isinstance(self.given, str):
            return self.given
        try:
            value = json.loads(self.given) if self.given else {}
        except ValueError:
            value = {"text": self.given}
        return value if isinstance(value, dict) else {"value": value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which executions to list, newest first. `text` is part of the name, or of the input such as a task id.

    `below` goes on under a page's last place.
    """

    flow: str = ""
    status: str = ""
    text: str = ""
    from_ms: int | None = None
    to_ms: int | None = None
    below: str = ""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Page:
    """A page of executions; `below` asks for the next one, empty on the last."""

    rows: tuple[ExecutionRow, ...]
    below: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTask:
    """A callback somebody has to answer. `choices` are the words the flow knows, `field` where they go."""

    flow: str
    execution: str
    state: str
    token: str
    since_ms: int
    due_ms: int | None = None
    field: str = "decision"
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogText:
    """What one invocation printed."""

    state: str
    attempt: int
    time_ms: int
    text: str
