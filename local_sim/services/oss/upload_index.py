"""The rows of multipart uploads and their parts; like `index`, functions over a connection."""

from __future__ import annotations

import json
import sqlite3

from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.index import attributes_from, bucket_named
from local_sim.services.oss.model import Part, Segment, Upload


def insert_upload(connection: sqlite3.Connection, upload: Upload) -> None:
    """Add an upload; `NoSuchBucket` when the bucket is missing."""
    bucket_named(connection, upload.bucket)
    attributes = upload.attributes
    connection.execute(
        "INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(upload.id, upload.bucket, upload.key, upload.initiated_ms, json.dumps(attributes.headers)),
            *(json.dumps(attributes.tags), attributes.acl, attributes.storage_class, upload.forbid),
        ),
    )


def upload_named(connection: sqlite3.Connection, bucket: str, key: str, upload_id: str) -> Upload:
    """Return an upload of that very object; `NoSuchBucket` or `NoSuchUpload` when there is none."""
    row = connection.execute(
        "SELECT * FROM uploads WHERE id = ? AND bucket = ? AND key = ?", (upload_id, bucket, key)
    ).fetchone()
    if row is None:
        bucket_named(connection, bucket)
        raise ApiError("NoSuchUpload", UploadId=upload_id)
    return _upload(row)


def uploads_of(connection: sqlite3.Connection, bucket: str) -> list[Upload]:
    """Return the uploads of a bucket that are under way, by key and id."""
    bucket_named(connection, bucket)
    rows = connection.execute("SELECT * FROM uploads WHERE bucket = ? ORDER BY key, id", (bucket,))
    return [_upload(row) for row in rows]


def parts_of(connection: sqlite3.Connection, upload_id: str) -> list[Part]:
    """Return the parts uploaded so far, by number."""
    query = "SELECT * FROM parts WHERE upload = ? ORDER BY number"
    rows = connection.execute(query, (upload_id,))
    return [_part(row) for row in rows]


def put_part(connection: sqlite3.Connection, upload_id: str, part: Part) -> list[str]:
    """Put a part in place of what is there; return the files of the one it replaced."""
    where = (upload_id, part.number)
    dead = connection.execute("SELECT blob FROM parts WHERE upload = ? AND number = ?", where).fetchall()
    connection.execute(
        "INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (*where, part.segment.blob, part.size, part.segment.data, part.etag, str(part.crc64), part.modified_ms),
    )
    return [row[0] for row in dead]


def delete_upload(connection: sqlite3.Connection, upload_id: str) -> list[str]:
    """Remove an upload and its parts; return the files of the parts."""
    dead = [part.segment.blob for part in parts_of(connection, upload_id)]
    connection.execute("DELETE FROM uploads WHERE id = ?", (upload_id,))
    return dead


def _part(row: sqlite3.Row) -> Part:
    segment = Segment(row["blob"], row["size"], row["data"])
    return Part(row["number"], segment, row["etag"], int(row["crc64"]), row["modified_ms"])


def _upload(row: sqlite3.Row) -> Upload:
    attributes = attributes_from(row["headers"], row["tags"], row["acl"], row["storage_class"])
    return Upload(row["id"], row["bucket"], row["key"], row["initiated_ms"], attributes, bool(row["forbid"]))
