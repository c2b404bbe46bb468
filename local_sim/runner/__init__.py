"""Drives executions: engine, journal, workers and clock put together."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import resume_run, run_flow
    from .errors import BadDecision, BadInput, FlowNotFound, RunError
    from .form import Form
    from .model import Decision, RunResult, Waiting
    from .observer import Observer

__all__ = [
    "BadDecision",
    "BadInput",
    "Decision",
    "FlowNotFound",
    "Form",
    "Observer",
    "RunError",
    "RunResult",
    "Waiting",
    "resume_run",
    "run_flow",
]

_HOMES = {
    "BadDecision": "errors",
    "BadInput": "errors",
    "Decision": "model",
    "FlowNotFound": "errors",
    "Form": "form",
    "Observer": "observer",
    "RunError": "errors",
    "RunResult": "model",
    "Waiting": "model",
    "resume_run": "api",
    "run_flow": "api",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
