"""Big results and payloads as objects: a small protocol, and its implementation on OSS."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ledger.errors import BlobDamaged, BlobError, BlobUnavailable, LedgerMisconfigured
from ledger.records import BlobRef
from ledger.settings import CredentialsSource, LedgerSettings, environment_credentials

_NOT_FOUND = 404
_HASH_HEADER = "x-oss-meta-sha256"


class BlobStore(Protocol):
    """Immutable objects: written once under a key, checked by their SHA-256 on reading."""

    def put(self, key: str, data: bytes) -> BlobRef:
        """Store `data` under `key` unless the same bytes are there already. Raises `BlobError`."""
        ...

    def get(self, ref: BlobRef) -> bytes:
        """Return the bytes of `ref`, checked. Raises `BlobError`."""
        ...


@dataclass(frozen=True)
class BlobInfo:
    """One object of a listing; `modified_ms` is the store's time."""

    key: str
    uri: str
    size: int
    modified_ms: int


class OssBlobs:
    """Objects in one OSS bucket (`oss2`). Writes never overwrite (`x-oss-forbid-overwrite`); the key is the caller's.

    Credentials are asked for at each call, so renewed ones are used without a restart.
    """

    def __init__(
        self,
        endpoint: str,
        bucket: str,
        credentials: CredentialsSource = environment_credentials,
        timeout_seconds: float = 10,
    ) -> None:
        if not endpoint or not bucket:
            raise LedgerMisconfigured("OSS_ENDPOINT and OSS_BUCKET must both be set")
        self._endpoint, self._name = endpoint, bucket
        self._credentials, self._timeout = credentials, timeout_seconds
        self._session: Any = None

    def uri(self, key: str) -> str:
        """Return the address of `key`: `oss://bucket/key`."""
        return f"oss://{self._name}/{key}"

    def put(self, key: str, data: bytes) -> BlobRef:
        """Store `data`; an object that is there already must have the same SHA-256, else `BlobDamaged`."""
        import oss2

        ref = BlobRef(self.uri(key), len(data), hashlib.sha256(data).hexdigest())
        headers = {"x-oss-forbid-overwrite": "true", _HASH_HEADER: ref.sha256}
        try:
            self._bucket().put_object(key, data, headers=headers)
        except oss2.exceptions.OssError as error:
            # After any answer but success the object is read back: it may be our own (oss.md 4).
            if not self._is_there(key, ref, error):
                raise _blob_error(ref.uri, error) from error
        return ref

    def get(self, ref: BlobRef) -> bytes:
        """Return the bytes of `ref`; `BlobDamaged` when they are gone or differ."""
        import oss2

        try:
            data = bytes(self._bucket(ref).get_object(self._key(ref)).read())
        except oss2.exceptions.OssError as error:
            raise _blob_error(ref.uri, error) from error
        if len(data) != ref.size or hashlib.sha256(data).hexdigest() != ref.sha256:
            raise BlobDamaged(ref.uri, f"the stored bytes differ from the reference ({len(data)} bytes)")
        return data

    def list(self, prefix: str) -> Iterator[BlobInfo]:
        """Yield the objects whose key begins with `prefix`."""
        import oss2

        for item in oss2.ObjectIteratorV2(self._bucket(), prefix=prefix):
            yield BlobInfo(item.key, self.uri(item.key), item.size, item.last_modified * 1000)

    def delete(self, key: str) -> None:
        """Delete one object; a missing one is fine."""
        self._bucket().delete_object(key)

    def _is_there(self, key: str, ref: BlobRef, error: Any) -> bool:
        import oss2

        try:
            head = self._bucket().head_object(key)
        except oss2.exceptions.OssError:
            return False
        if head.headers.get(_HASH_HEADER) == ref.sha256 and head.content_length == ref.size:
            return True
        raise BlobDamaged(ref.uri, "another object is stored under this key") from error

    def _bucket(self, ref: BlobRef | None = None) -> Any:
        import oss2

        if self._session is None:
            self._session = oss2.Session()
        found = self._credentials()
        auth = (
            oss2.StsAuth(found.access_key_id, found.access_key_secret, found.security_token)
            if found.security_token
            else oss2.Auth(found.access_key_id, found.access_key_secret)
        )
        name = self._name if ref is None else ref.uri.removeprefix("oss://").partition("/")[0]
        return oss2.Bucket(auth, self._endpoint, name, session=self._session, connect_timeout=self._timeout)

    @staticmethod
    def _key(ref: BlobRef) -> str:
        return ref.uri.removeprefix("oss://").partition("/")[2]


def default_blobs(settings: LedgerSettings, credentials: CredentialsSource) -> BlobStore | None:
    """Return the bucket the settings name; None when they name none."""
    if not settings.oss_bucket:
        return None
    return OssBlobs(settings.oss_endpoint, settings.oss_bucket, credentials)


def _blob_error(uri: str, error: Any) -> BlobError:
    status = getattr(error, "status", 0)
    code = getattr(error, "code", "") or type(error).__name__
    if status == _NOT_FOUND:
        return BlobDamaged(uri, f"the object is not there ({code})")
    return BlobUnavailable(uri, f"HTTP {status} {code}")
