"""Typed errors of the functions. The class name is the error name that CloudFlow's Retry and Catch match (decision
A03).

::

    StepkeeperError                 catch it for: anything a handler of the kit raises
    ├── TemporaryUpstreamError      the other side is busy or away: the flow retries, with a growing interval
    ├── InvalidInput                the input cannot be used: a person sends a corrected one
    ├── ReviewRejected              a reviewer said no: what was done is undone
    ├── OrderRefused                the shop said no (out of stock, declined, undeliverable): what was done is undone
    ├── ResultConflict              something else is stored already: compare, then let a person decide
    ├── UncertainOutcome            an effect may or may not have happened: never run again blindly
    ├── VersionMismatch             the task is pinned to other versions than the ones at hand
    └── SystemFault                 a fault of the installation or of the code: a person has to look

Standard library and functions/redaction.py only: this is the bottom of the import order. Each error says whether it
may be retried (`retryable`), what a person should do (`advice`) and whether its effect took place (`effect_applied`:
False = certainly not, None = unknown). The ledger reads `effect_applied`: only a certain "no" lets an undeclared effect
run again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from functions.redaction import redact_text, redact_value

__all__ = [
    "InvalidInput",
    "OrderRefused",
    "ResultConflict",
    "ReviewRejected",
    "StepkeeperError",
    "SystemFault",
    "TemporaryUpstreamError",
    "UncertainOutcome",
    "VersionMismatch",
    "at_path",
    "describe",
    "redact",
]

MAX_MESSAGE = 2000
"""Characters of an error's own message."""

MAX_TEXT = 600
"""Characters of a message that `describe` keeps. The whole error has to stay far below the 64 KiB of a state."""


class StepkeeperError(Exception):
    """Root of all errors that the functions raise.

    `details` holds what else is known, as JSON values; `describe` shows it, redacted. The message is redacted at once:
    it ends in the ledger, in the log and in the flow's error, whoever wrote it.
    """

    retryable: bool = False
    advice: str = "Look at the log of the function."

    def __init__(self, message: str, *, effect_applied: bool | None = None, **details: object) -> None:
        self.message = redact(message, MAX_MESSAGE)
        super().__init__(self.message)
        self.effect_applied = effect_applied
        self.details = details


class TemporaryUpstreamError(StepkeeperError):
    """The other side is busy, throttled or unreachable. Raised with `upstream` and, when it said so, `retry_after`
    (s).
    """

    retryable = True
    advice = "Nothing at first: the flow tries again. When it gives up, check the upstream and choose retry."

    def __init__(
        self,
        message: str,
        *,
        upstream: str,
        retry_after: float | None = None,
        status: int | None = None,
        effect_applied: bool | None = None,
    ) -> None:
        super().__init__(
            message, effect_applied=effect_applied, upstream=upstream, retry_after=retry_after, status=status
        )
        self.upstream = upstream
        self.retry_after = retry_after
        self.status = status


class InvalidInput(StepkeeperError):
    """The input cannot be used. `path` names the field (`task.document.size`), `reason` says why in a few words."""

    advice = "Send a corrected input; the flow waits for it."

    def __init__(self, message: str, *, path: str = "", reason: str = "") -> None:
        super().__init__(message, effect_applied=False, path=path, reason=reason)
        self.path = path
        self.reason = reason


@contextmanager
def at_path(path: str) -> Iterator[None]:
    """Say that an `InvalidInput` of the block is about the field `path`, unless it names one itself."""
    try:
        yield
    except InvalidInput as error:
        if error.path:
            raise
        raise InvalidInput(error.message, path=path, reason=error.reason) from error


class ReviewRejected(StepkeeperError):
    """The reviewer did not approve. `decision` is what was said, `round` the lap of the review."""

    advice = "Nothing: what was done is undone. Start a new task if the document is wanted after all."

    def __init__(self, message: str, *, decision: str, round: int = 1) -> None:  # noqa: A002 (the reviewers' word)
        super().__init__(message, effect_applied=False, decision=decision, round=round)
        self.decision = decision
        self.round = round


class OrderRefused(StepkeeperError):
    """The shop said no for a reason of business, so asking again is no use. `reason` is its word for it
    (`out_of_stock`, `declined`, `undeliverable`, ...), `status` the HTTP status.
    """

    advice = "Nothing: what was done for the order is undone. The customer may order again."

    def __init__(self, message: str, *, reason: str, status: int | None = None) -> None:
        super().__init__(message, effect_applied=False, reason=reason, status=status)
        self.reason = reason
        self.status = status


class ResultConflict(StepkeeperError):
    """Something else is stored under the task's key. `key` names it, `stored` and `wanted` are SHA-256 sums."""

    advice = "Compare the stored result with the new one, remove the wrong one, then choose retry or compensate."

    def __init__(self, message: str, *, key: str = "", stored: str = "", wanted: str = "") -> None:
        super().__init__(message, effect_applied=False, key=key, stored=stored, wanted=wanted)
        self.key = key
        self.stored = stored
        self.wanted = wanted


class UncertainOutcome(StepkeeperError):
    """An effect of `step` may or may not have happened, and nobody can be asked. `key` is its idempotency key."""

    advice = (
        "Find out whether the effect happened, then answer with retry or compensate and say `applied`: true or false."
    )

    def __init__(self, message: str, *, step: str, key: str = "", reason: str = "") -> None:
        super().__init__(message, effect_applied=None, step=step, key=key, reason=reason)
        self.step = step
        self.key = key
        self.reason = reason


class VersionMismatch(StepkeeperError):
    """The task was started with other versions. `pinned` and `given` map what was compared to its version."""

    advice = "Deploy the pinned versions again, or accept the new ones: retry with `accept_versions`: true."

    def __init__(self, message: str, *, pinned: Mapping[str, str], given: Mapping[str, str]) -> None:
        super().__init__(message, effect_applied=False, pinned=dict(pinned), given=dict(given))
        self.pinned = dict(pinned)
        self.given = dict(given)


class SystemFault(StepkeeperError):
    """A fault of the installation or of the code: a missing table, a wrong key, a bug. The cause is chained."""

    advice = "An operator has to repair the installation (see the message), then choose retry."


def redact(text: str, limit: int = MAX_TEXT) -> str:
    """`text` without credentials and without what identifies a person (functions/redaction.py), cut to `limit`
    characters.
    """
    text = redact_text(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def describe(error: BaseException) -> dict[str, object]:
    """What may be shown and stored of an error: a JSON-able dict, redacted.

    Keys: `error` (class name), `message`, `retryable`, `advice`, `effect_applied`, `details`, `cause` (class name and
    message of the chained error, or None).
    """
    cause = error.__cause__
    known = isinstance(error, StepkeeperError)
    return {
        "error": type(error).__name__,
        "message": redact(str(error)),
        "retryable": error.retryable if isinstance(error, StepkeeperError) else False,
        "advice": error.advice if isinstance(error, StepkeeperError) else StepkeeperError.advice,
        "effect_applied": error.effect_applied if isinstance(error, StepkeeperError) else None,
        "details": _plain(error.details) if known and isinstance(error, StepkeeperError) else {},
        "cause": None if cause is None else f"{type(cause).__name__}: {redact(str(cause), 200)}",
    }


def _plain(value: object) -> object:
    """`value` as a redacted JSON value: texts cut, entries without a value left out."""
    return _shortened(redact_value(value))


def _shortened(value: object) -> object:
    if isinstance(value, str):
        return value if len(value) <= 200 else value[:199] + "…"
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items() if item is not None}
    return [_shortened(item) for item in value] if isinstance(value, list) else value
