"""Records -> the fields of a reply, as section 3.4 of the cloudflow-api page lists them. Pure."""

from __future__ import annotations

from typing import Any

from local_sim.services.timestamps import format_ms

from .parameters import Environment, Routing
from .records import AliasRecord, FlowRecord, ScheduleRecord, VersionRecord

Reply = dict[str, Any]
"""The fields of a success besides RequestId, ready for JSON."""


def flow_reply(flow: FlowRecord) -> Reply:
    """Return the fields of CreateFlow, DescribeFlow and of each entry of ListFlows."""
    return {
        "Name": flow.name,
        "Id": flow.id,
        "Definition": flow.definition,
        "Description": flow.description,
        "Type": flow.type,
        "RoleArn": flow.role_arn,
        "ExecutionMode": flow.execution_mode,
        "ResourceGroupId": flow.resource_group_id,
        "ExternalStorageLocation": flow.external_storage_location,
        "Environment": environment_reply(flow.environment),
        "CreatedTime": format_ms(flow.created_ms),
        "LastModifiedTime": format_ms(flow.modified_ms),
    }


def environment_reply(environment: Environment) -> Reply:
    """Return `{"Variables": [...]}`."""
    return {
        "Variables": [
            {"Name": item.name, "Value": item.value, "Description": item.description} for item in environment.variables
        ]
    }


def version_reply(version: VersionRecord) -> Reply:
    """Return the fields of a version; its number is text on the wire."""
    return {
        "Version": str(version.version),
        "Description": version.description,
        "CreatedTime": format_ms(version.created_ms),
    }


def alias_reply(alias: AliasRecord) -> Reply:
    """Return the fields of an alias."""
    return {
        "Name": alias.name,
        "Description": alias.description,
        "RoutingConfigurations": routing_reply(alias.routing),
        "CreatedTime": format_ms(alias.created_ms),
    }


def routing_reply(routing: Routing) -> list[Reply]:
    """Return the versions of an alias with their weights."""
    return [{"Version": route.version, "Weight": route.weight} for route in routing.routes]


def schedule_reply(schedule: ScheduleRecord) -> Reply:
    """Return the fields of a schedule."""
    return {
        "ScheduleName": schedule.name,
        "ScheduleId": schedule.id,
        "Description": schedule.description,
        "CronExpression": schedule.cron,
        "Payload": schedule.payload,
        "Enable": schedule.enable,
        "CreatedTime": format_ms(schedule.created_ms),
        "LastModifiedTime": format_ms(schedule.modified_ms),
    }


def page_reply(key: str, items: list[Reply], token: str | None) -> Reply:
    """Return one page of a listing; NextToken is absent on the last."""
    return {key: items} if token is None else {key: items, "NextToken": token}
