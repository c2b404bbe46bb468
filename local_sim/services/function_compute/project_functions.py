"""The functions of s.yaml and their triggers in the service's catalog: there as soon as the server is up, without a
deploy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from local_sim.project import Function, Trigger

from .catalog import Catalog
from .records import CodePackage, FunctionRecord, TriggerRecord

_OURS = "s.yaml-"
"""What the ids of triggers from s.yaml begin with."""


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
            _register_triggers(catalog, function, now_ms)


def _register_triggers(catalog: Catalog, function: Function, now_ms: int) -> None:
    kept = {trigger.name: trigger for trigger in catalog.store.triggers(function.name)}
    wanted = {trigger.name: trigger for trigger in function.triggers}
    for name, record in kept.items():
        if record.id.startswith(_OURS) and name not in wanted:
            catalog.store.delete_trigger(function.name, name)
    for name, trigger in wanted.items():
        before = kept.get(name)
        if before is None or before.id.startswith(_OURS):
            catalog.store.put_trigger(_trigger(function, trigger, before, now_ms))


def _trigger(function: Function, trigger: Trigger, before: TriggerRecord | None, now_ms: int) -> TriggerRecord:
    return TriggerRecord(
        function=function.name,
        name=trigger.name,
        id=f"{_OURS}{function.name}-{trigger.name}",
        type=trigger.type,
        config=json.dumps(trigger.config, ensure_ascii=False),
        qualifier=trigger.qualifier,
        description="",
        invocation_role="",
        source_arn="",
        created_ms=before.created_ms if before else now_ms,
        modified_ms=now_ms,
    )


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
    hooks = {}
    if function.initializer:
        hooks["initializer"] = {"handler": function.initializer, "timeout": function.initializer_timeout}
    if function.pre_stop:
        hooks["preStop"] = {"handler": function.pre_stop, "timeout": function.pre_stop_timeout}
    return document | ({"instanceLifecycleConfig": hooks} if hooks else {})
