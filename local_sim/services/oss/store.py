"""Buckets and objects in a folder: rows in SQLite, bytes in files (up to 16 KiB in the row).

The crash story: a file is whole and durable before the row that names it is committed, and unlinked only after the
commit that drops the row. The commit is the one moment at which the new object takes the old one's place, so `kill
-9` anywhere leaves either the old or the new object. Files that no row names are swept at start.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from local_sim.services.file_lock import FileLock
from local_sim.services.oss import index
from local_sim.services.oss.blobs import BlobFolder, BlobWriter
from local_sim.services.oss.checksums import combine
from local_sim.services.oss.committer import Committer
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.listing import Page, page
from local_sim.services.oss.model import (
    APPENDABLE,
    NORMAL,
    SYMLINK,
    Attributes,
    Bucket,
    ObjectInfo,
    Pairs,
    Segment,
    Written,
)
from local_sim.services.oss.reader import ObjectReader
from local_sim.services.oss.uploads import UploadStore
from local_sim.services.sqlite import open_database

T = TypeVar("T")


class OssStore:
    """Everything one OSS keeps below `folder`, which it makes. Safe to use from any thread; also a context manager.

    Raises `StoreInUse` when another process uses the folder and `SchemaTooNew` when a later version wrote it.
    `uploads` has the multipart uploads. Times are passed in, in milliseconds since the epoch.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(self.folder / "lock", self.folder)
        try:
            self._database = self.folder / "index.sqlite3"
            self._local = threading.local()
            self._readers: list[sqlite3.Connection] = []
            self.blobs = BlobFolder(self.folder)
            self.swept = self.blobs.sweep(index.live_blobs(self.connection()))
            self._committer = Committer(self._connect())
        except BaseException:
            self._lock.release()
            raise
        self.uploads = UploadStore(self)

    def close(self) -> None:
        """Finish what is waiting and give the folder back. Safe to call twice."""
        if self._lock.held:
            self._committer.close()
            for connection in self._readers:
                connection.close()
            self._lock.release()

    def __enter__(self) -> OssStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection for reading."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = self._local.connection = self._connect()
            self._readers.append(found)
        return found

    def _connect(self) -> sqlite3.Connection:
        return open_database(self._database, index.MIGRATIONS)

    def change(self, work: Callable[[sqlite3.Connection], tuple[T, Sequence[str]]], *, fresh: Sequence[str] = ()) -> T:
        """Commit `work`, which returns a result and the files it made superfluous; unlink those and return the result.

        `fresh` are files written for it: they are unlinked when it fails.
        """
        try:
            result, dead = self._committer.run(work)
        except Exception:  # not BaseException: an interrupted wait leaves open whether the rows were committed
            self.blobs.discard(fresh)
            raise
        self.blobs.discard(dead)
        return result

    def _change_rows(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Commit `work`, which touches no files."""
        self._committer.run(work)

    # -- buckets

    def create_bucket(self, bucket: Bucket) -> None:
        """Make a bucket; one of that name stays as it is."""
        self._change_rows(lambda connection: index.insert_bucket(connection, bucket))

    def bucket(self, name: str) -> Bucket:
        """Return a bucket, or raise `NoSuchBucket`."""
        return index.bucket_named(self.connection(), name)

    def buckets(self) -> list[Bucket]:
        """Return all buckets by name."""
        return index.all_buckets(self.connection())

    def totals(self, name: str) -> tuple[int, int, int]:
        """Return bytes, objects and uploads under way of a bucket."""
        return index.bucket_totals(self.connection(), name)

    def set_bucket_acl(self, name: str, acl: str) -> None:
        """Change a bucket's ACL, or raise `NoSuchBucket`."""
        self._change_rows(lambda connection: index.set_bucket_acl(connection, name, acl))

    def lifecycle(self, name: str) -> bytes:
        """Return a bucket's lifecycle rules as XML, empty without any; or raise `NoSuchBucket`."""
        return index.lifecycle_of(self.connection(), name)

    def set_lifecycle(self, name: str, rules: bytes) -> None:
        """Keep a bucket's lifecycle rules, or raise `NoSuchBucket`."""
        self._change_rows(lambda connection: index.set_lifecycle(connection, name, rules))

    def delete_bucket(self, name: str) -> None:
        """Remove an empty bucket, or raise `NoSuchBucket` or `BucketNotEmpty`."""
        self._change_rows(lambda connection: index.delete_bucket(connection, name))

    # -- objects: reading

    def find(self, bucket: str, key: str) -> ObjectInfo:
        """Return an object without its bytes, or raise `NoSuchKey` or `NoSuchBucket`."""
        return index.object_named(self.connection(), bucket, key)

    def exists(self, bucket: str, key: str) -> bool:
        """Return whether there is such an object; raise `NoSuchBucket`."""
        return index.find_object(self.connection(), bucket, key) is not None

    def open(self, bucket: str, key: str) -> ObjectReader:
        """Return a reader that keeps this very version readable until it is closed, or raise like `find`."""
        connection = self.connection()
        with self.blobs.reading(), _snapshot(connection):
            info = index.object_named(connection, bucket, key)
            segments = index.segments_of(connection, info)
            self.blobs.pin(segments)
        return ObjectReader(self.blobs, info, segments)

    def list_objects(self, bucket: str, *, prefix: str, delimiter: str, after: str, limit: int) -> Page[ObjectInfo]:
        """Return one page of the objects of a bucket, or raise `NoSuchBucket`."""
        connection = self.connection()
        with _snapshot(connection):
            index.bucket_named(connection, bucket)

            def seek(start: str, inclusive: bool) -> Iterator[ObjectInfo]:
                return index.objects_from(connection, bucket, start, inclusive)

            return page(seek, prefix=prefix, delimiter=delimiter, after=after, limit=limit)

    # -- objects: writing

    def write(self) -> BlobWriter:
        """Return a writer for the bytes of a new object or part."""
        return self.blobs.write()

    def put(
        self, bucket: str, key: str, written: Written, attributes: Attributes, *, now_ms: int, forbid: bool = False
    ) -> ObjectInfo:
        """Make the bytes written an object; `forbid` raises `FileAlreadyExists` instead of replacing one."""
        new = ObjectInfo(bucket, key, NORMAL, written.size, written.etag, written.crc64, now_ms, attributes)
        return self._place(new, [written.segment], forbid)

    def put_symlink(
        self, bucket: str, key: str, target: str, attributes: Attributes, *, now_ms: int, forbid: bool
    ) -> None:
        """Make a symbolic link to the key `target`, which need not be there."""
        etag = hashlib.md5(target.encode(), usedforsecurity=False).hexdigest().upper()
        self._place(ObjectInfo(bucket, key, SYMLINK, 0, etag, 0, now_ms, attributes, target), [], forbid)

    def copy(
        self, source: ObjectReader, bucket: str, key: str, attributes: Attributes, *, now_ms: int, forbid: bool
    ) -> ObjectInfo:
        """Make an object with the bytes of an open one, without copying them where the file system can link."""
        segments: list[Segment] = []
        try:
            for segment in source.segments:
                segments.append(self.blobs.link(segment))  # noqa: PERF401 - on failure those linked so far must go
        except BaseException:
            self.blobs.discard(each.blob for each in segments)
            raise
        info = source.info
        new = ObjectInfo(bucket, key, NORMAL, info.size, info.etag, info.crc64, now_ms, attributes)
        return self._place(new, segments, forbid)

    def _place(self, new: ObjectInfo, segments: Sequence[Segment], forbid: bool) -> ObjectInfo:
        fresh = [segment.blob for segment in segments]
        return self.change(lambda connection: index.put_object(connection, new, segments, forbid=forbid), fresh=fresh)

    def append(
        self, bucket: str, key: str, position: int, written: Written, attributes: Attributes, *, now_ms: int
    ) -> ObjectInfo:
        """Add bytes at the end of an appendable object, or make one; return it as it is now.

        `attributes` count for a new object only. Raises `PositionNotEqualToLength` or `ObjectNotAppendable`.
        """
        segment = written.segment

        def work(connection: sqlite3.Connection) -> tuple[ObjectInfo, Sequence[str]]:
            old = index.find_object(connection, bucket, key)
            _check_append(old, position)
            if old is None:
                new = ObjectInfo(bucket, key, APPENDABLE, written.size, written.etag, written.crc64, now_ms, attributes)
                return index.put_object(connection, new, [segment])
            longer = _longer(old, written, now_ms)
            index.extend_object(connection, longer, segment)
            return longer, ()

        return self.change(work, fresh=[written.blob])

    def delete(self, bucket: str, keys: Sequence[str]) -> None:
        """Remove objects, all in one commit; keys that are not there are fine. Raises `NoSuchBucket`."""

        def work(connection: sqlite3.Connection) -> tuple[None, Sequence[str]]:
            index.bucket_named(connection, bucket)
            return None, [blob for key in keys for blob in index.delete_object(connection, bucket, key)[1]]

        self.change(work)

    def set_attributes(self, bucket: str, key: str, *, tags: Pairs | None = None, acl: str = "") -> None:
        """Change tags or ACL of an object, or raise `NoSuchKey`."""

        def work(connection: sqlite3.Connection) -> None:
            index.set_attributes(connection, index.object_named(connection, bucket, key), tags=tags, acl=acl)

        self._change_rows(work)


@contextlib.contextmanager
def _snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Let several statements read the same state."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def _check_append(old: ObjectInfo | None, position: int) -> None:
    size = 0 if old is None else old.size
    if old is not None and old.kind != APPENDABLE:
        raise ApiError("ObjectNotAppendable", Key=old.key)
    if position != size:
        raise ApiError(
            "PositionNotEqualToLength",
            headers=(("x-oss-next-append-position", str(size)),),
            Position=position,
            Length=size,
        )


def _longer(old: ObjectInfo, written: Written, now_ms: int) -> ObjectInfo:
    # The hyphen says that this ETag is no MD5 of the content, as for multipart objects (O08).
    etag = f"{hashlib.md5(f'{old.etag}{written.etag}'.encode(), usedforsecurity=False).hexdigest().upper()}-0"
    crc64 = combine(old.crc64, written.crc64, written.size)
    return replace(old, size=old.size + written.size, etag=etag, crc64=crc64, modified_ms=now_ms)
