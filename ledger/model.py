"""What callers hand to the ledger and get back from it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ledger.canonical_json import JsonValue


class EffectKind(str, Enum):
    """How an effect is made to happen exactly once when an earlier attempt's outcome is not known."""

    IDEMPOTENT = "idempotent"  # the other side takes the idempotency key: run again with the same key
    PROBED = "probed"  # ask the other side before any second try
    LOCAL = "local"  # the effect is a ledger write or a forbid-overwrite put: run again
    UNDECLARED = "undeclared"  # nothing is known: never run again, a person decides

    @property
    def keyed(self) -> bool:
        """Tell whether running the effect again with the same key is harmless."""
        return self in (EffectKind.IDEMPOTENT, EffectKind.LOCAL)


class Direction(str, Enum):
    """Whether a row is about a step or about undoing it."""

    FORWARD = "forward"
    COMPENSATE = "compensate"


class State(str, Enum):
    """The states of a step's row; docs/ledger.md has the whole table."""

    CLAIMED = "claimed"
    DONE = "done"
    FAILED = "failed"
    UNCERTAIN = "uncertain"
    COMPENSATING = "compensating"
    COMPENSATED = "compensated"
    COMPENSATION_FAILED = "compensation_failed"
    COMPENSATION_UNCERTAIN = "compensation_uncertain"
    IRREVERSIBLE = "irreversible"
    TOMBSTONE = "tombstone"
    CARRIED = "carried"


@dataclass(frozen=True)
class Versions:
    """What a task is pinned to. "" means not pinned, and matches anything."""

    workflow: str = ""
    function: str = ""
    prompt: str = ""
    input: str = ""

    def agrees_with(self, other: Versions) -> bool:
        """Tell whether every version that both pin is the same."""
        pairs = (
            (self.workflow, other.workflow),
            (self.function, other.function),
            (self.prompt, other.prompt),
            (self.input, other.input),
        )
        return all(not mine or not theirs or mine == theirs for mine, theirs in pairs)


@dataclass(frozen=True)
class Compensation:
    """How to undo an effect, recorded before the effect runs.

    `reversible=False` records an effect that cannot be undone; `arguments` then says what is known of it. `kind` says
    how the undoing itself is made exactly-once; its idempotency key is its own, not the step's.
    """

    name: str
    arguments: JsonValue = None
    reversible: bool = True
    kind: EffectKind = EffectKind.IDEMPOTENT


@dataclass(frozen=True)
class StepRequest:
    """One step to be run exactly once. Its key is (task_id, workflow_version, step); a lap is part of `step`.

    `input` is fingerprinted without the fields in `ignore`, with those in `json_text` parsed first. `lease_seconds` is
    renewed in the background while the effect runs. `read_first` makes a repeat cost one request and a first run three
    instead of two and two: declare it where repeats are the rule.
    """

    task_id: str
    workflow_version: str
    step: str
    input: JsonValue = None
    ignore: tuple[str, ...] = ()
    json_text: tuple[str, ...] = ()
    kind: EffectKind = EffectKind.UNDECLARED
    compensation: Compensation | None = None
    versions: Versions | None = None
    lease_seconds: float | None = None
    read_first: bool = False


class ProbeVerdict(str, Enum):
    """The three answers of a probe."""

    APPLIED = "applied"
    NOT_APPLIED = "not_applied"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True)
class Probe:
    """What the other side says about an earlier attempt. Make it with one of the three class methods."""

    verdict: ProbeVerdict
    result: JsonValue = None
    reason: str = ""

    @classmethod
    def applied(cls, result: JsonValue) -> Probe:
        """It happened; `result` becomes the step's result and the effect does not run."""
        return cls(ProbeVerdict.APPLIED, result=result)

    @classmethod
    def not_applied(cls) -> Probe:
        """It did not and will not happen; the effect runs now."""
        return cls(ProbeVerdict.NOT_APPLIED)

    @classmethod
    def cannot_tell(cls, reason: str) -> Probe:
        """The other side does not know; the step becomes uncertain and goes to a person."""
        return cls(ProbeVerdict.CANNOT_TELL, reason=reason)


@dataclass(frozen=True)
class StepResult:
    """What `Ledger.run` returns. `replayed` is True when the effect did not run in this call."""

    value: JsonValue
    replayed: bool
    attempt: int
    epoch: int


@dataclass(frozen=True)
class StepRow:
    """One line of the record for people: a step, or the undoing of it (`direction`). Times are ms since the epoch."""

    task_id: str
    workflow_version: str
    step: str
    direction: Direction
    state: str
    attempt: int
    epoch: int
    kind: EffectKind
    side_effect_id: str
    result_summary: str
    started_ms: int
    finished_ms: int | None
    lease_until_ms: int | None
    error_type: str
    error: str
    compensation: str


@dataclass(frozen=True)
class Transition:
    """One change of state. `timestamp` is the store's own clock, in ms since the epoch; `from_status` "" means new."""

    task_id: str
    workflow_version: str
    step_name: str
    from_status: str
    to_status: str
    attempt: int
    error_type: str
    side_effect_id: str
    timestamp: int
    direction: Direction = Direction.FORWARD
    epoch: int = 0
    by: str = ""
    reason: str = ""
