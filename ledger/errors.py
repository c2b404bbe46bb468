"""What the ledger raises. Catch a base to catch all below it; every error carries its data as attributes.

::

    LedgerError
    +-- LedgerRetryable            nothing is wrong for good: the same call later may succeed
    |   +-- StepBusy               another worker holds the claim
    |   +-- LedgerUnavailable      the store did not answer in time
    |   +-- ClaimLost              a newer owner has the step; this worker's outcome was not recorded
    +-- OutcomeUncertain           nobody can say whether the effect happened; a person must settle it
    +-- StepConflict               the ledger's record and the call do not fit together
    |   +-- FingerprintDiffers     same step, other input
    |   +-- VersionsDiffer         the task is pinned to other versions
    |   +-- StepClosed             compensated, irreversible or tombstoned
    |   +-- NotUncertain           resolve() on a step that is not uncertain
    |   +-- CarryRefused           carry() on a task whose steps cannot all be carried
    +-- SagaError
    |   +-- CompensationFailed     an unwind did not finish; carries the report
    |   +-- UnknownCompensation    no action under the recorded name
    |   +-- UnknownSavepoint       back_to names a step that never completed
    +-- BlobError                  an object could not be stored or read
    |   +-- BlobUnavailable        also a LedgerRetryable
    |   +-- BlobDamaged            gone, or not the bytes that were stored
    +-- LedgerMisconfigured        the set-up is wrong; no retry helps
    |   +-- TableMissing
    |   +-- WrongSchemaVersion
    |   +-- NoPermission
    |   +-- StoreRefused           the store calls the request itself invalid
    +-- InvalidArgument            the call is wrong
        +-- InvalidKey             an empty, oversize or reserved identifier
        +-- NotJson                a value JSON cannot carry
        +-- TooLarge               a value over a limit
        +-- ProbeMissing           kind=probed without a probe

This module imports nothing of the package: it is the bottom of the import order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class LedgerError(Exception):
    """Root of everything the ledger raises by itself."""


class LedgerRetryable(LedgerError):
    """Nothing is wrong for good: the same call, later, may succeed."""


class StepBusy(LedgerRetryable):
    """Another worker holds `step`; its lease ends at `until_ms` (by that worker's clock) unless renewed."""

    def __init__(self, step: str, until_ms: int) -> None:
        super().__init__(f"step {step!r} is being run by another worker (lease until {until_ms} ms); call again later")
        self.step = step
        self.until_ms = until_ms


class LedgerUnavailable(LedgerRetryable):
    """The store could not be reached, or throttled, past the deadline. `operation` says what was tried."""

    def __init__(self, operation: str, waited_seconds: float, last_error: str) -> None:
        super().__init__(f"the ledger's store gave no answer to {operation} in {waited_seconds:.1f} s: {last_error}")
        self.operation = operation
        self.waited_seconds = waited_seconds
        self.last_error = last_error


class ClaimLost(LedgerRetryable):
    """A late worker: the claim on `step` has a newer owner, so this worker's outcome was not recorded.

    `reason` is one of `taken_over`, `no_token`, `not_claimed` (case C28).
    """

    def __init__(self, step: str, reason: str = "taken_over") -> None:
        super().__init__(f"the claim on step {step!r} is lost ({reason}); its present owner's outcome counts")
        self.step = step
        self.reason = reason


class OutcomeUncertain(LedgerError):
    """Nobody can say whether the effect of `step` happened. `key` is the idempotency key to look for."""

    def __init__(self, step: str, key: str, reason: str) -> None:
        super().__init__(
            f"whether step {step!r} took effect is not known ({reason}); look for key {key} on the other side, "
            "then settle it with Ledger.resolve"
        )
        self.step = step
        self.key = key
        self.reason = reason


class StepConflict(LedgerError):
    """The ledger's record and the call do not fit together."""


class FingerprintDiffers(StepConflict):
    """`step` was first called with another input; `recorded` and `given` are the two fingerprints."""

    def __init__(self, step: str, recorded: str = "", given: str = "") -> None:
        super().__init__(
            f"step {step!r} is recorded with another input (fingerprint {recorded[:12]}, now {given[:12]})"
        )
        self.step = step
        self.recorded = recorded
        self.given = given


class VersionsDiffer(StepConflict):
    """The task is pinned to other versions; `pinned` and `given` are `Versions` (`pinned` is None: never begun)."""

    def __init__(self, pinned: Any, given: Any) -> None:
        super().__init__(f"the task is pinned to {pinned}, the call runs under {given}; migrate it with Ledger.repin")
        self.pinned = pinned
        self.given = given


class StepClosed(StepConflict):
    """`step` was compensated or tombstoned (`state`) and must not run or replay any more."""

    def __init__(self, step: str, state: str) -> None:
        super().__init__(f"step {step!r} is closed ({state}); it can neither run nor replay")
        self.step = step
        self.state = state


class NotUncertain(StepConflict):
    """`resolve` was called on `step`, which is in `state` and needs no person."""

    def __init__(self, step: str, state: str) -> None:
        super().__init__(f"step {step!r} is {state}, not uncertain; there is nothing to settle")
        self.step = step
        self.state = state


class CarryRefused(StepConflict):
    """Steps of `task_id` are in the way of carrying: `blocked` maps each to the reason. Nothing was changed by it."""

    def __init__(self, task_id: str, blocked: Mapping[str, str]) -> None:
        listed = "; ".join(f"{step}: {reason}" for step, reason in blocked.items())
        super().__init__(f"the finished steps of task {task_id!r} cannot be carried over: {listed}")
        self.task_id = task_id
        self.blocked = dict(blocked)


class SagaError(LedgerError):
    """An unwind could not start or did not finish."""


class CompensationFailed(SagaError):
    """The unwind is not complete: `step` failed with `error`; `report` (a SagaReport) says how far it came."""

    def __init__(self, step: str, error: BaseException, report: Any = None) -> None:
        super().__init__(f"compensating step {step!r} failed: {type(error).__name__}: {error}; a repeat resumes there")
        self.step = step
        self.error = error
        self.report = report


class UnknownCompensation(SagaError):
    """A row records the compensation `name`, for which no action was given; nothing has been undone yet."""

    def __init__(self, name: str, step: str = "", known: tuple[str, ...] = ()) -> None:
        super().__init__(
            f"step {step!r} records the compensation {name!r}, but the actions given are: {', '.join(known) or 'none'}"
        )
        self.name = name
        self.step = step
        self.known = known


class UnknownSavepoint(SagaError):
    """`back_to` names `step`, which has not completed in this task."""

    def __init__(self, step: str) -> None:
        super().__init__(f"cannot go back to step {step!r}: it has not completed in this task")
        self.step = step


class BlobError(LedgerError):
    """The object at `uri` could not be stored or read: `problem`."""

    def __init__(self, uri: str, problem: str) -> None:
        super().__init__(f"{uri}: {problem}")
        self.uri = uri
        self.problem = problem


class BlobUnavailable(BlobError, LedgerRetryable):
    """The object store did not answer, or answered with a fault of its own."""


class BlobDamaged(BlobError):
    """The object is missing, or is not the one that was stored. A retry does not help."""


class LedgerMisconfigured(LedgerError):
    """The set-up is wrong; a retry does not help."""


class TableMissing(LedgerMisconfigured):
    """The ledger's `table` does not exist in the instance."""

    def __init__(self, table: str) -> None:
        super().__init__(f"the ledger table {table!r} does not exist; create it with scripts/provision.py")
        self.table = table


class WrongSchemaVersion(LedgerMisconfigured):
    """`table` carries schema version `found` (None: never written) where this code needs `needed`."""

    def __init__(self, table: str, found: int | None, needed: int) -> None:
        super().__init__(
            f"the ledger table {table!r} has schema version {found}, this code needs {needed}; run scripts/provision.py"
        )
        self.table = table
        self.found = found
        self.needed = needed


class NoPermission(LedgerMisconfigured):
    """The store refused the credentials or the role: service code `code`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(
            f"the store refused access ({code}: {message}); check ALIBABA_CLOUD_ACCESS_KEY_ID, its secret "
            "and the role's policy"
        )
        self.code = code
        self.detail = message


class StoreRefused(LedgerMisconfigured):
    """The store calls the request invalid: service code `code`. Sending it again cannot help."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"the store refused the request ({code}: {message})")
        self.code = code
        self.detail = message


class InvalidArgument(LedgerError):
    """The call itself is wrong."""


class InvalidKey(InvalidArgument):
    """`name` (task_id, step, ...) holds `value`, which cannot be a key because of `problem`."""

    def __init__(self, name: str, value: object, problem: str) -> None:
        super().__init__(f"{name} {str(value)[:80]!r} cannot be used: {problem}")
        self.name = name
        self.value = value
        self.problem = problem


class NotJson(InvalidArgument):
    """A value at `path` (such as `$.a[2]`) is something JSON cannot carry."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"not JSON at {path}: {problem}")
        self.path = path
        self.problem = problem


class TooLarge(InvalidArgument):
    """`what` has `size` bytes of UTF-8, more than `limit`."""

    def __init__(self, what: str, size: int, limit: int) -> None:
        super().__init__(f"{what} has {size} bytes, the limit is {limit}; store it elsewhere and pass a reference")
        self.what = what
        self.size = size
        self.limit = limit


class ProbeMissing(InvalidArgument):
    """`step` is declared `probed`, but no probe was given."""

    def __init__(self, step: str) -> None:
        super().__init__(f"step {step!r} is declared probed: pass probe= to Ledger.run")
        self.step = step
