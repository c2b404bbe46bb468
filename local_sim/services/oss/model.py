"""The things OSS keeps: buckets, objects, uploads and parts. Times are milliseconds since the epoch, sizes bytes."""

from __future__ import annotations

from dataclasses import dataclass

Pairs = tuple[tuple[str, str], ...]

NORMAL, MULTIPART, APPENDABLE, SYMLINK = "Normal", "Multipart", "Appendable", "Symlink"


@dataclass(frozen=True)
class Bucket:
    """A bucket. `redundancy` is `LRS` or `ZRS`."""

    name: str
    created_ms: int
    acl: str = "private"
    storage_class: str = "Standard"
    redundancy: str = "LRS"


@dataclass(frozen=True)
class Attributes:
    """What a client says about an object besides its content.

    `headers` holds the stored HTTP headers (`content-type`, `x-oss-meta-*`, ...), names in lower case, values in
    latin-1 as they came over the wire. `acl` may be `default`, which means the bucket's.
    """

    headers: Pairs = ()
    tags: Pairs = ()
    acl: str = "default"
    storage_class: str = "Standard"


@dataclass(frozen=True)
class Segment:
    """A run of an object's bytes: kept in the file named `blob` or, when small, in the row (`data`, no `blob`)."""

    blob: str
    size: int
    data: bytes | None = None


@dataclass(frozen=True)
class Written:
    """Bytes that are ready to be named by a row: a durable file, or `data` in memory when they are few.

    With their size, MD5 digest (16 bytes) and CRC64.
    """

    blob: str
    size: int
    md5: bytes
    crc64: int
    data: bytes | None = None

    @property
    def segment(self) -> Segment:
        """Return these bytes as a run of an object."""
        return Segment(self.blob, self.size, self.data)

    @property
    def etag(self) -> str:
        """Return the ETag of these bytes: upper-case hex MD5, without quotes."""
        return self.md5.hex().upper()


@dataclass(frozen=True)
class ObjectInfo:
    """An object without its bytes. `target` is the key a symbolic link points to."""

    bucket: str
    key: str
    kind: str
    size: int
    etag: str
    crc64: int
    modified_ms: int
    attributes: Attributes
    target: str = ""
    id: int = 0


@dataclass(frozen=True)
class Upload:
    """A multipart upload under way. `forbid` remembers `x-oss-forbid-overwrite` of its start (O09)."""

    id: str
    bucket: str
    key: str
    initiated_ms: int
    attributes: Attributes
    forbid: bool = False


@dataclass(frozen=True)
class Part:
    """An uploaded part."""

    number: int
    segment: Segment
    etag: str
    crc64: int
    modified_ms: int

    @property
    def size(self) -> int:
        """Bytes of the part."""
        return self.segment.size
