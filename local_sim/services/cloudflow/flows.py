"""The actions on flows, their versions and aliases."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import Protocol

from . import limits, paging
from . import requests as r
from .errors import Conflict, InvalidArgument, PreconditionFailed, Throttled, alias_not_exists, version_not_exists
from .errors import flow_not_exists as _flow_not_exists
from .parameters import Environment, Routing
from .records import EXPRESS, STANDARD, AliasRecord, FlowRecord, VersionRecord
from .replies import Reply, alias_reply, flow_reply, page_reply, version_reply
from .store import FlowStore

LATEST = "LATEST"
"""The qualifier of the present, unpublished definition; the same as none."""
_TYPES = ("FDL", "DEFAULT")
_NO_VERSION = 2**62


class Surroundings(Protocol):
    """What the service asks the outside for: the time, new ids, a draw, and the checker of definitions."""

    def now_ms(self) -> int:
        """Return milliseconds since the epoch."""
        ...

    def new_id(self) -> str:
        """Return a fresh UUID."""
        ...

    def draw(self, below: int) -> int:
        """Return a random whole number from 0 to `below` - 1."""
        ...

    def check_definition(self, definition: str, name: str, mode: str) -> None:
        """Raise InvalidArgument when the text is no definition of a flow of this name and mode."""
        ...


class FlowActions:
    """Answers the actions on flows. `on_delete` is told the id of a flow that is going."""

    def __init__(
        self, store: FlowStore, surroundings: Surroundings, on_delete: Callable[[str], Awaitable[None]]
    ) -> None:
        self._store = store
        self._outside = surroundings
        self._on_delete = on_delete

    def create_flow(self, call: r.CreateFlow) -> Reply:
        """Make a flow; raises Conflict FlowAlreadyExists."""
        _check_type(call.type)
        mode = _mode(call.execution_mode)
        before = self._store.flow(call.name)
        if before is not None and not before.from_project:
            raise Conflict("FlowAlreadyExists", f"Flow '{call.name}' already exists.")
        if self._store.count_flows() >= limits.FLOWS:
            raise Throttled(f"There are {limits.FLOWS} flows already, the most an account may have.")
        self._outside.check_definition(call.definition, call.name, mode)
        now = self._outside.now_ms()
        flow = FlowRecord(
            id=before.id if before else self._outside.new_id(),
            name=call.name,
            definition=call.definition,
            description=call.description,
            type=call.type,
            role_arn=call.role_arn or "",
            execution_mode=mode,
            environment=call.environment or Environment(),
            external_storage_location=call.external_storage_location or "",
            resource_group_id=call.resource_group_id or "",
            created_ms=now,
            modified_ms=now,
        )
        self._keep(flow, before)
        return flow_reply(flow)

    def add_from_project(self, name: str, definition: str) -> None:
        """Keep a flow of the project's folder, until the API makes one of that name (S18).

        Raises InvalidArgument for a text that is no definition of this flow.
        """
        before = self._store.flow(name)
        if before is not None and (not before.from_project or before.definition == definition):
            return
        self._outside.check_definition(definition, name, STANDARD)
        now = self._outside.now_ms()
        flow = FlowRecord(
            id=before.id if before else self._outside.new_id(),
            name=name,
            definition=definition,
            description="",
            type=_TYPES[0],
            role_arn="",
            execution_mode=STANDARD,
            environment=Environment(),
            external_storage_location="",
            resource_group_id="",
            created_ms=before.created_ms if before else now,
            modified_ms=now,
            from_project=True,
        )
        self._keep(flow, before)

    def _keep(self, flow: FlowRecord, before: FlowRecord | None) -> None:
        if before is None:
            self._store.add_flow(flow)
        else:
            self._store.put_flow(flow)

    def describe_flow(self, call: r.DescribeFlow) -> Reply:
        """Show a flow, or a version of it."""
        flow = self.find(call.name)
        if call.flow_version and call.flow_version != LATEST:
            version = self.find_version(flow, call.flow_version)
            flow = dataclasses.replace(flow, definition=version.definition, environment=version.environment)
        return flow_reply(flow)

    def update_flow(self, call: r.UpdateFlow) -> Reply:
        """Change the given fields; running executions keep what they started with."""
        flow = self.find(call.name)
        if call.type:
            _check_type(call.type)
        if call.definition:
            self._outside.check_definition(call.definition, call.name, flow.execution_mode)
        changed = dataclasses.replace(
            flow,
            definition=call.definition or flow.definition,
            description=flow.description if call.description is None else call.description,
            type=call.type or flow.type,
            role_arn=call.role_arn or flow.role_arn,
            environment=call.environment or flow.environment,
            from_project=False,
            modified_ms=max(self._outside.now_ms(), flow.modified_ms + 1),
        )
        self._store.put_flow(changed)
        reply = flow_reply(changed)
        del reply["ExecutionMode"]  # cloudflow-api page, section 3.4
        return reply

    async def delete_flow(self, call: r.DeleteFlow) -> Reply:
        """Remove a flow; its running executions end (S05)."""
        flow = self.find(call.name)
        self._store.delete_flow(flow.id)
        await self._on_delete(flow.id)
        return {}

    def list_flows(self, call: r.ListFlows) -> Reply:
        """List the flows by name."""
        (after,) = paging.read_token(call.next_token, str) or ("",)
        found = self._store.flows(after, call.limit + 1, call.resource_group_id or None)
        page, token = paging.cut_page(found, call.limit, lambda flow: (flow.name,))
        return page_reply("Flows", [flow_reply(flow) for flow in page], token)

    def publish_version(self, call: r.PublishFlowVersion) -> Reply:
        """Freeze the present definition under the next number."""
        flow = self.find(call.flow_name)
        version = self._store.publish(flow, call.description or "", self._outside.now_ms())
        return {"FlowName": flow.name, **version_reply(version)}

    def list_versions(self, call: r.ListFlowVersions) -> Reply:
        """List the versions, newest first."""
        flow = self.find(call.flow_name)
        (below,) = paging.read_token(call.next_token, int) or (_NO_VERSION,)
        found = self._store.versions(flow.id, min(below, _NO_VERSION), call.limit + 1)
        page, token = paging.cut_page(found, call.limit, lambda version: (version.version,))
        return page_reply("FlowVersions", [version_reply(version) for version in page], token)

    def delete_version(self, call: r.DeleteFlowVersion) -> Reply:
        """Remove a version; raises PreconditionFailed while an alias points at it."""
        flow = self.find(call.flow_name)
        version = self.find_version(flow, call.flow_version)
        for alias in self._store.aliases(flow.id, "", -1):
            if any(route.version == str(version.version) for route in alias.routing.routes):
                raise PreconditionFailed(f"Alias '{alias.name}' points at version '{version.version}'.")
        self._store.delete_version(flow.id, version.version)
        return {}

    def create_alias(self, call: r.CreateFlowAlias) -> Reply:
        """Make an alias; raises Conflict FlowAliasAlreadyExists."""
        flow = self.find(call.flow_name)
        if self._store.alias(flow.id, call.name):
            raise Conflict("FlowAliasAlreadyExists", f"Alias '{call.name}' of flow '{flow.name}' already exists.")
        routing = self._known(flow, call.routing)
        alias = AliasRecord(flow.id, call.name, call.description or "", routing, self._outside.now_ms())
        self._store.add_alias(alias)
        return {"FlowName": flow.name, **alias_reply(alias)}

    def describe_alias(self, call: r.DescribeFlowAlias) -> Reply:
        """Show an alias."""
        return {"Alias": alias_reply(self._find_alias(self.find(call.flow_name), call.name))}

    def update_alias(self, call: r.UpdateFlowAlias) -> Reply:
        """Change the given fields of an alias."""
        flow = self.find(call.flow_name)
        alias = self._find_alias(flow, call.name)
        changed = dataclasses.replace(
            alias,
            description=alias.description if call.description is None else call.description,
            routing=self._known(flow, call.routing) if call.routing else alias.routing,
        )
        self._store.put_alias(changed)
        return {"Alias": alias_reply(changed)}

    def delete_alias(self, call: r.DeleteFlowAlias) -> Reply:
        """Remove an alias."""
        flow = self.find(call.flow_name)
        self._store.delete_alias(flow.id, self._find_alias(flow, call.name).name)
        return {}

    def list_aliases(self, call: r.ListFlowAliases) -> Reply:
        """List the aliases by name."""
        flow = self.find(call.flow_name)
        (after,) = paging.read_token(call.next_token, str) or ("",)
        found = self._store.aliases(flow.id, after, call.limit + 1)
        page, token = paging.cut_page(found, call.limit, lambda alias: (alias.name,))
        return page_reply("Aliases", [alias_reply(alias) for alias in page], token)

    def find(self, name: str) -> FlowRecord:
        """Return the flow of this name; raises NotExists FlowNotExists."""
        flow = self._store.flow(name)
        if flow is None:
            raise _flow_not_exists(name)
        return flow

    def find_version(self, flow: FlowRecord, number: str) -> VersionRecord:
        """Return a version by its number's text; raises NotExists FlowVersionNotExists."""
        known = number.isascii() and number.isdigit() and len(number) < 18
        version = self._store.version(flow.id, int(number)) if known else None
        if version is None:
            raise version_not_exists(number, flow.name)
        return version

    def resolve(self, flow: FlowRecord, qualifier: str | None) -> tuple[str, Environment, str]:
        """Return definition, environment and version that a start by `qualifier` uses; an alias draws by weight."""
        if not qualifier or qualifier == LATEST:
            return flow.definition, flow.environment, ""
        number = qualifier
        if not qualifier.isdigit():
            number = self._draw(self._find_alias(flow, qualifier).routing)
        version = self.find_version(flow, number)
        return version.definition, version.environment, number

    def _find_alias(self, flow: FlowRecord, name: str) -> AliasRecord:
        alias = self._store.alias(flow.id, name)
        if alias is None:
            raise alias_not_exists(name, flow.name)
        return alias

    def _known(self, flow: FlowRecord, routing: Routing | None) -> Routing:
        routing = routing or Routing(())
        for route in routing.routes:
            self.find_version(flow, route.version)
        return routing

    def _draw(self, routing: Routing) -> str:
        drawn = self._outside.draw(sum(route.weight for route in routing.routes))
        for route in routing.routes:
            drawn -= route.weight
            if drawn < 0:
                return route.version
        return routing.routes[-1].version


def _check_type(type_: str) -> None:
    if type_ not in _TYPES:
        raise InvalidArgument(f"Type '{type_}' is not supported: use FDL.", "Type")


def _mode(given: str | None) -> str:
    if given and given not in (STANDARD, EXPRESS):
        raise InvalidArgument(f"ExecutionMode '{given}' is not Standard or Express.", "ExecutionMode")
    return given or STANDARD
