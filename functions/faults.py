"""From the errors of the ledger, and from anything unexpected, to the typed errors that a flow matches."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from functions.errors import (
    InvalidInput,
    ResultConflict,
    StepkeeperError,
    SystemFault,
    TemporaryUpstreamError,
    UncertainOutcome,
    VersionMismatch,
)
from ledger import (
    CompensationFailed,
    FingerprintDiffers,
    InvalidKey,
    LedgerError,
    LedgerRetryable,
    OutcomeUncertain,
    VersionsDiffer,
)

__all__ = ["typed"]


def typed(error: Exception) -> StepkeeperError:
    """The typed error that stands for `error`; a typed one stands for itself. The caller chains the cause."""
    if isinstance(error, StepkeeperError):
        return error
    if isinstance(error, LedgerError):
        return _of_ledger(error)
    return SystemFault(f"{type(error).__name__}: {error}", kind=type(error).__name__)


def _of_ledger(error: LedgerError) -> StepkeeperError:
    if isinstance(error, LedgerRetryable):
        return TemporaryUpstreamError(str(error), upstream="ledger")
    if isinstance(error, OutcomeUncertain):
        return UncertainOutcome(str(error), step=error.step, key=error.key, reason=error.reason)
    if isinstance(error, FingerprintDiffers):
        return ResultConflict(str(error), key=error.step, stored=error.recorded, wanted=error.given)
    if isinstance(error, VersionsDiffer):
        return VersionMismatch(str(error), pinned=_versions(error.pinned), given=_versions(error.given))
    if isinstance(error, InvalidKey):
        return InvalidInput(str(error), path=error.name, reason=error.problem)
    if isinstance(error, CompensationFailed):
        return _of_compensation(error)
    return SystemFault(str(error), kind=type(error).__name__)


def _of_compensation(error: CompensationFailed) -> StepkeeperError:
    inner = error.error
    if isinstance(inner, LedgerRetryable) or (isinstance(inner, StepkeeperError) and inner.retryable):
        return TemporaryUpstreamError(str(error), upstream=f"compensation of {error.step}")
    if isinstance(inner, OutcomeUncertain | UncertainOutcome):
        return UncertainOutcome(str(error), step=error.step, key=inner.key, reason=inner.reason)
    return SystemFault(str(error), kind=type(inner).__name__, step=error.step)


def _versions(versions: Any) -> dict[str, str]:
    return {} if versions is None else asdict(versions)
