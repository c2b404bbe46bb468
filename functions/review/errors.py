"""Errors of reviews.

::

    ReviewError                     catch it for: anything that keeps a link or a decision from counting
    ├── LinkForged                  the link was not made here, or was changed on its way
    ├── LinkExpired                 the link was ours; its time is over
    ├── LinkSuperseded              the link was ours; the seat was handed to somebody else, or may not do this
    ├── ReviewUnknown               no such review
    ├── ReviewConflict              decided already, differently: says what, by whom and when
    ├── ReviewOver                  expired or withdrawn: nothing can be decided any more
    └── ReviewKeysMissing           STEPKEEPER_REVIEW_KEYS is not set, or lacks the key that something was made with

All are certain: what was refused did not happen.
"""

from __future__ import annotations

from functions.errors import StepkeeperError

__all__ = [
    "LinkExpired",
    "LinkForged",
    "LinkSuperseded",
    "ReviewConflict",
    "ReviewError",
    "ReviewKeysMissing",
    "ReviewOver",
    "ReviewUnknown",
]


class ReviewError(StepkeeperError):
    """Root of what keeps a link or a decision from counting."""

    advice = "Ask for a new link: python -m scripts.review link TASK."

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message, effect_applied=False, **details)


class LinkForged(ReviewError):
    """The link bears no signature of ours."""


class LinkExpired(ReviewError):
    """The link was made here; `expired_s` (seconds since 1970) is when it ended."""

    def __init__(self, expired_s: int) -> None:
        super().__init__("the link has expired", expired_s=expired_s)
        self.expired_s = expired_s


class LinkSuperseded(ReviewError):
    """The link was made here but may not do this: its seat is another's now (`holder`), or it is for looking only."""

    def __init__(self, message: str, *, holder: str = "") -> None:
        super().__init__(message, holder=holder)
        self.holder = holder


class ReviewUnknown(ReviewError):
    """There is no such review."""

    advice = "Look for it: python -m scripts.review list."


class ReviewConflict(ReviewError):
    """Another decision counts already: `decision`, `by` and `at_ms` (ms since 1970)."""

    advice = "Nothing: the first decision counts. Talk to the one who took it."

    def __init__(self, message: str, *, decision: str, by: str, at_ms: int) -> None:
        super().__init__(message, decision=decision, by=by, at_ms=at_ms)
        self.decision, self.by, self.at_ms = decision, by, at_ms


class ReviewOver(ReviewError):
    """The review ended without a decision: `state` is `expired` or `withdrawn`."""

    advice = "Nothing can be decided any more; start a new task if the document is still wanted."

    def __init__(self, message: str, *, state: str) -> None:
        super().__init__(message, state=state)
        self.state = state


class ReviewKeysMissing(ReviewError):
    """A key is missing."""

    advice = "Set STEPKEEPER_REVIEW_KEYS: newest key first, older ones behind it as long as their links live."
