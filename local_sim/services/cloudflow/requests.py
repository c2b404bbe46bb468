"""The 29 actions as data: one frozen class each, its fields saying how the wire spells and bounds them.

`ACTIONS` maps the action's name to its class. The wire's spelling of a field is in the field's metadata.
Parameters and their order: cloudflow-api page, section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from . import limits
from .parameters import (
    Environment,
    Routing,
    environment_of,
    flag,
    fraction,
    json_text,
    name,
    routing_of,
    text,
    time,
    whole,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFlow:
    """Make a flow. The definition is YAML or JSON text."""

    name: str = name("Name")
    definition: str = text("Definition", required=True)
    description: str = text("Description", required=True, longest=limits.DESCRIPTION_CHARACTERS, empty=True)
    type: str = text("Type", required=True)
    role_arn: str | None = text("RoleArn")
    execution_mode: str | None = text("ExecutionMode")
    environment: Environment | None = environment_of("Environment")  # noqa: RUF009  (a field, not a shared value)
    external_storage_location: str | None = text("ExternalStorageLocation")
    resource_group_id: str | None = text("ResourceGroupId")


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeFlow:
    """Show a flow, or one published version of it."""

    name: str = name("Name")
    flow_version: str | None = text("FlowVersion")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateFlow:
    """Change the given fields of a flow; running executions keep the definition they started with."""

    name: str = name("Name")
    definition: str | None = text("Definition")
    description: str | None = text("Description", longest=limits.DESCRIPTION_CHARACTERS, empty=True)
    type: str | None = text("Type")
    role_arn: str | None = text("RoleArn")
    environment: Environment | None = environment_of("Environment")  # noqa: RUF009  (a field, not a shared value)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFlow:
    """Remove a flow with its versions, aliases, schedules and executions."""

    name: str = name("Name")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFlows:
    """List the flows by name."""

    limit: int = whole("Limit", 1, 1000, default=60)
    next_token: str | None = text("NextToken")
    resource_group_id: str | None = text("ResourceGroupId")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishFlowVersion:
    """Freeze the present definition under the next number."""

    flow_name: str = name("FlowName")
    description: str | None = text("Description", longest=limits.DESCRIPTION_CHARACTERS, empty=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFlowVersions:
    """List a flow's versions, newest first."""

    flow_name: str = name("FlowName")
    limit: int = whole("Limit", 1, 1000, default=60)
    next_token: str | None = text("NextToken")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFlowVersion:
    """Remove a version that no alias points at."""

    flow_name: str = name("FlowName")
    flow_version: str = text("FlowVersion", required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFlowAlias:
    """Name one or two versions with weights."""

    flow_name: str = name("FlowName")
    name: str = name("Name")
    description: str | None = text("Description", longest=limits.DESCRIPTION_CHARACTERS, empty=True)
    routing: Routing | None = routing_of("RoutingConfigurations", required=True)  # noqa: RUF009  (a field, not a shared value)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeFlowAlias:
    """Show an alias."""

    flow_name: str = name("FlowName")
    name: str = name("Name")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateFlowAlias:
    """Change the given fields of an alias."""

    flow_name: str = name("FlowName")
    name: str = name("Name")
    description: str | None = text("Description", longest=limits.DESCRIPTION_CHARACTERS, empty=True)
    routing: Routing | None = routing_of("RoutingConfigurations")  # noqa: RUF009  (a field, not a shared value)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFlowAlias:
    """Remove an alias."""

    flow_name: str = name("FlowName")
    name: str = name("Name")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFlowAliases:
    """List a flow's aliases by name."""

    flow_name: str = name("FlowName")
    limit: int = whole("Limit", 1, 1000, default=60)
    next_token: str | None = text("NextToken")


@dataclass(frozen=True, slots=True, kw_only=True)
class StartExecution:
    """Start a standard flow and return at once."""

    flow_name: str = name("FlowName")
    execution_name: str | None = name("ExecutionName", required=False)
    input: str | None = json_text("Input", must_be_object=True)
    callback_token: str | None = text("CallbackFnFTaskToken")
    qualifier: str | None = text("Qualifier")


@dataclass(frozen=True, slots=True, kw_only=True)
class StartSyncExecution:
    """Run an express flow to its end."""

    flow_name: str = name("FlowName")
    execution_name: str | None = name("ExecutionName", required=False)
    input: str | None = json_text("Input", must_be_object=True)
    qualifier: str | None = text("Qualifier")


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeExecution:
    """Show an execution, after waiting up to `wait_seconds` for its end."""

    flow_name: str = name("FlowName")
    execution_name: str = text("ExecutionName", required=True)
    wait_seconds: int = whole("WaitTimeSeconds", 0, limits.WAIT_SECONDS, default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListExecutions:
    """List a flow's executions, newest first. Times are milliseconds since the epoch."""

    flow_name: str = name("FlowName")
    limit: int = whole("Limit", 1, 100, default=60)
    next_token: str | None = text("NextToken")
    status: str | None = text("Status")
    started_begin_ms: int | None = time("StartedTimeBegin")
    started_end_ms: int | None = time("StartedTimeEnd")
    name_prefix: str | None = text("ExecutionNamePrefix")
    qualifier: str | None = text("Qualifier")
    map_run_name: str | None = text("MapRunName")
    metadata_only: bool = flag("MetadataOnly", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetExecutionHistory:
    """List an execution's events by id."""

    flow_name: str = name("FlowName")
    execution_name: str = text("ExecutionName", required=True)
    limit: int = whole("Limit", 1, 1000, default=60)
    next_token: str | None = text("NextToken")


@dataclass(frozen=True, slots=True, kw_only=True)
class StopExecution:
    """End a running execution with status Stopped."""

    flow_name: str = name("FlowName")
    execution_name: str = text("ExecutionName", required=True)
    error: str | None = text("Error", longest=limits.ERROR_CHARACTERS)
    cause: str | None = text("Cause", longest=limits.CAUSE_CHARACTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTaskSucceeded:
    """End a waiting task well."""

    task_token: str = text("TaskToken", required=True)
    output: str = json_text("Output", required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTaskFailed:
    """End a waiting task with an error that Retry and Catch match."""

    task_token: str = text("TaskToken", required=True)
    error: str = text("Error", required=True, longest=limits.ERROR_CHARACTERS)
    cause: str | None = text("Cause", longest=limits.CAUSE_CHARACTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSchedule:
    """Start the flow at the times of a cron expression."""

    flow_name: str = name("FlowName")
    schedule_name: str = name("ScheduleName")
    cron: str = text("CronExpression", required=True)
    description: str | None = text("Description", longest=limits.DESCRIPTION_CHARACTERS, empty=True)
    enable: bool = flag("Enable", default=True)
    payload: str | None = json_text("Payload")


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeSchedule:
    """Show a schedule."""

    flow_name: str = name("FlowName")
    schedule_name: str = name("ScheduleName")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateSchedule:
    """Change the given fields of a schedule."""

    flow_name: str = name("FlowName")
    schedule_name: str = name("ScheduleName")
    cron: str | None = text("CronExpression")
    description: str | None = text("Description", longest=limits.DESCRIPTION_CHARACTERS, empty=True)
    enable: bool | None = flag("Enable")
    payload: str | None = json_text("Payload")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSchedule:
    """Remove a schedule."""

    flow_name: str = name("FlowName")
    schedule_name: str = name("ScheduleName")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSchedules:
    """List a flow's schedules by name."""

    flow_name: str = name("FlowName")
    limit: int = whole("Limit", 1, 1000, default=60)
    next_token: str | None = text("NextToken")


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeMapRun:
    """Show how far a distributed Map is."""

    flow_name: str = name("FlowName")
    execution_name: str = text("ExecutionName", required=True)
    map_run_name: str = text("MapRunName", required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateMapRun:
    """Change the limits of a running distributed Map."""

    flow_name: str = name("FlowName")
    execution_name: str = text("ExecutionName", required=True)
    map_run_name: str = text("MapRunName", required=True)
    concurrency: int | None = whole("Concurrency", 1, 300)
    tolerated_failed_count: int | None = whole("ToleratedFailedCount", 0, 2**31 - 1)
    tolerated_failed_percentage: float | None = fraction("ToleratedFailedPercentage", 0, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeRegions:
    """List the regions: here, this machine."""

    accept_language: str | None = text("AcceptLanguage")


ActionCall: TypeAlias = (
    CreateFlow
    | DescribeFlow
    | UpdateFlow
    | DeleteFlow
    | ListFlows
    | PublishFlowVersion
    | ListFlowVersions
    | DeleteFlowVersion
    | CreateFlowAlias
    | DescribeFlowAlias
    | UpdateFlowAlias
    | DeleteFlowAlias
    | ListFlowAliases
    | StartExecution
    | StartSyncExecution
    | DescribeExecution
    | ListExecutions
    | GetExecutionHistory
    | StopExecution
    | ReportTaskSucceeded
    | ReportTaskFailed
    | CreateSchedule
    | DescribeSchedule
    | UpdateSchedule
    | DeleteSchedule
    | ListSchedules
    | DescribeMapRun
    | UpdateMapRun
    | DescribeRegions
)

ACTIONS: dict[str, type[ActionCall]] = {kind.__name__: kind for kind in ActionCall.__args__}
"""Action name on the wire -> its class."""
