"""Service integrations: what a Task's Action does outside the engine (language page, section 6)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .model import ActionFailure, Call, CallFailed, CallSucceeded, Outcome

if TYPE_CHECKING:
    from .function import read_invocation
    from .registry import Actions
    from .subflow import FlowStart, read_flow_start

__all__ = [
    "ActionFailure",
    "Actions",
    "Call",
    "CallFailed",
    "CallSucceeded",
    "FlowStart",
    "Outcome",
    "read_flow_start",
    "read_invocation",
]

_HOMES = {
    "Actions": "registry",
    "FlowStart": "subflow",
    "read_flow_start": "subflow",
    "read_invocation": "function",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
