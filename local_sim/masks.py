"""Takes out of texts what differs between any two runs of the same flow: tokens, request ids, the execution's name."""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(r"djEj[A-Za-z0-9+/=_-]{16,}")
_REQUEST_ID = re.compile(r"1-[0-9a-f]{8}-[0-9a-f]{24}")


def mask(text: str, execution: str) -> str:
    """Return JSON text with `<token>`, `<request>` and `<name>` in the place of what no two runs share."""
    named = text.replace(json.dumps(execution)[1:-1], "<name>") if execution else text
    return _REQUEST_ID.sub("<request>", _TOKEN.sub("<token>", named))
