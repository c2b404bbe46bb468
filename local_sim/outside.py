"""The outside services of a project: the user's own ASGI apps, played beside the local cloud.

A service is somebody else's on purpose: it has a thread and an event loop of its own, so one that blocks holds up
neither Tablestore nor OSS, and its files lie in a folder of their own, `<data>/outside/<name>`. It listens on loopback
only. Its modules must be imported by the time its function returns: the import path is lent for that long.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local_sim.errors import LocalSimError
from local_sim.project import OutsideService, Project

if TYPE_CHECKING:
    from local_sim.services.host import ServiceHost


class OutsideServiceError(LocalSimError):
    """An outside service could not be started. `service` is its name in pyproject.toml."""

    def __init__(self, service: OutsideService, reason: str) -> None:
        self.service = service.name
        super().__init__(f"the outside service {service.name} ({service.app}) cannot start: {reason}")


class OutsideServices:
    """Starts and stops all outside services of a project."""

    def __init__(self, project: Project, folder: Path) -> None:
        self._project = project
        self._folder = folder / "outside"
        self._hosts: list[ServiceHost] = []
        self._apps: list[Any] = []

    def start(self) -> dict[str, str]:
        """Serve each on a free loopback port; returns the address by environment variable.

        Raises OutsideServiceError; what had started by then is stopped again.
        """
        return {service.variable: self._start(service) for service in self._project.settings.services}

    def stop(self) -> None:
        """Stop serving, then call `close()` of each app that has it. Safe to call twice."""
        for host in self._hosts:
            host.stop()
        for app in self._apps:
            close = getattr(app, "close", None)
            if close is not None:
                close()
        self._hosts.clear()
        self._apps.clear()

    def _start(self, service: OutsideService) -> str:
        try:
            return self._serve(service)
        except Exception as error:
            self.stop()
            raise OutsideServiceError(service, f"{type(error).__name__}: {error}") from error

    def _serve(self, service: OutsideService) -> str:
        from local_sim.services.host import ServiceHost
        from local_sim.workers.in_process import borrowed_modules

        folder = self._folder / service.name
        folder.mkdir(parents=True, exist_ok=True)
        module_name, _, function_name = service.app.partition(":")
        with borrowed_modules(self._project.root):
            app = getattr(import_module(module_name), function_name)(folder)
        self._apps.append(app)
        host = ServiceHost(app, name=service.name)
        self._hosts.append(host.start())
        return host.endpoint
