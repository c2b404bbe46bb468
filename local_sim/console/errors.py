"""What the console says no to.

ConsoleError                catch it for anything below; `message` is for the person at the screen
├── NotFound                no such flow or execution
├── Refused                 the service refused an action
└── CloudUnreachable        the account cannot be reached or does not let us
"""

from __future__ import annotations

from local_sim.errors import LocalSimError


class ConsoleError(LocalSimError):
    """Something the console was asked for cannot be had."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class NotFound(ConsoleError):
    """There is no such flow or execution."""


class Refused(ConsoleError):
    """The service refused the action."""


class CloudUnreachable(ConsoleError):
    """The account cannot be reached, or its credentials do not let us in."""
