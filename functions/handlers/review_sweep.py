"""The sweep of reviews: a timer trigger calls it. Nothing but the clock decides what it does, so calling it twice is
harmless."""

from __future__ import annotations

import json
from dataclasses import asdict

from functions.settings import current

__all__ = ["handler"]


def handler(event: object, context: object) -> str:
    """Deliver what is due, remind, escalate, expire. Answers what was done, and what could not be done, as JSON."""
    from functions.review import Desk, sweep

    return json.dumps(asdict(sweep(Desk.open(current()))), ensure_ascii=False)
