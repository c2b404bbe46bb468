"""The bucket as the deploying jobs see it: code packages, the rules for temporary objects, emptying."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from scripts.cloud.errors import NotConfigured, NotThere, ServiceFault
from scripts.cloud.settings import current_keys

__all__ = ["CODE_PREFIX", "CodeObject", "LifecycleRule", "Objects"]

T = TypeVar("T")
CODE_PREFIX = "code/"
"""Where code packages lie until FC has fetched them."""
_SECONDS = 60


@dataclass(frozen=True)
class CodeObject:
    """An uploaded code package; `checksum` is its CRC-64 as FC shows it."""

    bucket: str
    key: str
    checksum: str


@dataclass(frozen=True, order=True)
class LifecycleRule:
    """Objects below `prefix` go away `days` after they were written."""

    id: str
    prefix: str
    days: int


class Objects:
    """One bucket. Every method raises `ServiceFault`."""

    def __init__(self, endpoint: str, name: str, region: str) -> None:
        import oss2

        if not endpoint or not name:
            raise NotConfigured("OSS_ENDPOINT", "it and OSS_BUCKET say where code and payloads lie")
        self.name = name
        keys = current_keys()
        auth = oss2.ProviderAuthV4(oss2.StaticCredentialsProvider(keys.key_id, keys.secret, keys.token or None))
        try:
            self._bucket = oss2.Bucket(auth, endpoint, name, connect_timeout=_SECONDS, region=region, enable_crc=False)
        except oss2.exceptions.ClientError as error:
            raise NotConfigured("OSS_ENDPOINT", f"{endpoint} and bucket {name} cannot be used: {error}") from None

    def there(self) -> bool:
        """Whether the bucket exists and answers these credentials."""
        try:
            self._send("GetBucketInfo", self._bucket.get_bucket_info)
        except ServiceFault as fault:
            if fault.missing:
                return False
            raise
        return True

    def upload_code(self, archive: Path) -> CodeObject:
        """Put a code package unless it is there, named by its SHA-256. Raises `NotThere` without package or bucket."""
        try:
            data = archive.read_bytes()
        except OSError:
            raise NotThere(str(archive), "run ./scripts/build") from None
        key = f"{CODE_PREFIX}{hashlib.sha256(data).hexdigest()}.zip"
        checksum = self._checksum(key)
        if checksum is None:
            try:
                self._send("PutObject", lambda: self._bucket.put_object(key, data))
            except ServiceFault as fault:
                if not fault.missing:
                    raise
                raise NotThere(f"bucket {self.name}", "run python -m scripts.provision") from fault
            checksum = self._checksum(key) or ""
        return CodeObject(self.name, key, checksum)

    def _checksum(self, key: str) -> str | None:
        try:
            head = self._send("HeadObject", lambda: self._bucket.head_object(key))
        except ServiceFault as fault:
            if fault.missing:
                return None
            raise
        return str(head.headers.get("x-oss-hash-crc64ecma", ""))

    def lifecycle(self) -> list[LifecycleRule]:
        """The rules that delete objects by age."""
        try:
            found = self._send("GetBucketLifecycle", self._bucket.get_bucket_lifecycle)
        except ServiceFault as fault:
            if fault.missing:
                return []
            raise
        rules = [rule for rule in found.rules if rule.expiration and rule.expiration.days and rule.status == "Enabled"]
        return sorted(LifecycleRule(rule.id or "", rule.prefix, int(rule.expiration.days)) for rule in rules)

    def put_lifecycle(self, rules: list[LifecycleRule]) -> None:
        """Set the rules that delete objects by age, in place of those that are there."""
        from oss2.models import BucketLifecycle, LifecycleExpiration
        from oss2.models import LifecycleRule as Rule

        made = [Rule(rule.id, rule.prefix, Rule.ENABLED, LifecycleExpiration(days=rule.days)) for rule in rules]
        self._send("PutBucketLifecycle", lambda: self._bucket.put_bucket_lifecycle(BucketLifecycle(made)))

    def count(self, prefix: str = "") -> int:
        """How many objects there are below a prefix; 0 without a bucket."""
        return len(self._keys(prefix))

    def empty(self, prefix: str = "") -> int:
        """Delete the objects below a prefix; returns how many there were."""
        keys = self._keys(prefix)
        for start in range(0, len(keys), 1000):
            some = keys[start : start + 1000]
            self._send("DeleteObjects", lambda some=some: self._bucket.batch_delete_objects(some))  # type: ignore[misc]
        return len(keys)

    def remove(self) -> None:
        """Remove the bucket, which must be empty; quiet when it is gone."""
        try:
            self._send("DeleteBucket", self._bucket.delete_bucket)
        except ServiceFault as fault:
            if not fault.missing:
                raise

    def _keys(self, prefix: str) -> list[str]:
        import oss2

        try:
            found = self._send("ListObjectsV2", lambda: list(oss2.ObjectIteratorV2(self._bucket, prefix=prefix)))
        except ServiceFault as fault:
            if fault.missing:
                return []
            raise
        return [item.key for item in found]

    def _send(self, action: str, request: Callable[[], T]) -> T:
        import oss2

        try:
            return request()
        except oss2.exceptions.OssError as error:
            details: Any = error
            status = max(int(details.status), 0)
            code = str(details.code or "")
            if isinstance(error, oss2.exceptions.RequestError):
                raise ServiceFault("OSS", action, "", 0, str(error.exception)) from error
            raise ServiceFault(
                "OSS", action, code, status, str(details.message or ""), details.request_id or ""
            ) from error
