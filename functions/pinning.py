"""Pins a task to the versions it starts with."""

from __future__ import annotations

from dataclasses import replace

from functions.models import Pins
from functions.settings import Settings
from ledger import Ledger, Versions, VersionsDiffer

__all__ = ["pin"]


def pin(settings: Settings, task_id: str, workflow: str, input_version: str, lap: int) -> Pins:
    """Pin the task. A corrected input (a later lap) may change the input's version, nothing else.

    Raises `VersionsDiffer` for a task that was begun with other versions.
    """
    versions = Versions(workflow, settings.function_version, settings.prompt_version, input_version)
    ledger = Ledger.open()
    try:
        ledger.begin(task_id, versions)
    except VersionsDiffer as error:
        if lap == 1 or error.pinned is None or replace(error.pinned, input=input_version) != versions:
            raise
        ledger.repin(task_id, versions, f"corrected input, lap {lap}")
    return Pins(workflow=versions.workflow, function=versions.function, prompt=versions.prompt, input=versions.input)
