"""What the engine's functions raise. A flow's own failures are never raised: they are events, commands and history.

EngineError                  catch it for anything below
├── BadEventError            a stored event or command that cannot be read back
└── BadTokenError            a callback token that this installation did not make
"""

from __future__ import annotations


class EngineError(Exception):
    """Root of the errors of this package."""


class BadEventError(EngineError, ValueError):
    """A JSON object that is no event or command. Attributes: `reason`, `found` (what was given)."""

    def __init__(self, reason: str, found: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.found = found


class BadTokenError(EngineError, ValueError):
    """A callback token that cannot be believed. Attributes: `reason`, `forged` (well-formed, but the MAC is wrong)."""

    def __init__(self, reason: str, *, forged: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.forged = forged
