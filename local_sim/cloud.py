"""The local cloud: Tablestore, OSS and the project's outside services on loopback over one data folder, and how to
reach them.

    with LocalCloud(project, folder) as cloud:
        subprocess.run(command, env=os.environ | cloud.environment)

Nothing is imported or started before `environment` is first read: a flow without functions starts no service.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import sqlite3
import tempfile
import threading
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from local_sim.errors import LocalSimError
from local_sim.project import Project

if TYPE_CHECKING:
    from local_sim.outside import OutsideServices
    from local_sim.services.host import Services
    from local_sim.services.oss import OssStore
    from local_sim.services.tablestore import TablestoreStore

REGION = "cn-hangzhou"
INSTANCE = "local"
BUCKET = "local-bucket"
KEY = "local"  # The local Tablestore takes any key id that is its own secret.
_MARK = "setup.json"
_SECRET = "secret.txt"  # noqa: S105 (a file's name)


class CloudError(LocalSimError):
    """A local service or the project's setup hook failed."""


class LocalCloud:
    """Starts the services when they are first needed and sets the project up once per data folder.

    `folder` None uses a temporary folder that goes away on closing. `tablestore_port` and `oss_port` are fixed
    ports, 0 for free ones.
    """

    def __init__(
        self, project: Project, folder: Path | None = None, *, tablestore_port: int = 0, oss_port: int = 0
    ) -> None:
        self.project = project
        self._temporary = tempfile.TemporaryDirectory(prefix="local-sim-") if folder is None else None
        self.folder = Path(self._temporary.name) if self._temporary else Path(str(folder)).resolve()
        self._ports = {"tablestore": tablestore_port, "oss": oss_port}
        self._environment: dict[str, str] | None = None
        self._services: Services | None = None
        self._stores: list[OssStore | TablestoreStore] = []
        self._outside: OutsideServices | None = None
        self._lock = threading.RLock()
        self.fc_endpoint = ""
        """Where Function Compute answers, when a server runs beside; set before `environment` is first read."""

    def __enter__(self) -> LocalCloud:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def started(self) -> bool:
        """True once the services run."""
        return self._services is not None

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables of docs/architecture.md that point at the services; starts them at the first use.

        Raises CloudError, and what a service says about a port in use or a folder it cannot have.
        """
        with self._lock:
            if self._environment is None:
                self._environment = {**self._start(), **self._start_outside(), **_direct()}
                self._set_up(self._environment)
            return self._environment

    def close(self) -> None:
        """Stop the services; safe to call twice."""
        with self._lock:
            self._stop()
            if self._temporary is not None:
                self._temporary.cleanup()

    def _stop(self) -> None:
        if self._outside is not None:
            self._outside.stop()
            self._outside = None
        if self._services is not None:
            self._services.stop()
            self._services = None
        for store in self._stores:
            store.close()
        self._stores.clear()
        self._environment = None

    def _start(self) -> dict[str, str]:
        from local_sim.services.errors import ServiceError
        from local_sim.services.oss import OssError

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            return self._serve()
        except OSError as error:
            self._stop()
            raise CloudError(f"the data folder {self.folder} cannot be used: {error.strerror or error}") from None
        except (ServiceError, OssError, sqlite3.Error) as error:
            self._stop()
            raise CloudError(f"the local services cannot start: {error}") from error

    def _start_outside(self) -> dict[str, str]:
        """Start the project's outside services; returns the variables with their addresses."""
        if not self.project.settings.services:
            return {}
        from local_sim.outside import OutsideServiceError, OutsideServices

        self._outside = OutsideServices(self.project, self.folder)
        try:
            return self._outside.start()
        except OutsideServiceError as error:
            self._stop()
            raise CloudError(str(error)) from error

    def _serve(self) -> dict[str, str]:
        from local_sim.clock import RealClock
        from local_sim.services import oss, tablestore
        from local_sim.services.host import Services

        objects = oss.OssStore(self.folder / "oss")
        self._stores.append(objects)
        tables = tablestore.TablestoreStore(self.folder / "tablestore.sqlite")
        self._stores.append(tables)
        services = Services()
        services.add("tablestore", tablestore.create_app(tables), port=self._ports["tablestore"])
        services.add("oss", oss.create_app(objects, credentials=None, clock=RealClock()), port=self._ports["oss"])
        self._services = services.start()
        return self._variables(services["tablestore"].endpoint, services["oss"].endpoint)

    def _variables(self, tablestore: str, oss: str) -> dict[str, str]:
        region = next((f.region for f in self.project.functions.values() if f.region), REGION)
        declared = [f.environment for f in self.project.functions.values()]
        extra = {key: self._filled(value) for key, value in self.project.settings.environment.items()}
        return {
            "TABLESTORE_ENDPOINT": tablestore,
            "TABLESTORE_INSTANCE": _declared(declared, "TABLESTORE_INSTANCE") or INSTANCE,
            "OSS_ENDPOINT": oss,
            "OSS_BUCKET": _declared(declared, "OSS_BUCKET") or BUCKET,
            "ALIBABA_CLOUD_REGION": region,
            "FC_REGION": region,
            "ALIBABA_CLOUD_ACCESS_KEY_ID": KEY,
            "ALIBABA_CLOUD_ACCESS_KEY_SECRET": KEY,
            "ALIBABA_CLOUD_SECURITY_TOKEN": KEY,
            "ALIBABA_CLOUD_ECS_METADATA_DISABLED": "true",
            **extra,
        }

    def _filled(self, value: str) -> str:
        """Return a value of [tool.local-sim.environment] with what stands in braces filled in."""
        if "{fc}" in value and not self.fc_endpoint:
            return ""
        if "{secret}" in value:
            value = value.replace("{secret}", folder_secret(self.folder))
        return value.replace("{fc}", self.fc_endpoint).replace("{data}", str(self.folder))

    def _set_up(self, variables: Mapping[str, str]) -> None:
        hook = self.project.settings.setup
        if hook is None:
            return
        # Endpoints differ from run to run; everything else that the hook sees decides whether it has to run again.
        outside = {service.variable for service in self.project.settings.services}
        outside |= {key for key, value in self.project.settings.environment.items() if "{fc}" in value}
        seen = {key: text for key, text in variables.items() if key not in outside and not key.endswith("_ENDPOINT")}
        functions = {name: dict(function.environment) for name, function in self.project.functions.items()}
        facts = json.dumps([hook, seen, functions], sort_keys=True)
        stamp = hashlib.sha256(facts.encode()).hexdigest()
        mark = self.folder / _MARK
        if mark.is_file() and mark.read_text(encoding="ascii") == stamp:
            return
        self._run_hook(hook, variables)
        mark.write_text(stamp, encoding="ascii")

    def _run_hook(self, hook: str, variables: Mapping[str, str]) -> None:
        from local_sim.workers.in_process import borrowed_environment, borrowed_modules

        module_name, found, function_name = hook.partition(":")
        if not found:
            raise CloudError(f"[tool.local-sim] setup must be written module:function, not {hook!r}")
        shared: dict[str, str] = {}
        for function in self.project.functions.values():
            shared |= function.environment
        with borrowed_environment({**os.environ, **shared, **variables}), borrowed_modules(self.project.root):
            try:
                function = getattr(import_module(module_name), function_name)
                function()
            except Exception as error:
                raise CloudError(f"the setup hook {hook} failed: {type(error).__name__}: {error}") from error


def folder_secret(folder: Path) -> str:
    """Return the random text that belongs to a data folder; made when it is first asked for, by whoever is first."""
    file = folder / _SECRET
    if not file.exists():
        handle, temporary = tempfile.mkstemp(prefix=".secret-", dir=folder)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as stream:
                stream.write(secrets.token_hex(32))
            with contextlib.suppress(FileExistsError):
                os.link(temporary, file)
        finally:
            os.unlink(temporary)
    return file.read_text(encoding="ascii")


def _direct() -> dict[str, str]:
    """Let nothing that talks to the services go through a proxy of the user's, whatever else the user exempts."""
    given = os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or ""
    hosts = ",".join(part for part in (given, "127.0.0.1,localhost,::1") if part)
    return {"NO_PROXY": hosts, "no_proxy": hosts}


def _declared(environments: list[Mapping[str, str]], key: str) -> str:
    return next((environment[key] for environment in environments if environment.get(key)), "")
