"""One call of an integration, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from local_sim.definition.model import TaskMode

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Call:
    """What an integration is given: the evaluated Parameters, the callback token in callback modes, and where it
    stands.

    `execution` is the execution's name, `path` the state from the root, `attempt` counts from 0. `request_id` looks
    like FC's (`1-<8 hex>-<24 hex>`).
    """

    execution: str
    path: tuple[str, ...]
    action: str
    mode: TaskMode
    parameters: Json
    request_id: str
    attempt: int = 0
    token: str | None = None


@dataclass(frozen=True, slots=True)
class CallSucceeded:
    """`output` is `$Output`; `logs` is what a handler printed.

    `after_seconds` is how much later than it was carried out the call ends, by the run's clock; None means never.
    """

    output: Json
    logs: str = ""
    after_seconds: float | None = 0


@dataclass(frozen=True, slots=True)
class CallFailed:
    """`error` is the name that Retry and Catch match, `cause` the text of `$Context.Current.Error.Detail` (A06)."""

    error: str
    cause: str = ""
    logs: str = ""
    after_seconds: float | None = 0


Outcome: TypeAlias = CallSucceeded | CallFailed


class ActionFailure(Exception):
    """Raised by a registered action to fail its state under the name `error`."""

    def __init__(self, error: str, cause: str = "") -> None:
        self.error = error
        self.cause = cause
        super().__init__(f"{error}: {cause}" if cause else error)
