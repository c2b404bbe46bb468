"""What a failed call to the store means. Pure: an exception -> one of four verdicts.

The error names are those of the reference page tablestore.md, 8; network errors are urllib3's, which the SDK lets
through raw.
"""

from __future__ import annotations

from enum import Enum

from ledger.errors import LedgerError, NoPermission, StoreRefused, TableMissing


class Verdict(Enum):
    """What to do after a failed call."""

    RETRY = "retry"  # certainly not applied: send it again
    LOST = "lost"  # a condition did not hold, perhaps because of our own earlier attempt: read back
    DEFINITE = "definite"  # will never work: raise
    AMBIGUOUS = "ambiguous"  # may have been applied: read back


# Raised before a single byte was sent.
_NOT_SENT = frozenset({"NewConnectionError", "ConnectTimeoutError", "NameResolutionError", "MaxRetryError"})
# The service says "not now"; whether it can say so after applying is not known, so they count as ambiguous (L01).
_THROTTLED = frozenset(
    {
        "OTSRowOperationConflict",
        "OTSNotEnoughCapacityUnit",
        "OTSTableNotReady",
        "OTSPartitionUnavailable",
        "OTSServerBusy",
        "OTSOperationConflict",
        "OTSOperationThrottled",
        "OTSTimeout",
        "OTSInternalServerError",
        "OTSServerUnavailable",
    }
)
_TOO_FREQUENT = "Too frequent table operations."
_FORBIDDEN = 403


def classify(error: Exception) -> Verdict:
    """Return the verdict on an exception a call of the SDK raised."""
    code = _code(error)
    if code is not None:
        return _classify_service(code, error)
    if type(error).__name__ in _NOT_SENT:
        return Verdict.RETRY
    if _is_client_error(error):
        # Without an HTTP status the SDK refused to send it; with one, the answer could not be trusted.
        return Verdict.DEFINITE if getattr(error, "http_status", None) is None else Verdict.AMBIGUOUS
    if isinstance(error, (TypeError, AttributeError, NameError)):
        return Verdict.DEFINITE
    return Verdict.AMBIGUOUS


def definite_error(error: Exception, table: str) -> LedgerError:
    """Return the ledger's error for a `DEFINITE` failure."""
    code = _code(error) or type(error).__name__
    message = str(getattr(error, "message", error))
    if code == "OTSObjectNotExist":
        return TableMissing(table)
    if getattr(error, "http_status", None) == _FORBIDDEN:
        return NoPermission(code, message)
    return StoreRefused(code, message)


def describe(error: BaseException) -> str:
    """Return a short text of a failure for messages; never a request, so never a credential."""
    code = getattr(error, "code", "")
    return f"{code or type(error).__name__}: {getattr(error, 'message', error)}"[:300]


def _classify_service(code: str, error: Exception) -> Verdict:
    if code == "OTSConditionCheckFail":
        return Verdict.LOST
    if code in _THROTTLED:
        return Verdict.AMBIGUOUS
    if code == "OTSQuotaExhausted":
        return Verdict.AMBIGUOUS if getattr(error, "message", "") == _TOO_FREQUENT else Verdict.DEFINITE
    status = getattr(error, "http_status", 0) or 0
    if code == "" or not 400 <= status < 500:
        return Verdict.AMBIGUOUS
    return Verdict.DEFINITE


def _code(error: Exception) -> str | None:
    """Return the service's code; None for anything but an OTSServiceError (told by shape: no SDK import here)."""
    return error.code if hasattr(error, "request_id") and hasattr(error, "code") else None


def _is_client_error(error: Exception) -> bool:
    return type(error).__name__ == "OTSClientError"
