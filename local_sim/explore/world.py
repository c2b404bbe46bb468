"""A world: everything a project's functions reach, in one process and in memory, and where they reach it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from local_sim.cloud import BUCKET, INSTANCE, KEY, REGION, CloudError
from local_sim.project import Project
from local_sim.services import oss, tablestore
from local_sim.workers.in_process import borrowed_modules

from .fibers import WorldClock
from .files import write_tree
from .model import Boundary, Overwrite
from .outside import MemoryDatabases, start_outside
from .stores import MemoryObjects, MemoryTables
from .wire import Request, Response, ask_at_once

TABLESTORE, OSS = "tablestore", "oss"
_HOST = "127.0.0.1"
_SECRET = "explored" * 8
_FIRST_PORT = 4000  # nobody listens there: requests are answered before they reach a socket


@dataclass(frozen=True)
class Answered:
    """One request that an outside service answered, in order of taking effect. `line` is the handler's line, `stack`
    all lines of the project that sent it; `told` is how many effects the service told of afterwards, `path` the
    state's from the root.
    """

    service: str
    request: Request
    response: Response
    line: str
    stack: tuple[str, ...]
    told: int
    path: tuple[str, ...] = ()


class World:
    """The services of one project.

    `answered` records what outside services were asked, `overwrites` the objects that got other bytes, oldest first.
    """

    def __init__(self, project: Project, folder: Path, clock: WorldClock) -> None:
        self.project, self.folder, self._clock = project, folder, clock
        self._databases = MemoryDatabases(folder)
        self._databases.install()
        self.begin()

    def begin(self) -> None:
        """Make everything new and empty."""
        clock = self._clock
        self._databases.forget()
        write_tree(self.folder, {})
        self.tables, self.objects = MemoryTables(), MemoryObjects()
        self._tablestore = tablestore.create_app(self.tables, clock=clock)
        self._oss = oss.create_app(self.objects, credentials=None, clock=clock)
        self.outside = {app.name: app for app in start_outside(self.project, self.folder)}
        self._names = {_FIRST_PORT: TABLESTORE, _FIRST_PORT + 1: OSS}
        self._names |= {_FIRST_PORT + 10 + number: name for number, name in enumerate(self.outside)}
        self.answered: list[Answered] = []
        self.overwrites: list[Overwrite] = []

    def service(self, host: str, port: int) -> str:
        """Return the name of the service at an address; "" for one that is no part of the world."""
        return self._names.get(port, "") if host in (_HOST, "localhost") else ""

    def knows(self, host: str, port: int | None) -> bool:
        """Say whether something of the world is at an address."""
        return port is not None and bool(self.service(host, port))

    def answer(self, service: str, request: Request) -> Response:
        """Have a service answer. Raises `ConnectionLost` when it breaks off."""
        if service == TABLESTORE:
            return ask_at_once(self._tablestore, request)
        if service == OSS:
            return ask_at_once(self._oss, request)
        return self.outside[service].answer(request)

    def record(self, service: str, request: Request, response: Response, boundary: Boundary) -> None:
        """Keep what an outside service was asked, for the judgement of its effects."""
        told = len(self.outside[service].effects() or ())
        self.answered.append(Answered(service, request, response, boundary.line, boundary.stack, told, boundary.path))

    def endpoints(self) -> dict[str, str]:
        """Return the variables of docs/architecture.md that name the services."""
        functions = self.project.functions.values()
        region = next((function.region for function in functions if function.region), REGION)
        address = {name: f"http://{_HOST}:{port}" for port, name in self._names.items()}
        extra = self.project.settings.environment.items()
        return {
            "TABLESTORE_ENDPOINT": address[TABLESTORE],
            "TABLESTORE_INSTANCE": self._declared("TABLESTORE_INSTANCE") or INSTANCE,
            "OSS_ENDPOINT": address[OSS],
            "OSS_BUCKET": self._declared("OSS_BUCKET") or BUCKET,
            "ALIBABA_CLOUD_REGION": region,
            "FC_REGION": region,
            "ALIBABA_CLOUD_ACCESS_KEY_ID": KEY,
            "ALIBABA_CLOUD_ACCESS_KEY_SECRET": KEY,
            "ALIBABA_CLOUD_SECURITY_TOKEN": KEY,
            "ALIBABA_CLOUD_ECS_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            **{app.variable: address[name] for name, app in self.outside.items()},
            **{key: self._filled(value) for key, value in extra},
        }

    def _filled(self, value: str) -> str:
        """Return a value of [tool.local-sim.environment] with what stands in braces filled in; there is no server."""
        if "{fc}" in value:
            return ""
        return value.replace("{secret}", _SECRET).replace("{data}", str(self.folder))

    def _declared(self, key: str) -> str:
        found = (function.environment.get(key) for function in self.project.functions.values())
        return next((value for value in found if value), "")

    def shared_variables(self) -> dict[str, str]:
        """Return what no single function sees but the setup hook and the invariants do: all functions' variables."""
        shared: dict[str, str] = {}
        for function in self.project.functions.values():
            shared |= function.environment
        return {**shared, **self.endpoints()}

    def set_up(self, prepare: str, value: Any) -> None:
        """Run the project's setup hook, then `prepare` on the input of the flow. Raises CloudError."""
        if self.project.settings.setup is not None:
            self._hook(self.project.settings.setup)
        if prepare:
            self._hook(prepare, value)

    def _hook(self, hook: str, *given: Any) -> None:
        module, _, function = hook.partition(":")
        with borrowed_modules(self.project.root):
            try:
                getattr(import_module(module), function)(*given)
            except Exception as error:
                raise CloudError(f"the hook {hook} failed: {type(error).__name__}: {error}") from error


def encoded(variables: Mapping[str, str]) -> dict[bytes, bytes]:
    """Return an environment as `os.environ` keeps it."""
    return {os.fsencode(name): os.fsencode(value) for name, value in variables.items()}


def set_environment(variables: dict[bytes, bytes]) -> None:
    """Make `variables` the whole of `os.environ`; changes are made in the dictionary given."""
    environ: Any = os.environ
    environ._data = variables
