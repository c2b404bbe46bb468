"""The project's outside services inside a world: their own ASGI apps, in this process, with their files in memory.

A fork copies a world, and an open database file is the one thing it cannot copy. So what a service opens below its
folder with `sqlite3.connect` lies in memory instead; plain files are put back after each run by whoever forks.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from asyncio.events import _get_running_loop, _set_running_loop
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from local_sim.outside import OutsideServiceError
from local_sim.project import OutsideService, Project
from local_sim.workers.in_process import borrowed_modules

from .wire import Exchange, Request, Response


class OutsideApp:
    """One outside service. `app` is what the project's function returned."""

    def __init__(self, service: OutsideService, app: Any) -> None:
        self.name = service.name
        self.variable = service.variable
        self.app = app
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0

    def answer(self, request: Request) -> Response:
        """Have the app answer. Raises `ConnectionLost` when it breaks off."""
        exchange = Exchange(request)
        running = _get_running_loop()  # the handler's own, when it is asynchronous
        _set_running_loop(None)
        try:
            self._own_loop().run_until_complete(self.app(exchange.scope, exchange.receive, exchange.send))
        finally:
            _set_running_loop(running)
        return exchange.response

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        """A loop waits on descriptors, and those must not be shared with the process this one was forked from."""
        if self._loop is None or self._process != os.getpid():
            self._loop, self._process = asyncio.new_event_loop(), os.getpid()
        return self._loop

    def effects(self) -> list[Any] | None:
        """What the app says has really happened, when it has an `effects()` of its own; else None."""
        told = getattr(self.app, "effects", None)
        return list(told()) if callable(told) else None


def import_outside(project: Project) -> None:
    """Import the modules of all outside services. Raises OutsideServiceError."""
    for service in project.settings.services:
        _function_of(project, service)


def start_outside(project: Project, folder: Path) -> list[OutsideApp]:
    """Make the apps of all outside services. Raises OutsideServiceError."""
    return [_start(project, service, folder / "outside" / service.name) for service in project.settings.services]


def _start(project: Project, service: OutsideService, folder: Path) -> OutsideApp:
    folder.mkdir(parents=True, exist_ok=True)
    make = _function_of(project, service)
    try:
        return OutsideApp(service, make(folder))
    except Exception as error:
        raise OutsideServiceError(service, f"{type(error).__name__}: {error}") from error


def _function_of(project: Project, service: OutsideService) -> Callable[[Path], Any]:
    module, _, function = service.app.partition(":")
    try:
        with borrowed_modules(project.root):
            found: Callable[[Path], Any] = getattr(import_module(module), function)
    except Exception as error:
        raise OutsideServiceError(service, f"{type(error).__name__}: {error}") from error
    return found


class MemoryDatabases:
    """Puts the SQLite files below `folder` into memory, one database a path, for the life of the process."""

    def __init__(self, folder: Path) -> None:
        self._prefix = str(folder.resolve()) + os.sep
        self._generation = 0
        self._anchors: dict[str, sqlite3.Connection] = {}
        self._connect: Callable[..., sqlite3.Connection] = sqlite3.connect

    def forget(self) -> None:
        """Forget all of them; what is opened next is new."""
        for anchor in self._anchors.values():
            anchor.close()
        self._generation += 1
        self._anchors.clear()

    def install(self) -> None:
        """Replace `sqlite3.connect`."""
        import sqlite3.dbapi2

        modules: tuple[Any, ...] = (sqlite3, sqlite3.dbapi2)
        for module in modules:
            module.connect = self._open

    def _open(self, database: Any, *args: Any, **more: Any) -> sqlite3.Connection:
        path = os.path.realpath(os.fsdecode(database)) if isinstance(database, str | bytes | os.PathLike) else ""
        if not path.startswith(self._prefix):
            return self._connect(database, *args, **more)
        number = list(self._anchors).index(path) if path in self._anchors else len(self._anchors)
        name = f"file:world{self._generation}.{number}?mode=memory&cache=shared"
        if path not in self._anchors:
            # A shared database in memory lives as long as one connection to it does.
            self._anchors[path] = self._connect(name, uri=True)
        return self._connect(name, *args, **{**more, "uri": True})
