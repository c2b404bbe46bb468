"""What an error's cause says to a person."""

from __future__ import annotations

import json


def error_text(cause: object) -> str:
    """Return the message of an error's cause: Function Compute's errorMessage when it is that, else its first line."""
    text = str(cause or "")
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    message = body.get("errorMessage") if isinstance(body, dict) else None
    return str(message or text).strip().splitlines()[0][:300] if (message or text).strip() else ""
