"""What the CloudFlow service keeps about flows; times are milliseconds since the epoch."""

from __future__ import annotations

from dataclasses import dataclass

from .parameters import Environment, Routing

STANDARD = "Standard"
EXPRESS = "Express"


@dataclass(frozen=True, slots=True)
class FlowRecord:
    """A flow. `id` survives everything but deletion: a new flow of the same name has another one."""

    id: str
    name: str
    definition: str
    description: str
    type: str
    role_arn: str
    execution_mode: str
    environment: Environment
    external_storage_location: str
    resource_group_id: str
    created_ms: int
    modified_ms: int
    from_project: bool = False
    """Read from the project's flows folder, not made through the API (S18)."""


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """A published version: the definition as it was."""

    flow_id: str
    version: int
    definition: str
    description: str
    environment: Environment
    created_ms: int


@dataclass(frozen=True, slots=True)
class AliasRecord:
    """A name for one or two versions with weights."""

    flow_id: str
    name: str
    description: str
    routing: Routing
    created_ms: int


@dataclass(frozen=True, slots=True)
class ScheduleRecord:
    """A schedule. `anchor_ms` is what `@every` counts from: the moment the expression was set or switched on."""

    flow_id: str
    name: str
    id: str
    cron: str
    description: str
    enable: bool
    payload: str
    created_ms: int
    modified_ms: int
    anchor_ms: int
