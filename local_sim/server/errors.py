"""What can be wrong with the server.

ServerError               catch it for: anything wrong with starting, reaching or stopping the server
├── SecretNeeded          listening beyond loopback without a secret
├── ServerNotRunning      no server runs on a data folder
├── ServerUnreachable     it should run, but does not answer
└── ServerFailed          the background server ended before it was ready
"""

from __future__ import annotations

from pathlib import Path

from local_sim.errors import LocalSimError


class ServerError(LocalSimError):
    """Something is wrong with the server."""


class SecretNeeded(ServerError):
    """The server was to listen on `host` without a secret."""

    def __init__(self, host: str) -> None:
        self.host = host
        super().__init__(f"{host} can be reached from other machines: give a --secret, which turns on signature checks")


class ServerNotRunning(ServerError):
    """No server runs on `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(f"no server runs on {folder}; start one with: local-sim serve --background")


class ServerUnreachable(ServerError):
    """The server at `endpoint` does not answer, or refuses; `reason` says more."""

    def __init__(self, endpoint: str, reason: str) -> None:
        self.endpoint = endpoint
        self.reason = reason
        super().__init__(f"the server at {endpoint} cannot be used: {reason}")


class ServerFailed(ServerError):
    """A background server did not come up; `log` is its log file."""

    def __init__(self, log: Path, tail: str) -> None:
        self.log = log
        super().__init__(f"the server did not come up; its log {log} ends:\n{tail}")
