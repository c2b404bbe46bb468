"""What can go wrong with the local services themselves.

An error that a service reports to its client (a missing table, a refused key) is an answer on the wire and has its own
type inside the service. The errors here are raised to whoever starts and drives the services::

    ServiceError                  everything below: something is wrong with a local service
    ├── PortInUse                 another process listens there; choose another port
    ├── AddressUnusable           the host name or port cannot be listened on at all
    ├── ServiceNotRunning         asked for a port or endpoint of a service that was not started
    ├── StoreInUse                another process keeps its data in that folder or file; `path` says which
    ├── StoreUnusable             a service's file cannot be opened, or is no database; `path` and `reason` say more
    ├── SchemaTooNew              a later version of this program wrote the file, with schema `found`
    ├── InvalidFaultRule          a fault rule asks for something impossible; `field` says where
    └── ConnectionCut             raised by an app to drop its client's connection, never seen outside
"""

from __future__ import annotations

from pathlib import Path

from local_sim.errors import LocalSimError


class ServiceError(LocalSimError):
    """Something is wrong with a local service."""


class PortInUse(ServiceError):
    """Another process already listens on `host`:`port`."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(f"{host}:{port} is in use; stop the other process or choose another port")
        self.host = host
        self.port = port


class AddressUnusable(ServiceError):
    """The system refuses to listen on `host`:`port`; `reason` is the system's text."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(f"cannot listen on {host}:{port}: {reason}")
        self.host = host
        self.port = port
        self.reason = reason


class ServiceNotRunning(ServiceError):
    """The service has no address because it was not started."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the service {name!r} is not running; call start() first")
        self.name = name


class InvalidFaultRule(ServiceError, ValueError):
    """A fault rule cannot be meant as written; `field` is the part at fault and `reason` says why."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class ConnectionCut(ServiceError):
    """Raised inside an ASGI app: drop the client's connection now; what was already sent stays sent."""


class StoreInUse(ServiceError):
    """Another process keeps its data at `path`, or another store of this process."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is in use by another process: stop it or use another --data")
        self.path = path


class StoreUnusable(ServiceError):
    """The file at `path` cannot be used; `reason` is the system's text."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} cannot be used: {reason}")
        self.path = path
        self.reason = reason


class SchemaTooNew(ServiceError):
    """The file was written by a newer version of this program; `found` and `known` are schema versions."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} has schema {found}, this version knows {known}: use a newer version or another --data"
        )
        self.path = path
        self.found = found
        self.known = known
