"""The SQLite tables: which buckets, objects, uploads and parts there are, and which files hold their bytes.

Functions over a connection. Those that change something run inside a transaction of the committer and return the
names of the files that nothing refers to any more; the caller unlinks them after the commit.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import replace

from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.model import Attributes, Bucket, ObjectInfo, Pairs, Segment

_TABLES = """
CREATE TABLE buckets (
    name TEXT PRIMARY KEY, created_ms INTEGER NOT NULL, acl TEXT NOT NULL, storage_class TEXT NOT NULL,
    redundancy TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE objects (
    id INTEGER PRIMARY KEY, bucket TEXT NOT NULL REFERENCES buckets, key TEXT NOT NULL, kind TEXT NOT NULL,
    size INTEGER NOT NULL, etag TEXT NOT NULL, crc64 TEXT NOT NULL, modified_ms INTEGER NOT NULL, headers TEXT NOT NULL,
    tags TEXT NOT NULL, acl TEXT NOT NULL, storage_class TEXT NOT NULL, target TEXT NOT NULL, UNIQUE (bucket, key)
);
CREATE TABLE segments (
    object INTEGER NOT NULL REFERENCES objects ON DELETE CASCADE, number INTEGER NOT NULL, blob TEXT NOT NULL,
    size INTEGER NOT NULL, data BLOB, PRIMARY KEY (object, number)
);
CREATE TABLE uploads (
    id TEXT PRIMARY KEY, bucket TEXT NOT NULL REFERENCES buckets, key TEXT NOT NULL, initiated_ms INTEGER NOT NULL,
    headers TEXT NOT NULL, tags TEXT NOT NULL, acl TEXT NOT NULL, storage_class TEXT NOT NULL, forbid INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX uploads_by_key ON uploads (bucket, key, id);
CREATE TABLE parts (
    upload TEXT NOT NULL REFERENCES uploads ON DELETE CASCADE, number INTEGER NOT NULL, blob TEXT NOT NULL,
    size INTEGER NOT NULL, data BLOB, etag TEXT NOT NULL, crc64 TEXT NOT NULL, modified_ms INTEGER NOT NULL,
    PRIMARY KEY (upload, number)
)
"""

_LIFECYCLES = """
CREATE TABLE lifecycles (
    bucket TEXT PRIMARY KEY REFERENCES buckets ON DELETE CASCADE, document BLOB NOT NULL
) WITHOUT ROWID
"""

# MIGRATIONS[n] leads from schema n to n + 1; only ever add one at the end.
MIGRATIONS = (_TABLES, _LIFECYCLES)

_OBJECT = "bucket, key, kind, size, etag, crc64, modified_ms, headers, tags, acl, storage_class, target, id"


def live_blobs(connection: sqlite3.Connection) -> set[str]:
    """Return the names of all files that rows name."""
    rows = connection.execute("SELECT blob FROM segments UNION ALL SELECT blob FROM parts")
    return {row[0] for row in rows if row[0]}


def insert_bucket(connection: sqlite3.Connection, bucket: Bucket) -> None:
    """Add a bucket; one that is there already stays as it is, since all buckets have one owner."""
    values = (bucket.name, bucket.created_ms, bucket.acl, bucket.storage_class, bucket.redundancy)
    connection.execute("INSERT INTO buckets VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", values)


def bucket_named(connection: sqlite3.Connection, name: str) -> Bucket:
    """Return a bucket; `NoSuchBucket` when there is none."""
    row = connection.execute("SELECT * FROM buckets WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise ApiError("NoSuchBucket", BucketName=name)
    return Bucket(*row)


def all_buckets(connection: sqlite3.Connection) -> list[Bucket]:
    """Return every bucket, by name."""
    return [Bucket(*row) for row in connection.execute("SELECT * FROM buckets ORDER BY name")]


def delete_bucket(connection: sqlite3.Connection, name: str) -> None:
    """Remove an empty bucket; `BucketNotEmpty` while it has objects or uploads under way."""
    bucket_named(connection, name)
    for table in ("objects", "uploads"):
        if connection.execute(f"SELECT 1 FROM {table} WHERE bucket = ? LIMIT 1", (name,)).fetchone():  # noqa: S608
            raise ApiError("BucketNotEmpty", BucketName=name)
    connection.execute("DELETE FROM buckets WHERE name = ?", (name,))


def set_bucket_acl(connection: sqlite3.Connection, name: str, acl: str) -> None:
    """Change the ACL of a bucket; `NoSuchBucket` when there is none."""
    bucket_named(connection, name)
    connection.execute("UPDATE buckets SET acl = ? WHERE name = ?", (acl, name))


def lifecycle_of(connection: sqlite3.Connection, name: str) -> bytes:
    """Return the rules a bucket was given, as XML; empty without any. `NoSuchBucket` when there is none."""
    bucket_named(connection, name)
    row = connection.execute("SELECT document FROM lifecycles WHERE bucket = ?", (name,)).fetchone()
    return b"" if row is None else bytes(row[0])


def set_lifecycle(connection: sqlite3.Connection, name: str, rules: bytes) -> None:
    """Keep the rules of a bucket, or forget them when `rules` is empty; `NoSuchBucket` when there is none."""
    bucket_named(connection, name)
    connection.execute("DELETE FROM lifecycles WHERE bucket = ?", (name,))
    if rules:
        connection.execute("INSERT INTO lifecycles VALUES (?, ?)", (name, rules))


def bucket_totals(connection: sqlite3.Connection, name: str) -> tuple[int, int, int]:
    """Return how many bytes, objects and uploads under way a bucket has."""
    bucket_named(connection, name)
    size, objects = connection.execute(
        "SELECT coalesce(sum(size), 0), count(*) FROM objects WHERE bucket = ?", (name,)
    ).fetchone()
    uploads = connection.execute("SELECT count(*) FROM uploads WHERE bucket = ?", (name,)).fetchone()[0]
    return size, objects, uploads


def find_object(connection: sqlite3.Connection, bucket: str, key: str) -> ObjectInfo | None:
    """Return an object, or None; `NoSuchBucket` when the bucket is missing."""
    query = f"SELECT {_OBJECT} FROM objects WHERE bucket = ? AND key = ?"  # noqa: S608 - constants only
    row = connection.execute(query, (bucket, key)).fetchone()
    if row is None:
        bucket_named(connection, bucket)
        return None
    return _object(row)


def object_named(connection: sqlite3.Connection, bucket: str, key: str) -> ObjectInfo:
    """Return an object; `NoSuchKey` or `NoSuchBucket` when it is missing."""
    found = find_object(connection, bucket, key)
    if found is None:
        raise ApiError("NoSuchKey", Key=key)
    return found


def segments_of(connection: sqlite3.Connection, found: ObjectInfo) -> tuple[Segment, ...]:
    """Return the runs of bytes that make up an object, in order."""
    rows = connection.execute("SELECT blob, size, data FROM segments WHERE object = ? ORDER BY number", (found.id,))
    return tuple(Segment(*row) for row in rows)


def objects_from(connection: sqlite3.Connection, bucket: str, start: str, inclusive: bool) -> Iterator[ObjectInfo]:
    """Yield the objects of a bucket from key `start` on, sorted by key."""
    bound = ">=" if inclusive else ">"
    query = f"SELECT {_OBJECT} FROM objects WHERE bucket = ? AND key {bound} ? ORDER BY key"  # noqa: S608 - constants
    for row in connection.execute(query, (bucket, start)):
        yield _object(row)


def check_free(connection: sqlite3.Connection, bucket: str, key: str) -> None:
    """Raise `FileAlreadyExists` when the object is there; the check of `x-oss-forbid-overwrite`."""
    if find_object(connection, bucket, key) is not None:
        raise ApiError("FileAlreadyExists", Key=key)


def put_object(
    connection: sqlite3.Connection, new: ObjectInfo, segments: Iterable[Segment], *, forbid: bool = False
) -> tuple[ObjectInfo, list[str]]:
    """Put an object in place of what is there; return it with its id, and the files of the one it replaced.

    `forbid` refuses to replace: `FileAlreadyExists`. Raises `NoSuchBucket`.
    """
    if forbid:
        check_free(connection, new.bucket, new.key)
    _, dead = delete_object(connection, new.bucket, new.key)
    attributes = new.attributes
    values = (
        *(new.bucket, new.key, new.kind, new.size, new.etag, str(new.crc64), new.modified_ms),
        *(
            json.dumps(attributes.headers),
            json.dumps(attributes.tags),
            attributes.acl,
            attributes.storage_class,
            new.target,
        ),
    )
    marks = ", ".join("?" * len(values))
    query = f"INSERT INTO objects ({_OBJECT.removesuffix(', id')}) VALUES ({marks})"  # noqa: S608 - constants only
    number = connection.execute(query, values).lastrowid or 0
    rows = [(number, position, each.blob, each.size, each.data) for position, each in enumerate(segments)]
    connection.executemany("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", rows)
    return replace(new, id=number), dead


def extend_object(connection: sqlite3.Connection, new: ObjectInfo, segment: Segment) -> None:
    """Store the new size, ETag, CRC and time of an appendable object and the run that was added to it."""
    connection.execute(
        "UPDATE objects SET size = ?, etag = ?, crc64 = ?, modified_ms = ? WHERE id = ?",
        (new.size, new.etag, str(new.crc64), new.modified_ms, new.id),
    )
    number = connection.execute("SELECT count(*) FROM segments WHERE object = ?", (new.id,)).fetchone()[0]
    values = (new.id, number, segment.blob, segment.size, segment.data)
    connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", values)


def set_attributes(
    connection: sqlite3.Connection, found: ObjectInfo, *, tags: Pairs | None = None, acl: str = ""
) -> None:
    """Change tags or ACL of an object, without changing when it was modified."""
    if tags is not None:
        connection.execute("UPDATE objects SET tags = ? WHERE id = ?", (json.dumps(tags), found.id))
    if acl:
        connection.execute("UPDATE objects SET acl = ? WHERE id = ?", (acl, found.id))


def delete_object(connection: sqlite3.Connection, bucket: str, key: str) -> tuple[bool, list[str]]:
    """Remove an object; return whether it was there, and its files. `NoSuchBucket` when the bucket is missing."""
    found = find_object(connection, bucket, key)
    if found is None:
        return False, []
    dead = [segment.blob for segment in segments_of(connection, found)]
    connection.execute("DELETE FROM objects WHERE id = ?", (found.id,))
    return True, dead


def attributes_from(headers: str, tags: str, acl: str, storage_class: str) -> Attributes:
    """Return attributes from their columns."""
    return Attributes(pairs_from(headers), pairs_from(tags), acl, storage_class)


def pairs_from(text: str) -> Pairs:
    """Return pairs from their JSON column."""
    return tuple((name, value) for name, value in json.loads(text))


def _object(row: sqlite3.Row) -> ObjectInfo:
    return ObjectInfo(
        row["bucket"],
        row["key"],
        row["kind"],
        row["size"],
        row["etag"],
        int(row["crc64"]),
        row["modified_ms"],
        attributes_from(row["headers"], row["tags"], row["acl"], row["storage_class"]),
        row["target"],
        row["id"],
    )
