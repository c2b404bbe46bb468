"""CloudFlow as the cloud-side jobs see it (cloudflow-api page, sections 3 and 5)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scripts.cloud.calls import call, open_config, pages
from scripts.cloud.errors import ServiceFault

if TYPE_CHECKING:
    from scripts.cloud.settings import CloudSettings

__all__ = ["Event", "Execution", "Flow", "FlowAlias", "FlowVersion", "Flows", "Route"]

_PAGE = 60


@dataclass(frozen=True)
class Flow:
    """A flow, or one version of it."""

    name: str
    definition: str
    description: str
    role: str


@dataclass(frozen=True)
class FlowVersion:
    """A published version; `number` is text as the service gives it."""

    number: str
    description: str
    created: str


@dataclass(frozen=True)
class Route:
    """A version and its share of the starts; the weights of an alias add up to 100."""

    version: str
    weight: int


@dataclass(frozen=True)
class FlowAlias:
    """A name for one or two versions."""

    name: str
    routes: tuple[Route, ...]
    description: str = ""


@dataclass(frozen=True)
class Execution:
    """An execution as it is now; `input` and `output` are JSON text, times are the service's text."""

    flow: str
    name: str
    status: str
    input: str
    output: str
    started: str
    stopped: str
    definition: str

    @property
    def running(self) -> bool:
        """True until it has ended. A fresh one may have no status yet (cloudflow-api page, 5.2)."""
        return self.status in ("", "Starting", "Running")


@dataclass(frozen=True)
class Event:
    """A history event; `detail` is its JSON object."""

    id: int
    step: str
    type: str
    time: str
    detail: dict[str, Any]


