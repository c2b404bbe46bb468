"""Functions by name and qualifier, and what a worker needs of them. The actions and the invoker share it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from local_sim.project import Function, Place

from .errors import alias_not_found, function_not_found, version_not_found
from .records import LATEST, AliasRecord, FunctionRecord
from .store import FunctionStore

ACCOUNT = "1000000000000000"


class Catalog:
    """Finds functions. `project` are those of s.yaml as they were read; `draw` returns a number from 0 up to 1."""

    def __init__(
        self, store: FunctionStore, project: Mapping[str, Function], draw: Callable[[], float], region: str
    ) -> None:
        self.store = store
        self.region = region
        self._project = project
        self._draw = draw

    def find(self, name: str) -> FunctionRecord:
        """Return the function, its present code. Raises NotFound FunctionNotFound."""
        function = self.store.get(name)
        if function is None:
            raise function_not_found(name)
        return function

    def resolve(self, name: str, qualifier: str | None) -> FunctionRecord:
        """Return what a call by qualifier runs: LATEST, a version, or what an alias draws by weight.

        Raises NotFound.
        """
        function = self.find(name)
        if not qualifier or qualifier == LATEST:
            return function
        version = qualifier
        if not qualifier.isdigit():
            alias = self.store.alias(name, qualifier)
            if alias is None:
                raise alias_not_found(name, qualifier)
            version = self._pick(alias)
        return self.version(name, version)

    def version(self, name: str, version: str) -> FunctionRecord:
        """Return a version. Raises NotFound VersionNotFound."""
        found = self.store.get(name, version) if version != LATEST else self.find(name)
        if found is None:
            raise version_not_found(name, version)
        return found

    def worker_function(self, record: FunctionRecord) -> Function:
        """Return the function as the workers take it."""
        if record.from_project and record.version == LATEST and record.name in self._project:
            return self._project[record.name]
        document = record.document
        place = Place(str(record.code.folder), 1, 1)
        return Function(
            name=record.name,
            handler=str(document.get("handler") or "index.handler"),
            runtime=str(document.get("runtime") or "python3.10"),
            code=record.code.folder,
            place=place,
            handler_place=place,
            region=self.region,
            timeout=int(document.get("timeout") or 3),
            memory=int(document.get("memorySize") or 512),
            environment=dict(document.get("environmentVariables") or {}),
            version=record.version,
            **_hooks(document),
        )

    def arn(self, name: str, qualifier: str = "") -> str:
        """Return the function's ARN; with a qualifier when one is given."""
        tail = f"/{qualifier}" if qualifier else ""
        return f"acs:fc:{self.region}:{ACCOUNT}:functions/{name}{tail}"

    def _pick(self, alias: AliasRecord) -> str:
        drawn = self._draw()
        for version, weight in alias.weights.items():
            drawn -= weight
            if drawn < 0:
                return version
        return alias.version


def _hooks(document: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, name in (("initializer", "initializer"), ("preStop", "pre_stop")):
        hook = (document.get("instanceLifecycleConfig") or {}).get(key) or {}
        if hook.get("handler"):
            found |= {name: str(hook["handler"]), f"{name}_timeout": int(hook.get("timeout") or 3)}
    return found
