"""The actions on versions and aliases."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from .archive import CodeStore
from .calls import Answer, Call, Outside, iso, page
from .catalog import Catalog
from .errors import Conflict, PreconditionFailed, alias_not_found
from .inputs import AliasFields, CreateAlias, PublishVersion, read_body
from .records import AliasRecord, FunctionRecord


class VersionActions:
    """Answers the actions on versions and aliases."""

    def __init__(self, catalog: Catalog, code: CodeStore, outside: Outside) -> None:
        self._catalog = catalog
        self._store = catalog.store
        self._code = code
        self._outside = outside

    def publish(self, call: Call) -> Answer:
        """Freeze the function with its code under the next number."""
        fields = read_body(PublishVersion, call.body)
        record = self._catalog.find(call.function)
        function = self._catalog.worker_function(record)
        document = {**record.document, "environmentVariables": dict(function.environment)}
        now = self._outside.now_ms()
        version = dataclasses.replace(
            record,
            document=document,
            code=self._code.snapshot(record.code, function.beside),
            version=self._store.next_version(record.name),
            description=fields.description,
            created_ms=now,
            modified_ms=now,
            from_project=False,
        )
        self._store.put(version)
        return Answer(document=_show_version(version))

    def list_versions(self, call: Call) -> Answer:
        """List the versions, newest first unless `direction` is FORWARD."""
        found = self._store.versions(self._catalog.find(call.function).name)
        if (call.text("direction") or "").upper() == "FORWARD":
            found.reverse()
        return page(call, "versions", found, lambda version: version.version, _show_version)

    def delete_version(self, call: Call) -> Answer:
        """Remove a version; raises PreconditionFailed while an alias points at it."""
        name = self._catalog.find(call.function).name
        version = self._catalog.version(name, call.item).version
        for alias in self._store.aliases(name):
            if version == alias.version or version in alias.weights:
                raise PreconditionFailed(f"alias '{alias.name}' points at version '{version}'")
        self._store.delete_version(name, version)
        return Answer(204)

    def create_alias(self, call: Call) -> Answer:
        """Make an alias; raises Conflict AliasAlreadyExists."""
        fields = read_body(CreateAlias, call.body)
        name = self._catalog.find(call.function).name
        if self._store.alias(name, fields.aliasName):
            raise Conflict("AliasAlreadyExists", f"alias '{fields.aliasName}' of function '{name}' already exists")
        now = self._outside.now_ms()
        weights = fields.additionalVersionWeight or {}
        alias = AliasRecord(name, fields.aliasName, fields.versionId, fields.description or "", weights, now, now)
        return self._put(alias)

    def get_alias(self, call: Call) -> Answer:
        """Show an alias."""
        return Answer(document=_show_alias(self._alias(call)))

    def update_alias(self, call: Call) -> Answer:
        """Change the given fields of an alias."""
        fields = read_body(AliasFields, call.body)
        alias = self._alias(call)
        weights = fields.additionalVersionWeight
        changed = dataclasses.replace(
            alias,
            version=fields.versionId or alias.version,
            description=alias.description if fields.description is None else fields.description,
            weights=alias.weights if weights is None else weights,
            modified_ms=self._outside.now_ms(),
        )
        return self._put(changed)

    def delete_alias(self, call: Call) -> Answer:
        """Remove an alias."""
        self._store.delete_alias(call.function, self._alias(call).name)
        return Answer(204)

    def list_aliases(self, call: Call) -> Answer:
        """List the aliases by name."""
        found = self._store.aliases(self._catalog.find(call.function).name)
        found = [alias for alias in found if alias.name.startswith(call.text("prefix") or "")]
        return page(call, "aliases", found, lambda alias: alias.name, _show_alias)

    def _put(self, alias: AliasRecord) -> Answer:
        for version in (alias.version, *alias.weights):
            self._catalog.version(alias.function, version)
        self._store.put_alias(alias)
        return Answer(document=_show_alias(alias))

    def _alias(self, call: Call) -> AliasRecord:
        alias = self._store.alias(self._catalog.find(call.function).name, call.item)
        if alias is None:
            raise alias_not_found(call.function, call.item)
        return alias


def _show_version(record: FunctionRecord) -> Mapping[str, Any]:
    return {
        "versionId": record.version,
        "description": record.description,
        "createdTime": iso(record.created_ms),
        "lastModifiedTime": iso(record.modified_ms),
    }


def _show_alias(alias: AliasRecord) -> Mapping[str, Any]:
    return {
        "aliasName": alias.name,
        "versionId": alias.version,
        "description": alias.description,
        "additionalVersionWeight": dict(alias.weights),
        "createdTime": iso(alias.created_ms),
        "lastModifiedTime": iso(alias.modified_ms),
    }
