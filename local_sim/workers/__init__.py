"""Runs handlers under Function Compute's contract: in this process, or in child processes.

Names are imported when first used, so that a child process loads nothing but the contract.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .environment import WorkerEnvironment
    from .errors import DebuggerMissing, HandlerNotLoadable, WorkerError
    from .in_process import InProcessWorker
    from .model import InstanceInfo, InstanceKeeper, InvokeResult, Worker
    from .process import ProcessWorker

__all__ = [
    "DebuggerMissing",
    "HandlerNotLoadable",
    "InProcessWorker",
    "InstanceInfo",
    "InstanceKeeper",
    "InvokeResult",
    "ProcessWorker",
    "Worker",
    "WorkerEnvironment",
    "WorkerError",
]

_HOMES = {
    "DebuggerMissing": "errors",
    "HandlerNotLoadable": "errors",
    "InProcessWorker": "in_process",
    "InstanceInfo": "model",
    "InstanceKeeper": "model",
    "InvokeResult": "model",
    "ProcessWorker": "process",
    "Worker": "model",
    "WorkerEnvironment": "environment",
    "WorkerError": "errors",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