class Flows:
    """Flows, versions, aliases and executions. Every method raises `ServiceFault`."""

    def __init__(self, settings: CloudSettings) -> None:
        self._settings = settings

    @cached_property
    def _client(self) -> Any:
        from alibabacloud_fnf20190315.client import Client

        return Client(open_config(self._settings.fnf, self._settings.region))

    def _send(self, action: str, method: str, **fields: Any) -> Any:
        from alibabacloud_fnf20190315 import models

        request = getattr(models, f"{action}Request")(**fields)
        return call("CloudFlow", action, lambda: getattr(self._client, method)(request)).body

    def _found(self, action: str, method: str, **fields: Any) -> Any:
        try:
            return self._send(action, method, **fields)
        except ServiceFault as fault:
            if fault.missing:
                return None
            raise

    def find(self, name: str, version: str | None = None) -> Flow | None:
        """The flow, or a version of it; None when it does not exist."""
        body = self._found("DescribeFlow", "describe_flow", name=name, flow_version=version)
        return None if body is None else Flow(body.name, body.definition, body.description or "", body.role_arn or "")

    def create(self, name: str, definition: str, description: str, role: str) -> None:
        """Make a standard flow."""
        fields = {"definition": definition, "description": description, "role_arn": role or None}
        self._send("CreateFlow", "create_flow", name=name, type="FDL", **fields)

    def update(self, name: str, definition: str, description: str, role: str) -> None:
        """Change a flow; running executions keep what they started with."""
        fields = {"definition": definition, "description": description, "role_arn": role or None}
        self._send("UpdateFlow", "update_flow", name=name, type="FDL", **fields)

    def delete(self, name: str) -> None:
        """Remove a flow with its versions and aliases; quiet when it is gone. Running executions end."""
        self._found("DeleteFlow", "delete_flow", name=name)

    def versions(self, name: str) -> list[FlowVersion]:
        """The versions, the newest first; none when the flow does not exist."""

        def fetch(token: str | None) -> tuple[list[Any], str | None]:
            body = self._found(
                "ListFlowVersions", "list_flow_versions", flow_name=name, limit=str(_PAGE), next_token=token
            )
            return ([], None) if body is None else (list(body.flow_versions or []), body.next_token)

        found = pages("CloudFlow", "ListFlowVersions", fetch)
        listed = [FlowVersion(str(one.version), one.description or "", one.created_time or "") for one in found]
        return sorted(listed, key=lambda one: -int(one.number))

    def publish(self, name: str, description: str) -> str:
        """Freeze the present definition; returns the version's number."""
        return str(
            self._send("PublishFlowVersion", "publish_flow_version", flow_name=name, description=description).version
        )

    def delete_version(self, name: str, version: str) -> None:
        """Remove a version; quiet when it is gone."""
        self._found("DeleteFlowVersion", "delete_flow_version", flow_name=name, flow_version=version)

    def alias(self, flow: str, name: str) -> FlowAlias | None:
        """The alias; None when it or the flow does not exist."""
        body = self._found("DescribeFlowAlias", "describe_flow_alias", flow_name=flow, name=name)
        return None if body is None else _alias(body.alias)

    def put_alias(self, flow: str, name: str, routes: Sequence[Route], description: str = "") -> None:
        """Make the alias or move it."""
        routing = [{"Version": route.version, "Weight": route.weight} for route in routes]
        fields = {"flow_name": flow, "name": name, "description": description}
        if self.alias(flow, name) is None:
            self._send(
                "CreateFlowAlias", "create_flow_alias", routing_configurations=_routing(routing, "Create"), **fields
            )
        else:
            self._send(
                "UpdateFlowAlias", "update_flow_alias", routing_configurations=_routing(routing, "Update"), **fields
            )

    def delete_alias(self, flow: str, name: str) -> None:
        """Remove an alias; quiet when it is gone."""
        self._found("DeleteFlowAlias", "delete_flow_alias", flow_name=flow, name=name)

    def start(self, flow: str, name: str | None, text: str, qualifier: str | None) -> Execution:
        """Start an execution; `text` is the input, a JSON object. A running one of that name is returned as it is."""
        fields = {"flow_name": flow, "execution_name": name, "input": text, "qualifier": qualifier}
        return _execution(self._send("StartExecution", "start_execution", **fields))

    def execution(self, flow: str, name: str, wait_seconds: int = 0) -> Execution | None:
        """The execution, after waiting up to `wait_seconds` (60 at most) for its end; None when it does not exist."""
        fields = {"flow_name": flow, "execution_name": name, "wait_time_seconds": wait_seconds or None}
        body = self._found("DescribeExecution", "describe_execution", **fields)
        return None if body is None else _execution(body)

    def executions(self, flow: str, status: str | None = None, prefix: str | None = None) -> list[Execution]:
        """All executions of a flow, the newest first; none when the flow does not exist."""

        def fetch(token: str | None) -> tuple[list[Any], str | None]:
            fields = {"flow_name": flow, "limit": _PAGE, "next_token": token}
            body = self._found(
                "ListExecutions", "list_executions", status=status, execution_name_prefix=prefix, **fields
            )
            return ([], None) if body is None else (list(body.executions or []), body.next_token)

        return [_execution(one) for one in pages("CloudFlow", "ListExecutions", fetch)]

    def stop(self, flow: str, name: str, error: str, cause: str) -> None:
        """End a running execution; quiet when it has ended already."""
        try:
            self._found(
                "StopExecution", "stop_execution", flow_name=flow, execution_name=name, error=error, cause=cause
            )
        except ServiceFault as fault:
            if fault.code != "ExecutionAlreadyCompleted":
                raise

    def history(self, flow: str, name: str) -> list[Event]:
        """All events of an execution in their order; none when it does not exist."""

        def fetch(token: str | None) -> tuple[list[Any], str | None]:
            fields = {"flow_name": flow, "execution_name": name, "limit": 500, "next_token": token}
            body = self._found("GetExecutionHistory", "get_execution_history", **fields)
            return ([], None) if body is None else (list(body.events or []), body.next_token)

        found = pages("CloudFlow", "GetExecutionHistory", fetch)
        return [Event(int(one.event_id), one.step_name or "", one.type, one.time, _detail(one)) for one in found]

    def succeed(self, token: str, output: str) -> None:
        """Report the end of a waiting task; `output` is JSON text."""
        self._send("ReportTaskSucceeded", "report_task_succeeded", task_token=token, output=output)


def _alias(body: Any) -> FlowAlias:
    routes = tuple(Route(str(one.version), int(one.weight)) for one in body.routing_configurations or [])
    return FlowAlias(body.name, routes, body.description or "")


def _routing(routes: list[dict[str, Any]], kind: str) -> Any:
    from alibabacloud_fnf20190315 import models

    model = getattr(models, f"{kind}FlowAliasRequestRoutingConfigurations")
    return [model().from_map(route) for route in routes]


def _execution(body: Any) -> Execution:
    texts = (body.input, body.output, body.started_time, body.stopped_time, body.flow_definition)
    return Execution(body.flow_name, body.name, body.status or "", *(text or "" for text in texts))


def _detail(event: Any) -> dict[str, Any]:
    try:
        detail = json.loads(event.event_detail or "{}")
    except ValueError:
        return {"text": event.event_detail}
    return detail if isinstance(detail, dict) else {"value": detail}
