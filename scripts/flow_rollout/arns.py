"""ARNs in a definition: written without region and account, filled in with both and a version when it is deployed.

The text is changed in place, so comments and layout of the file survive and the definition holds no `${...}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["fill", "functions_in"]

_FUNCTION = re.compile(r"acs:fc:[a-z0-9-]*:[0-9]*:functions/(?P<name>[A-Za-z_][A-Za-z0-9_-]*)(?:/[A-Za-z0-9_-]+)?")
_FLOW = re.compile(r"acs:fnf:[a-z0-9-]*:[0-9]*:flow/(?P<name>[A-Za-z_][A-Za-z0-9_-]*)")


def functions_in(text: str) -> list[str]:
    """The names of the functions that a definition calls, each once, in their order."""
    return list(dict.fromkeys(match["name"] for match in _FUNCTION.finditer(text)))


def fill(text: str, function: Callable[[str], str], region: str, account: str) -> str:
    """Put `function(name)`, a whole ARN, in place of each function's ARN, and region and account into flows' ARNs."""
    filled = _FUNCTION.sub(lambda match: function(match["name"]), text)
    return _FLOW.sub(lambda match: f"acs:fnf:{region}:{account}:flow/{match['name']}", filled)
