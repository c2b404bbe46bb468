"""The actions on a function's settings: async invocation, concurrency, provisioning, scaling, VPC bindings, tags."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from .calls import Answer, Call, Outside, iso, make_token, page, read_token
from .catalog import Catalog
from .errors import InvalidArgument, NotFound, function_not_found
from .inputs import AsyncConfig, Body, Concurrency, Provision, VpcBinding, check, read_object
from .records import LATEST, Document

ASYNC = "async"
CONCURRENCY = "concurrency"
PROVISION = "provision"
SCALING = "scaling"
_VPC = "vpc"
_KINDS: dict[str, tuple[type[Body], str]] = {
    ASYNC: (AsyncConfig, "AsyncConfigNotExists"),
    CONCURRENCY: (Concurrency, "ConcurrencyConfigNotExists"),
    PROVISION: (Provision, "ProvisionConfigNotFound"),
    SCALING: (Body, "ScalingConfigNotFound"),
}
_QUALIFIED = (ASYNC, PROVISION, SCALING)


class SettingActions:
    """Answers the actions on settings."""

    def __init__(self, catalog: Catalog, outside: Outside) -> None:
        self._catalog = catalog
        self._store = catalog.store
        self._outside = outside

    def get(self, kind: str, call: Call) -> Answer:
        """Show a settings document; raises NotFound when there is none."""
        name, qualifier = self._where(kind, call)
        document = self._store.setting(kind, name, qualifier)
        if document is None:
            raise NotFound(_KINDS[kind][1], f"{kind} config of function '{name}' ({qualifier}) does not exist")
        return Answer(document=document)

    def put(self, kind: str, call: Call) -> Answer:
        """Keep a settings document."""
        name, qualifier = self._where(kind, call)
        given = read_object(call.body)
        model = check(_KINDS[kind][0], given)
        now = iso(self._outside.now_ms())
        before = self._store.setting(kind, name, qualifier) or {}
        document = {
            **model.model_dump(mode="json", exclude_none=True),
            "functionArn": self._catalog.arn(name, qualifier if kind in _QUALIFIED else ""),
            "createdTime": before.get("createdTime", now),
            "lastModifiedTime": now,
        }
        self._store.put_setting(kind, name, qualifier, document)
        return Answer(document=document)

    def delete(self, kind: str, call: Call) -> Answer:
        """Drop a settings document; dropping none is fine."""
        self._store.delete_setting(kind, *self._where(kind, call))
        return Answer(204)

    def list_all(self, kind: str, name: str, call: Call) -> Answer:
        """List the settings documents of a kind."""
        found = self._store.settings(kind, call.text("functionName"))
        return page(call, name, found, lambda item: f"{item[0]}/{item[1]}", lambda item: item[2])

    def async_config(self, name: str, qualifier: str) -> AsyncConfig:
        """Return how async invocations of a qualifier are treated, defaults where nothing was set."""
        document = self._store.setting(ASYNC, name, qualifier) or self._store.setting(ASYNC, name, LATEST) or {}
        return check(AsyncConfig, document)

    def reserved_concurrency(self, name: str) -> int | None:
        """Return how many requests a function may run at once; None for no limit of its own."""
        document = self._store.setting(CONCURRENCY, name, "")
        return None if document is None else int(document["reservedConcurrency"])

    def list_vpc(self, call: Call) -> Answer:
        """List the VPCs bound to a function."""
        return Answer(document={"vpcIds": self._vpcs(call)})

    def create_vpc(self, call: Call) -> Answer:
        """Bind a VPC."""
        bound = self._vpcs(call)
        vpc = check(VpcBinding, read_object(call.body)).vpcId
        self._store.put_setting(_VPC, call.function, "", {"vpcIds": sorted({*bound, vpc})})
        return Answer()

    def delete_vpc(self, call: Call) -> Answer:
        """Release a VPC."""
        bound = [vpc for vpc in self._vpcs(call) if vpc != call.item]
        self._store.put_setting(_VPC, call.function, "", {"vpcIds": bound})
        return Answer(204)

    def _vpcs(self, call: Call) -> list[str]:
        name = self._catalog.find(call.function).name
        return list((self._store.setting(_VPC, name, "") or {}).get("vpcIds", []))

    def _where(self, kind: str, call: Call) -> tuple[str, str]:
        name = self._catalog.find(call.function).name
        return name, (call.text("qualifier") or LATEST) if kind in _QUALIFIED else ""


class TagActions:
    """Answers the actions on tags, which are kept with the function (`tags`: a list of Key and Value)."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._store = catalog.store

    def tag(self, call: Call) -> Answer:
        """Add or change tags of functions."""
        given = read_object(call.body)
        arns = given.get("resourceArn") or given.get("ResourceId")
        tags = dict(_pairs(given.get("tags") or given.get("Tag")))
        for arn in arns if isinstance(arns, list) else [arns]:
            self._change(arn, lambda before: {**before, **tags})
        return Answer()

    def untag(self, call: Call) -> Answer:
        """Remove tags of functions: those in `TagKey`, or all with `All`."""
        keys = _json_list(call.text("TagKey"))
        everything = (call.text("All") or "").lower() == "true"
        for arn in _json_list(call.text("ResourceId")):
            self._change(arn, lambda before: {k: v for k, v in before.items() if not everything and k not in keys})
        return Answer()

    def list_tags(self, call: Call) -> Answer:
        """List the tags of functions, one entry a tag."""
        wanted = [_function_of(arn) for arn in _json_list(call.text("ResourceId"))]
        names = wanted or [record.name for record in self._store.functions("", "", 10_000)]
        entries = [entry for name in names for entry in self._entries(name)]
        (start,) = read_token(call.text("NextToken"), int) or (0,)
        shown = entries[int(start) : int(start) + 100]
        document: dict[str, object] = {"TagResources": shown, "RequestId": ""}
        if int(start) + 100 < len(entries):
            document["NextToken"] = make_token(int(start) + 100)
        return Answer(document=document)

    def _entries(self, name: str) -> list[Document]:
        record = self._store.get(name)
        tags = _pairs(record.document.get("tags")) if record else []
        arn = self._catalog.arn(name)
        return [
            {"ResourceId": arn, "ResourceType": "function", "TagKey": key, "TagValue": value} for key, value in tags
        ]

    def _change(self, arn: object, change: Any) -> None:
        record = self._catalog.find(_function_of(arn))
        tags = change(dict(_pairs(record.document.get("tags"))))
        document = {**record.document, "tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
        self._store.put(dataclasses.replace(record, document=document))


def _pairs(tags: object) -> list[tuple[str, str]]:
    """Read tags in either spelling: Key and Value, or key and value (serverless-devs page, section 5.3)."""
    found = []
    for tag in tags if isinstance(tags, list) else []:
        item: Mapping[str, object] = tag if isinstance(tag, dict) else {}
        key, value = item.get("Key", item.get("key")), item.get("Value", item.get("value", ""))
        if not isinstance(key, str) or not isinstance(value, str):
            raise InvalidArgument("tags: each needs texts Key and Value", "tags")
        found.append((key, value))
    return found


def _json_list(text: str | None) -> list[str]:
    if not text:
        return []
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = [text]
    return [str(item) for item in value] if isinstance(value, list) else [text]


def _function_of(arn: object) -> str:
    name = str(arn).rpartition("functions/")[2].partition("/")[0]
    if not isinstance(arn, str) or not name:
        raise function_not_found(str(arn))
    return name
