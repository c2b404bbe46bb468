"""The nearest known name to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

_MOST = 200
"""Known names that are looked at; comparing texts is slow, and a flow may have tens of thousands of states."""


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the known name most like `name`, case apart, or an empty text; `cutoff` is the least likeness (0 to 1)."""
    folded = {candidate.lower(): candidate for candidate in islice(known, _MOST)}
    wanted = name.lower()[:80]
    if wanted in folded:
        return folded[wanted]
    # Only misspelt flows need it; importing it costs a millisecond of every start.
    import difflib

    near = difflib.get_close_matches(wanted, list(folded), 1, cutoff)
    return folded[near[0]] if near else ""
