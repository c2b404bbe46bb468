"""FC handlers of the shipped flows and the small kit they share.

The names below are what other code of a project uses; handlers use `functions.step` for the decorator. Names are loaded
when first used, so that importing the package costs nothing at a cold start.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from functions.errors import (
        InvalidInput,
        OrderRefused,
        ResultConflict,
        ReviewRejected,
        StepkeeperError,
        SystemFault,
        TemporaryUpstreamError,
        UncertainOutcome,
        VersionMismatch,
        describe,
        redact,
    )
    from functions.models import PayloadRef, Task, TaskInput
    from functions.payloads import Payloads
    from functions.settings import Settings

__all__ = [
    "InvalidInput",
    "OrderRefused",
    "PayloadRef",
    "Payloads",
    "ResultConflict",
    "ReviewRejected",
    "Settings",
    "StepkeeperError",
    "SystemFault",
    "Task",
    "TaskInput",
    "TemporaryUpstreamError",
    "UncertainOutcome",
    "VersionMismatch",
    "describe",
    "redact",
]

_HOMES = {
    "PayloadRef": "models",
    "Payloads": "payloads",
    "Settings": "settings",
    "Task": "models",
    "TaskInput": "models",
}


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
