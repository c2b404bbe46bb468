"""The actions on functions and their code."""

from __future__ import annotations

import base64
import binascii
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from local_sim.services.oss.checksums import crc64

from .archive import CodeStore
from .calls import Answer, Call, Outside, iso, make_token, read_token
from .catalog import Catalog
from .errors import AccessDenied, Conflict, InvalidArgument
from .inputs import Code, CreateFunction, FunctionFields, check, read_object
from .records import CodePackage, FunctionRecord

FetchObject = Callable[[str, str], bytes | None]
"""Bucket and key of OSS -> the object's bytes, or None."""
_DISABLED = "disabled"


class FunctionActions:
    """Answers the actions on functions. `on_delete` is told the name of one that is gone."""

    def __init__(
        self,
        catalog: Catalog,
        code: CodeStore,
        outside: Outside,
        fetch: FetchObject,
        on_delete: Callable[[str], None],
    ) -> None:
        self._catalog = catalog
        self._store = catalog.store
        self._code = code
        self._outside = outside
        self._fetch = fetch
        self._on_delete = on_delete

    def create(self, call: Call) -> Answer:
        """Make a function; raises Conflict FunctionAlreadyExists."""
        given = read_object(call.body)
        fields = check(CreateFunction, given)
        if self._store.get(fields.functionName):
            raise Conflict("FunctionAlreadyExists", f"function '{fields.functionName}' already exists")
        if fields.code is None:
            raise InvalidArgument("code: a function needs code", "code")
        if not fields.handler and not fields.runtime.startswith("custom"):
            raise InvalidArgument("handler: a function of a built-in runtime needs a handler", "handler")
        package = self._package(fields.code)
        now = self._outside.now_ms()
        document = {
            "functionId": self._outside.new_id(),
            "timeout": 3,
            "memorySize": 512,
            "diskSize": 512,
            "cpu": 0.35,
            "instanceConcurrency": 1,
            "internetAccess": True,
            "handler": "",
            **_without_code(given),
        }
        record = FunctionRecord(fields.functionName, document, package, now, now)
        self._store.put(record)
        return Answer(document=self.show(record))

    def get(self, call: Call) -> Answer:
        """Show a function, or what a qualifier means."""
        return Answer(document=self.show(self._catalog.resolve(call.function, call.text("qualifier"))))

    def update(self, call: Call) -> Answer:
        """Change the given fields; new code is used by the next invocation."""
        record = self._catalog.find(call.function)
        given = read_object(call.body)
        fields = check(FunctionFields, given)
        changed = dataclasses.replace(
            record,
            document={**record.document, **_without_code(given)},
            code=self._package(fields.code) if fields.code else record.code,
            modified_ms=self._outside.now_ms(),
            from_project=False,
        )
        self._store.put(changed)
        return Answer(document=self.show(changed))

    def delete(self, call: Call) -> Answer:
        """Remove a function with its versions, aliases, triggers and settings."""
        name = self._catalog.find(call.function).name
        self._store.delete(name)
        self._on_delete(name)
        return Answer(204)

    def list_functions(self, call: Call) -> Answer:
        """List the functions by name."""
        (after,) = read_token(call.text("nextToken"), str) or ("",)
        limit = call.limit()
        found = self._store.functions(str(after), call.text("prefix") or call.text("functionName") or "", limit + 1)
        document: dict[str, object] = {"functions": [self.show(record) for record in found[:limit]]}
        if len(found) > limit:
            document["nextToken"] = make_token(found[limit - 1].name)
        return Answer(document=document)

    def get_code(self, call: Call) -> Answer:
        """Say where the code's ZIP can be fetched."""
        record = self._catalog.resolve(call.function, call.text("qualifier"))
        location = f"http://{call.host}/2023-03-30/functions/{record.name}/code/{record.version}.zip"
        return Answer(document={"url": location, "checksum": zip_checksum(self._code, record)})

    def download_code(self, call: Call) -> Answer:
        """Return the ZIP that `get_code` points at."""
        record = self._catalog.version(call.function, call.item.removesuffix(".zip"))
        return Answer(body=self._code.zip_of(record.code), headers={"content-type": "application/zip"})

    def enable(self, call: Call) -> Answer:
        """Let a function be invoked again."""
        self._store.delete_setting(_DISABLED, self._catalog.find(call.function).name, "")
        return Answer(document={"success": True})

    def disable(self, call: Call) -> Answer:
        """Refuse invocations of a function until it is enabled."""
        reason = read_object(call.body).get("reason")
        self._store.put_setting(_DISABLED, self._catalog.find(call.function).name, "", {"reason": reason or ""})
        return Answer(document={"success": True})

    def show(self, record: FunctionRecord) -> Mapping[str, Any]:
        """Return a function as the API shows it."""
        disabled = self._store.setting(_DISABLED, record.name, "")
        restriction = {"invocationRestriction": {"disable": True, **disabled}} if disabled is not None else {}
        return {
            **record.document,
            **restriction,
            "functionName": record.name,
            "functionArn": self._catalog.arn(record.name),
            "codeChecksum": record.code.checksum,
            "codeSize": record.code.size,
            "state": "Active",
            "lastUpdateStatus": "Successful",
            "createdTime": iso(record.created_ms),
            "lastModifiedTime": iso(record.modified_ms),
        }

    def _package(self, code: Code) -> CodePackage:
        if code.zipFile:
            try:
                archive = base64.b64decode(code.zipFile, validate=True)
            except (ValueError, binascii.Error) as error:
                raise InvalidArgument("code.zipFile: must be base64", "code.zipFile") from error
        elif code.ossBucketName and code.ossObjectName:
            archive = self._object(code.ossBucketName, code.ossObjectName)
        else:
            raise InvalidArgument("code: give zipFile, or ossBucketName and ossObjectName", "code")
        package = self._code.add(archive)
        if code.checksum and code.checksum != package.checksum:
            text = f"code.checksum: the code's CRC-64 is {package.checksum}, not {code.checksum}"
            raise InvalidArgument(text, "code.checksum")
        return package

    def _object(self, bucket: str, key: str) -> bytes:
        found = self._fetch(bucket, key)
        if found is None:
            raise InvalidArgument(f"code: object '{key}' in bucket '{bucket}' does not exist", "code.ossObjectName")
        return found


def zip_checksum(code: CodeStore, record: FunctionRecord) -> str:
    """Return the CRC-64 of a function's ZIP; a project's folder is packed to tell."""
    return record.code.checksum if record.code.size else str(crc64(code.zip_of(record.code)))


def check_enabled(catalog: Catalog, name: str) -> None:
    """Raise AccessDenied for a function whose invocation was disabled."""
    disabled = catalog.store.setting(_DISABLED, name, "")
    if disabled is not None:
        raise AccessDenied("InvocationDisabled", f"function '{name}' is disabled: {disabled.get('reason', '')}")


def _without_code(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key not in ("code", "functionName") and value is not None}
