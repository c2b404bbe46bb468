"""What the Function Compute service keeps; times are milliseconds since the epoch. Documents are the API's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Document = dict[str, Any]
"""A JSON object in the API's spelling."""

LATEST = "LATEST"


@dataclass(frozen=True, slots=True)
class CodePackage:
    """Code on the disk: `folder` holds it unpacked; `checksum` is the CRC-64 of its ZIP as text, `size` its bytes."""

    folder: Path
    checksum: str
    size: int


@dataclass(frozen=True, slots=True)
class FunctionRecord:
    """A function, or one version of it. `from_project` says that s.yaml declares it."""

    name: str
    document: Mapping[str, Any]
    code: CodePackage
    created_ms: int
    modified_ms: int
    version: str = LATEST
    description: str = ""
    from_project: bool = False


@dataclass(frozen=True, slots=True)
class AliasRecord:
    """A name for a version, and maybe a share for another."""

    function: str
    name: str
    version: str
    description: str
    weights: Mapping[str, float]
    created_ms: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class TriggerRecord:
    """A trigger; `config` is the API's triggerConfig, JSON text."""

    function: str
    name: str
    id: str
    type: str
    config: str
    qualifier: str
    description: str
    invocation_role: str
    source_arn: str
    created_ms: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """One async invocation. `due_ms` is when its next attempt may start; `attempts` counts those that began.

    `callback_token` is a flow's task that waits for the end; it is emptied once the end was reported.
    """

    function: str
    qualifier: str
    task_id: str
    request_id: str
    payload: bytes
    status: str
    is_task: bool
    created_ms: int
    due_ms: int
    expires_ms: int
    attempts: int = 0
    started_ms: int | None = None
    ended_ms: int | None = None
    error: str = ""
    result: bytes = b""
    destination_status: str = ""
    callback_token: str = ""
    events: tuple[tuple[int, str, str], ...] = ()
    """(time, status, detail) of each change of status."""
