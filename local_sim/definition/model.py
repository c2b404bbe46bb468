"""The typed definition of a StateMachine flow: what `load_flow` returns and the engine runs.

Every object is frozen and carries the place in the text it came from. Expressions are compiled already
(`local_sim.expression`), so running a state parses nothing.

Field rules: docs/architecture.md names the reference; section numbers in comments are of the CloudFlow language pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from local_sim.expression import Condition, Expression, Position, Template

_START = Position(1, 1)


class TaskMode(str, Enum):
    """How a Task ends (help.aliyun.com/document_detail/2592915.html)."""

    REQUEST_COMPLETE = "RequestComplete"
    SYSTEM_CALLBACK = "WaitForSystemCallback"
    CUSTOM_CALLBACK = "WaitForCustomCallback"


@dataclass(frozen=True, slots=True)
class RetryRule:
    """One rule of `Retry`. Seconds; `max_attempts` counts retries, so 0 means one call in all (A14)."""

    errors: tuple[str, ...]
    max_attempts: int
    interval_seconds: float
    backoff_rate: float = 1.0
    max_backoff_seconds: float | None = None
    position: Position = _START


@dataclass(frozen=True, slots=True)
class CatchRule:
    """One rule of `Catch`. Without a constructor the target gets the failed state's input (A07)."""

    errors: tuple[str, ...]
    next: str
    output_constructor: Template | None = None
    position: Position = _START


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What all states share. A state that ends its scope has `next` None."""

    name: str
    position: Position
    description: str = ""
    input_constructor: Template | None = None
    output_constructor: Template | None = None
    global_constructor: Template | None = None
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassState(State):
    """Hands its constructed input on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState(State):
    """Calls an action. `timeout` limits one attempt (A16): seconds or an expression; None and 0 mean no limit."""

    action: str
    mode: TaskMode = TaskMode.REQUEST_COMPLETE
    parameters: Template | None = None
    timeout: float | Expression | None = None
    retry: tuple[RetryRule, ...] = ()
    catch: tuple[CatchRule, ...] = ()


@dataclass(frozen=True, slots=True)
class ChoiceBranch:
    """A condition and the state taken when it is the first that holds."""

    condition: Condition
    next: str
    position: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceState(State):
    """Routes to the first branch whose condition holds, else to `default`."""

    branches: tuple[ChoiceBranch, ...]
    default: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitState(State):
    """Waits a relative time: 1 to 300 s in a standard flow, 1 to 20 s in an express one."""

    seconds: int | Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class SucceedState(State):
    """Ends its scope well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailState(State):
    """Ends with an error: the `Code` is the error's name, the `Detail` its text."""

    code: str | Expression
    detail: str | Expression = ""


@dataclass(frozen=True, slots=True)
class SerialList:
    """Marks a scope of the older dialect, whose steps hand data on by its own rules (`definition/legacy`).

    The mappings are the flow's own; lists inside it have none.
    """

    input_mappings: Template | None = None
    output_mappings: Template | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """A list of states with its start; transitions stay inside it. `serial` is set in the older dialect only."""

    start_at: str
    states: Mapping[str, State]
    serial: SerialList | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelState(State):
    """Runs up to 50 branches on the same input; the output is `{Branch0: ..., Branch1: ...}`."""

    branches: tuple[Scope, ...]
    retry: tuple[RetryRule, ...] = ()
    catch: tuple[CatchRule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributedConfig:
    """What only a distributed Map has. Sub-fields the documentation leaves open are listed in docs/assumptions.md."""

    execution_mode: str = "Express"
    item_reader: Template | None = None
    item_constructor: Template | None = None
    item_batcher: Template | None = None
    result_writer: Template | None = None
    max_items: int | Expression | None = None
    tolerated_failed_percentage: float | Expression | None = None
    tolerated_failed_count: int | Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MapState(State):
    """Runs its processor once per item. `max_concurrency` None: the mode's default (40 inline, 100 distributed)."""

    processor: Scope
    items_path: Expression | None = None
    item_constructor: Template | None = None
    max_concurrency: int | Expression | None = None
    distributed: DistributedConfig | None = None
    retry: tuple[RetryRule, ...] = ()
    catch: tuple[CatchRule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A whole definition. `timeout` is in seconds; None means the mode's maximum."""

    name: str
    root: Scope
    source: str = "<text>"
    spec_version: str = "v1"
    description: str = ""
    timeout: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
