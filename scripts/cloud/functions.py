"""Function Compute as the cloud-side jobs see it (function-compute page, section 10)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scripts.cloud.calls import call, open_config, pages
from scripts.cloud.errors import ServiceFault

if TYPE_CHECKING:
    from scripts.cloud.settings import CloudSettings

__all__ = ["Answer", "FunctionAlias", "FunctionState", "FunctionVersion", "Functions", "Trigger"]

_PAGE = 100
Document = dict[str, Any]


@dataclass(frozen=True)
class FunctionState:
    """A function as the service shows it: `document` is the API's JSON, `checksum` the CRC-64 of its code's ZIP."""

    name: str
    arn: str
    checksum: str
    document: Mapping[str, Any]


@dataclass(frozen=True)
class FunctionVersion:
    """A published version."""

    number: str
    description: str


@dataclass(frozen=True)
class FunctionAlias:
    """A name for a version; `weights` give another version a share of the calls, from 0 to 1."""

    name: str
    version: str
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Trigger:
    """A trigger; `config` is the API's triggerConfig."""

    name: str
    type: str
    config: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What a function answered. `error_type` is empty for a success (function-compute page, 5.1)."""

    body: bytes
    error_type: str
    log: str
    request_id: str
    duration_ms: float


class Functions:
    """Functions, versions, aliases, triggers. Every method raises `ServiceFault`."""

    def __init__(self, settings: CloudSettings) -> None:
        self._settings = settings

    @cached_property
    def _client(self) -> Any:
        from alibabacloud_fc20230330.client import Client

        return Client(open_config(self._settings.fc, self._settings.region))

    def _send(self, action: str, method: str, *names: str, body: Any = None, **query: Any) -> Any:
        from alibabacloud_fc20230330 import models

        request = getattr(models, f"{action}Request", None)
        arguments = (
            [*names] if request is None else [*names, request(**query, **({} if body is None else {"body": body}))]
        )
        # The answer to a deletion has no body at all.
        return getattr(call("FC", action, lambda: getattr(self._client, method)(*arguments)), "body", None)

    def _found(self, action: str, method: str, *names: str, **query: Any) -> Any:
        try:
            return self._send(action, method, *names, **query)
        except ServiceFault as fault:
            if fault.missing:
                return None
            raise

    def find(self, name: str, qualifier: str | None = None) -> FunctionState | None:
        """The function, or what a version or alias means; None when it does not exist."""
        body = self._found("GetFunction", "get_function", name, qualifier=qualifier)
        if body is None:
            return None
        document = body.to_map()
        return FunctionState(name, document.get("functionArn", ""), str(document.get("codeChecksum", "")), document)

    def names(self, prefix: str) -> list[str]:
        """The names of the functions that begin with `prefix`."""

        def fetch(token: str | None) -> tuple[list[Any], str | None]:
            body = self._send("ListFunctions", "list_functions", prefix=prefix, limit=_PAGE, next_token=token)
            return list(body.functions or []), body.next_token

        return [one.function_name for one in pages("FC", "ListFunctions", fetch)]

    def create(self, document: Mapping[str, Any]) -> None:
        """Make a function of the API's JSON, code included."""
        from alibabacloud_fc20230330 import models

        self._send("CreateFunction", "create_function", body=models.CreateFunctionInput().from_map(dict(document)))

    def update(self, name: str, document: Mapping[str, Any]) -> None:
        """Change the given fields of a function."""
        from alibabacloud_fc20230330 import models

        self._send(
            "UpdateFunction", "update_function", name, body=models.UpdateFunctionInput().from_map(dict(document))
        )

    def delete(self, name: str) -> None:
        """Remove a function without versions, aliases and triggers; quiet when it is gone."""
        self._found("DeleteFunction", "delete_function", name)

    def versions(self, name: str) -> list[FunctionVersion]:
        """The versions, the newest first; none when the function does not exist."""

        def fetch(token: str | None) -> tuple[list[Any], str | None]:
            body = self._found("ListFunctionVersions", "list_function_versions", name, limit=_PAGE, next_token=token)
            return ([], None) if body is None else (list(body.versions or []), body.next_token)

        found = pages("FC", "ListFunctionVersions", fetch)
        return sorted(
            (FunctionVersion(str(one.version_id), one.description or "") for one in found),
            key=lambda one: -int(one.number),
        )

    def publish(self, name: str, description: str) -> str:
        """Freeze the function as it is; returns the version's number."""
        from alibabacloud_fc20230330 import models

        body = models.PublishVersionInput(description=description)
        return str(self._send("PublishFunctionVersion", "publish_function_version", name, body=body).version_id)

    def delete_version(self, name: str, version: str) -> None:
        """Remove a version that no alias points at; quiet when it is gone."""
        self._found("DeleteFunctionVersion", "delete_function_version", name, version)

    def alias(self, name: str, alias: str) -> FunctionAlias | None:
        """The alias; None when it does not exist."""
        body = self._found("GetAlias", "get_alias", name, alias)
        return None if body is None else _alias(body)

    def aliases(self, name: str) -> list[FunctionAlias]:
        """All aliases of a function."""

        def fetch(token: str | None) -> tuple[list[Any], str | None]:
            body = self._found("ListAliases", "list_aliases", name, limit=_PAGE, next_token=token)
            return ([], None) if body is None else (list(body.aliases or []), body.next_token)

        return [_alias(one) for one in pages("FC", "ListAliases", fetch)]

    def put_alias(self, name: str, alias: FunctionAlias) -> None:
        """Make the alias or move it."""
        from alibabacloud_fc20230330 import models

        fields = {"version_id": alias.version, "additional_version_weight": dict(alias.weights)}
        if self.alias(name, alias.name) is None:
            body = models.CreateAliasInput(alias_name=alias.name, **fields)
            self._send("CreateAlias", "create_alias", name, body=body)
        else:
            self._send("UpdateAlias", "update_alias", name, alias.name, body=models.UpdateAliasInput(**fields))

    def delete_alias(self, name: str, alias: str) -> None:
        """Remove an alias; quiet when it is gone."""
        self._found("DeleteAlias", "delete_alias", name, alias)

    def async_config(self, name: str) -> Document | None:
        """The settings of async invocation; None when there are none."""
        body = self._found("GetAsyncInvokeConfig", "get_async_invoke_config", name)
        return None if body is None else dict(body.to_map())

    def put_async_config(self, name: str, document: Mapping[str, Any]) -> None:
        """Set how async invocations are retried and for how long they count."""
        from alibabacloud_fc20230330 import models

        body = models.PutAsyncInvokeConfigInput().from_map(dict(document))
        self._send("PutAsyncInvokeConfig", "put_async_invoke_config", name, body=body)

    def delete_async_config(self, name: str) -> None:
        """Forget the settings of async invocation; quiet when there are none."""
        self._found("DeleteAsyncInvokeConfig", "delete_async_invoke_config", name)

    def triggers(self, name: str) -> list[Trigger]:
        """The triggers of a function; none when it does not exist."""

        def fetch(token: str | None) -> tuple[list[Any], str | None]:
            body = self._found("ListTriggers", "list_triggers", name, limit=_PAGE, next_token=token)
            return ([], None) if body is None else (list(body.triggers or []), body.next_token)

        return [
            Trigger(one.trigger_name, one.trigger_type, json.loads(one.trigger_config or "{}"))
            for one in pages("FC", "ListTriggers", fetch)
        ]

    def put_trigger(self, name: str, document: Mapping[str, Any], *, there: bool) -> None:
        """Make a trigger of the API's JSON, or change the one that is `there`; triggerConfig goes as JSON text."""
        from alibabacloud_fc20230330 import models

        body = {**document, "triggerConfig": json.dumps(document["triggerConfig"])}
        if there:
            request = models.UpdateTriggerInput().from_map(body)
            self._send("UpdateTrigger", "update_trigger", name, document["triggerName"], body=request)
        else:
            self._send("CreateTrigger", "create_trigger", name, body=models.CreateTriggerInput().from_map(body))

    def delete_trigger(self, name: str, trigger: str) -> None:
        """Remove a trigger; quiet when it is gone."""
        self._found("DeleteTrigger", "delete_trigger", name, trigger)

    def invoke(self, name: str, event: bytes, qualifier: str | None = None) -> Answer:
        """Call a function and wait for its answer."""
        from alibabacloud_fc20230330 import models
        from darabonba.runtime import RuntimeOptions

        request = models.InvokeFunctionRequest(body=event, qualifier=qualifier)
        headers = models.InvokeFunctionHeaders(x_fc_log_type="Tail")
        send = self._client.invoke_function_with_options
        reply = call("FC", "InvokeFunction", lambda: send(name, request, headers, RuntimeOptions(read_timeout=600_000)))
        given = {key.lower(): value for key, value in reply.headers.items()}
        return Answer(
            body=reply.body.read() if reply.body else b"",
            error_type=given.get("x-fc-error-type", ""),
            log=base64.b64decode(given.get("x-fc-log-result", "")).decode(errors="replace"),
            request_id=given.get("x-fc-request-id", ""),
            duration_ms=float(given.get("x-fc-invocation-duration") or 0),
        )


def _alias(body: Any) -> FunctionAlias:
    weights = {str(version): float(weight) for version, weight in (body.additional_version_weight or {}).items()}
    return FunctionAlias(body.alias_name, str(body.version_id), weights)
