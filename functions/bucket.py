"""OSS as the kit sees it: objects that are written once, over the `oss2` SDK, with every failure as a typed error.

`oss2` sends a put once and then raises (oss.md section 4), so after *any* answer but success the object is looked up
and its SHA-256 decides whether the put took place.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from functions.credentials import Credentials, region
from functions.errors import StepkeeperError, SystemFault, TemporaryUpstreamError

if TYPE_CHECKING:
    import oss2

__all__ = ["Bucket", "ObjectInfo"]

T = TypeVar("T")
TIMEOUT_SECONDS = 10
SUM_HEADER = "x-oss-meta-sha256"
_BUSY = {"RequestTimeout", "Throttling", "ServiceUnavailable", "InternalError", "QpsLimitExceeded"}


@dataclass(frozen=True)
class ObjectInfo:
    """What is known of an object: size in bytes, SHA-256 ("" when it was not put by the kit), time of the last write
    (s).
    """

    key: str
    size: int
    sha256: str = ""
    modified: int = 0


class _EnvironmentProvider:
    """`oss2` asks this for credentials at every request."""

    def get_credentials(self) -> Any:
        from oss2.credentials import Credentials as OssCredentials

        now = Credentials.now()
        return OssCredentials(now.key_id, now.secret, now.token or None)


@lru_cache(maxsize=1)
def _session() -> Any:
    """Connections only; credentials are never part of it."""
    import oss2

    return oss2.Session()


class Bucket:
    """One bucket at one endpoint. Cheap to make; connections are shared by the process."""

    def __init__(self, endpoint: str, name: str) -> None:
        if not endpoint or not name:
            raise SystemFault("OSS_ENDPOINT and OSS_BUCKET have to be set", effect_applied=False)
        self.endpoint = endpoint
        self.name = name
        self._client = self._open()

    def _open(self) -> oss2.Bucket:
        import oss2

        provider = _EnvironmentProvider()
        where = region()
        # V4 signatures need the region; V1 serves where none is known.
        auth = oss2.ProviderAuthV4(provider) if where else oss2.ProviderAuth(provider)
        try:
            return oss2.Bucket(
                auth,
                self.endpoint,
                self.name,
                session=_session(),
                connect_timeout=TIMEOUT_SECONDS,
                region=where or None,
                # Without its compiled part crcmod takes seconds for a document. SHA-256 is checked on reading, and the
                # service checks Content-MD5 on writing (assumption K24).
                enable_crc=False,
            )
        except oss2.exceptions.ClientError as error:
            raise SystemFault(f"OSS_ENDPOINT or OSS_BUCKET cannot be used: {error}", effect_applied=False) from error

    def provision(self) -> bool:
        """Make the bucket. True when it was made, False when it was there."""
        import oss2

        try:
            self._call(self._client.get_bucket_location)
        except SystemFault as error:
            if not isinstance(error.__cause__, oss2.exceptions.NoSuchBucket):
                raise
        else:
            return False
        self._call(lambda: self._client.create_bucket(oss2.BUCKET_ACL_PRIVATE))
        return True

    def put_new(self, key: str, data: bytes, content_type: str) -> bool:
        """Put without overwriting. True: this call made it. False: an object with this key is there already.

        Raises `TemporaryUpstreamError` when nobody could say within this call; putting the same bytes again is safe.
        """
        digest = hashlib.sha256(data).hexdigest()
        headers = {"x-oss-forbid-overwrite": "true", SUM_HEADER: digest, "Content-Type": content_type}
        headers["Content-MD5"] = base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
        try:
            self._call(lambda: self._client.put_object(key, data, headers=headers))
        except _AlreadyThere:
            return False
        except TemporaryUpstreamError:
            found = self.info(key)
            if found is None:
                raise
            return found.sha256 == digest
        return True

    def get(self, key: str, limit: int) -> bytes | None:
        """The object's bytes, at most `limit` + 1 of them; None when it is not there."""

        def read() -> bytes:
            return bytes(self._client.get_object(key).read(limit + 1))

        try:
            return self._call(read)
        except _NotThere:
            return None

    def info(self, key: str) -> ObjectInfo | None:
        """What is known of the object without reading it; None when it is not there."""
        try:
            head = self._call(lambda: self._client.head_object(key))
        except _NotThere:
            return None
        return ObjectInfo(key, int(head.content_length), head.headers.get(SUM_HEADER, ""), int(head.last_modified or 0))

    def remove(self, key: str) -> None:
        """Remove the object; quiet when it is not there."""
        self._call(lambda: self._client.delete_object(key))

    def listing(self, prefix: str) -> list[ObjectInfo]:
        """Objects whose key starts with `prefix`, newest first."""
        import oss2

        def walk() -> Iterator[ObjectInfo]:
            for item in oss2.ObjectIteratorV2(self._client, prefix=prefix):
                yield ObjectInfo(item.key, int(item.size), modified=int(item.last_modified))

        return sorted(self._call(lambda: list(walk())), key=lambda item: (-item.modified, item.key))

    def _call(self, request: Callable[[], T]) -> T:
        import oss2

        try:
            return request()
        except (oss2.exceptions.NoSuchKey, oss2.exceptions.NotFound) as error:
            raise _not_found(error, self.name) from error
        except oss2.exceptions.OssError as error:
            raise _typed(error, self.name) from error
        except OSError as error:  # the connection broke while a body was read
            raise TemporaryUpstreamError(f"OSS broke off: {error}", upstream="oss") from error


class _NotThere(StepkeeperError):
    """The object does not exist. Never leaves this module."""


class _AlreadyThere(StepkeeperError):
    """An object with this key exists. Never leaves this module."""


def _not_found(error: Any, bucket: str) -> StepkeeperError:
    # A HEAD has no body: 404 may also mean that the bucket is missing, told only by x-oss-err, which oss2 puts in code.
    if error.code == "NoSuchBucket":
        return SystemFault(f"bucket {bucket} does not exist; run scripts/provision.py", effect_applied=False)
    return _NotThere("no such object")


def _typed(error: Any, bucket: str) -> StepkeeperError:
    status, code = int(error.status), str(error.code)
    if code == "FileAlreadyExists":
        return _AlreadyThere("the object exists")
    if code == "NoSuchBucket":
        return SystemFault(f"bucket {bucket} does not exist; run scripts/provision.py", effect_applied=False)
    # Negative: the client's own view (connection broken, checksum of the transfer wrong).
    if status < 0 or status >= 500 or status in (408, 429) or code in _BUSY:
        what = f"OSS answered {status} {code}" if status > 0 else "OSS cannot be reached or broke off"
        return TemporaryUpstreamError(what, upstream="oss", status=max(status, 0) or None)
    return SystemFault(f"OSS refused: {status} {code}", effect_applied=False, upstream="oss")
