"""The functions of s.yaml in the service's catalog: they are there as soon as the server is up, without a deploy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from local_sim.project import Function

from .catalog import Catalog
from .records import CodePackage, FunctionRecord


def register_project(catalog: Catalog, functions: Mapping[str, Function], now_ms: int) -> None:
    """Keep each function of the project, and drop those that s.yaml no longer has.

    A function that was changed through the API stays as the API made it (S13).
    """
    kept = {record.name: record for record in catalog.store.functions("", "", 1_000_000)}
    for name, record in kept.items():
        if record.from_project and name not in functions:
            catalog.store.delete(name)
    for name, function in functions.items():
        before = kept.get(name)
        if before is None or before.from_project:
            catalog.store.put(_record(function, before, now_ms))


def _record(function: Function, before: FunctionRecord | None, now_ms: int) -> FunctionRecord:
    return FunctionRecord(
        name=function.name,
        document=_document(function),
        # The folder is used as it is, so there is no ZIP whose checksum could be told.
        code=CodePackage(function.code, "0", 0),
        created_ms=before.created_ms if before else now_ms,
        modified_ms=now_ms,
        from_project=True,
    )


def _document(function: Function) -> dict[str, Any]:
    document: dict[str, Any] = {
        "functionId": function.name,
        "runtime": function.runtime,
        "handler": function.handler,
        "timeout": function.timeout,
        "memorySize": function.memory,
        "environmentVariables": dict(function.environment),
    }
    if function.initializer:
        hook = {"handler": function.initializer, "timeout": function.initializer_timeout}
        document["instanceLifecycleConfig"] = {"initializer": hook}
    return document
