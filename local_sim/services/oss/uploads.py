"""Multipart uploads: parts are files, and completing one only writes rows; no bytes are copied."""

from __future__ import annotations

import hashlib
import itertools
import sqlite3
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from local_sim.services.oss import index, upload_index
from local_sim.services.oss.checksums import combined
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.model import MULTIPART, Attributes, ObjectInfo, Part, Upload, Written

if TYPE_CHECKING:
    from local_sim.services.oss.store import OssStore

MIN_PART_BYTES = 100 * 1024
MAX_PART_NUMBER = 10_000


class UploadStore:
    """The multipart uploads of a store."""

    def __init__(self, store: OssStore) -> None:
        self._store = store

    def create(self, bucket: str, key: str, attributes: Attributes, *, now_ms: int, forbid: bool) -> Upload:
        """Start an upload. `forbid` raises `FileAlreadyExists` now and again at completion (O09)."""
        upload = Upload(uuid.uuid4().hex.upper(), bucket, key, now_ms, attributes, forbid)

        def work(connection: sqlite3.Connection) -> tuple[None, Sequence[str]]:
            if forbid:
                index.check_free(connection, bucket, key)
            upload_index.insert_upload(connection, upload)
            return None, ()

        self._store.change(work)
        return upload

    def find(self, bucket: str, key: str, upload_id: str) -> Upload:
        """Return an upload, or raise `NoSuchUpload`."""
        return upload_index.upload_named(self._store.connection(), bucket, key, upload_id)

    def all(self, bucket: str) -> list[Upload]:
        """Return the uploads of a bucket by key and id, or raise `NoSuchBucket`."""
        return upload_index.uploads_of(self._store.connection(), bucket)

    def parts(self, bucket: str, key: str, upload_id: str) -> list[Part]:
        """Return the parts of an upload by number, or raise `NoSuchUpload`."""
        self.find(bucket, key, upload_id)
        return upload_index.parts_of(self._store.connection(), upload_id)

    def put_part(self, bucket: str, key: str, upload_id: str, number: int, written: Written, *, now_ms: int) -> Part:
        """Make the bytes written part `number`, in place of an earlier one; raises `NoSuchUpload`."""
        part = Part(number, written.segment, written.etag, written.crc64, now_ms)

        def work(connection: sqlite3.Connection) -> tuple[Part, Sequence[str]]:
            upload_index.upload_named(connection, bucket, key, upload_id)
            return part, upload_index.put_part(connection, upload_id, part)

        return self._store.change(work, fresh=[written.blob])

    def abort(self, bucket: str, key: str, upload_id: str) -> None:
        """Drop an upload and its parts, or raise `NoSuchUpload`."""

        def work(connection: sqlite3.Connection) -> tuple[None, Sequence[str]]:
            upload_index.upload_named(connection, bucket, key, upload_id)
            return None, upload_index.delete_upload(connection, upload_id)

        self._store.change(work)

    def complete(
        self,
        bucket: str,
        key: str,
        upload_id: str,
        wanted: Sequence[tuple[int, str]] | None,
        *,
        now_ms: int,
        forbid: bool,
    ) -> ObjectInfo:
        """Join parts into an object. `wanted` lists (number, ETag) in ascending order; None takes all parts.

        Raises `NoSuchUpload`, `InvalidPart`, `InvalidPartOrder`, `EntityTooSmall` or `FileAlreadyExists`.
        """

        def work(connection: sqlite3.Connection) -> tuple[ObjectInfo, Sequence[str]]:
            upload = upload_index.upload_named(connection, bucket, key, upload_id)
            parts = chosen(upload_index.parts_of(connection, upload_id), wanted)
            segments = [part.segment for part in parts]
            new, replaced = index.put_object(
                connection, _joined(upload, parts, now_ms), segments, forbid=forbid or upload.forbid
            )
            kept = {part.segment.blob for part in parts}
            left_over = [blob for blob in upload_index.delete_upload(connection, upload_id) if blob not in kept]
            return new, [*replaced, *left_over]

        return self._store.change(work)


def chosen(parts: Sequence[Part], wanted: Sequence[tuple[int, str]] | None) -> list[Part]:
    """Return the parts that make up the object, checked: ascending numbers, right ETags, 100 KiB but for the last."""
    uploaded = {part.number: part for part in parts}
    if wanted is None:
        wanted = [(part.number, part.etag) for part in parts]
    if not wanted:
        raise ApiError("MalformedXML", "At least one part must be given.")
    numbers = [number for number, _ in wanted]
    if any(later <= earlier for earlier, later in itertools.pairwise(numbers)):
        raise ApiError("InvalidPartOrder")
    for number, etag in wanted:
        if number not in uploaded or uploaded[number].etag != etag.strip('"').upper():
            raise ApiError("InvalidPart", PartNumber=number, ETag=etag)
    result = [uploaded[number] for number in numbers]
    for part in result[:-1]:
        if part.size < MIN_PART_BYTES:
            raise ApiError(
                "EntityTooSmall", PartNumber=part.number, ProposedSize=part.size, MinSizeAllowed=MIN_PART_BYTES
            )
    return result


def _joined(upload: Upload, parts: Sequence[Part], now_ms: int) -> ObjectInfo:
    digests = b"".join(bytes.fromhex(part.etag) for part in parts)
    etag = f"{hashlib.md5(digests, usedforsecurity=False).hexdigest().upper()}-{len(parts)}"
    crc64 = combined((part.crc64, part.size) for part in parts)
    size = sum(part.size for part in parts)
    return ObjectInfo(upload.bucket, upload.key, MULTIPART, size, etag, crc64, now_ms, upload.attributes)
