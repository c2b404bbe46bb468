"""Review as a resource: a round that waits for people, links to it, one decision, and its delivery to CloudFlow.

`Desk` does everything that changes a review; the flow's handler, the page and `scripts/review.py` go through it. Names
are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from functions.review.desk import Decided, Desk
    from functions.review.errors import (
        LinkExpired,
        LinkForged,
        LinkSuperseded,
        ReviewConflict,
        ReviewError,
        ReviewKeysMissing,
        ReviewOver,
        ReviewUnknown,
    )
    from functions.review.keys import Keys
    from functions.review.links import Link, Links
    from functions.review.model import Decision, Review, ReviewId, Seat, State
    from functions.review.sweeping import Swept, sweep

__all__ = [
    "Decided",
    "Decision",
    "Desk",
    "Keys",
    "Link",
    "LinkExpired",
    "LinkForged",
    "LinkSuperseded",
    "Links",
    "Review",
    "ReviewConflict",
    "ReviewError",
    "ReviewId",
    "ReviewKeysMissing",
    "ReviewOver",
    "ReviewUnknown",
    "Seat",
    "State",
    "Swept",
    "sweep",
]

_HOMES = {
    "Decided": "desk",
    "Decision": "model",
    "Desk": "desk",
    "Keys": "keys",
    "Link": "links",
    "Links": "links",
    "Review": "model",
    "ReviewId": "model",
    "Seat": "model",
    "State": "model",
    "Swept": "sweeping",
    "sweep": "sweeping",
}


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
