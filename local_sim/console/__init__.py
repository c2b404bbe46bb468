"""The console: flows, executions and what waits, in a browser; for the local cloud, or an account through the SDKs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .app import make_console
    from .errors import CloudUnreachable, ConsoleError, NotFound, Refused
    from .panels import Panels
    from .source import Source

__all__ = ["CloudUnreachable", "ConsoleError", "NotFound", "Panels", "Refused", "Source", "make_console"]

_HOMES = {
    "CloudUnreachable": "errors",
    "ConsoleError": "errors",
    "NotFound": "errors",
    "Panels": "panels",
    "Refused": "errors",
    "Source": "source",
    "make_console": "app",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
