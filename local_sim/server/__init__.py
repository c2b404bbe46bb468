"""The durable server: many executions at once, surviving kill -9, behind the wire protocols of the cloud.

with LocalServer(load_project(find_project(folder)), data_folder) as server:
    subprocess.run(command, env=os.environ | dict(server.environment))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .background import start_background
    from .client import ControlClient
    from .errors import SecretNeeded, ServerError, ServerFailed, ServerNotRunning, ServerUnreachable
    from .server import LocalServer
    from .state import ServerState, read_state

__all__ = [
    "ControlClient",
    "LocalServer",
    "SecretNeeded",
    "ServerError",
    "ServerFailed",
    "ServerNotRunning",
    "ServerState",
    "ServerUnreachable",
    "read_state",
    "start_background",
]

_HOMES = {
    "ControlClient": "client",
    "LocalServer": "server",
    "SecretNeeded": "errors",
    "ServerError": "errors",
    "ServerFailed": "errors",
    "ServerNotRunning": "errors",
    "ServerState": "state",
    "ServerUnreachable": "errors",
    "read_state": "state",
    "start_background": "background",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
