"""The review page: an FC function behind an HTTP trigger."""

from __future__ import annotations

__all__ = ["handler"]


def handler(event: object, context: object) -> str:
    """Answer one HTTP request: the event and the answer have FC's shapes (function-compute.md section 2)."""
    from functions.review.web import respond

    return respond(event)
