"""ListObjects (v1), ListObjectsV2 and the encoding of keys in answers."""

from __future__ import annotations

from urllib.parse import quote

from local_sim.services.oss.conditions import iso_date
from local_sim.services.oss.context import Context, in_thread
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.listing import Page, from_token, token
from local_sim.services.oss.markup import Element, sayable
from local_sim.services.oss.model import ObjectInfo
from local_sim.services.oss.names import MAX_KEY_BYTES, boolean, integer
from local_sim.services.oss.operations.buckets import owner
from local_sim.services.oss.request import Request
from local_sim.services.oss.response import Response, xml

MAX_KEYS = 1000


class Encoding:
    """How keys are written: as they are, or percent-encoded (`encoding-type=url`).

    Keys that XML cannot carry are percent-encoded unasked, and the answer's EncodingType says so (O06).
    """

    def __init__(self, request: Request, keys: list[str]) -> None:
        asked = request.param("encoding-type")
        if asked not in {"", "url"}:
            message = "encoding-type must be url."
            raise ApiError("InvalidArgument", message, ArgumentName="encoding-type", ArgumentValue=asked)
        self.url = asked == "url" or not all(sayable(key) for key in keys)

    def text(self, key: str) -> str:
        """Return the key as the answer writes it."""
        return quote(key, safe="") if self.url else key

    def element(self, tag: str, key: str) -> Element:
        """Return an element that holds a key."""
        return Element(tag, self.text(key))

    def note(self) -> list[Element]:
        """Return `<EncodingType>` where it applies."""
        return [Element("EncodingType", "url")] if self.url else []


async def list_objects(context: Context) -> Response:
    """Answer a listing of version 1: pages linked by markers."""
    request = context.request
    marker = _word(request, "marker")
    found = await _page(context, marker)
    encoding = _encoding(request, found)
    elements = [
        *_head(request, encoding, found),
        encoding.element("Marker", marker),
        *([encoding.element("NextMarker", found.last)] if found.truncated else []),
        *_contents(encoding, found, with_owner=True),
    ]
    return xml(Element("ListBucketResult", elements))


async def list_objects_v2(context: Context) -> Response:
    """Answer a listing of version 2: pages linked by continuation tokens; an empty token is the start."""
    request = context.request
    start_after, continuation = _word(request, "start-after"), request.param("continuation-token")
    found = await _page(context, from_token(continuation) if continuation else start_after)
    encoding = _encoding(request, found)
    elements = [
        *_head(request, encoding, found),
        encoding.element("StartAfter", start_after),
        *([Element("ContinuationToken", continuation)] if continuation else []),
        *([Element("NextContinuationToken", token(found.last))] if found.truncated else []),
        Element("KeyCount", found.count),
        *_contents(encoding, found, with_owner=boolean(request.param("fetch-owner") or "false", "fetch-owner")),
    ]
    return xml(Element("ListBucketResult", elements))


async def _page(context: Context, after: str) -> Page[ObjectInfo]:
    request = context.request
    return await in_thread(
        context.store.list_objects,
        request.bucket_name(),
        prefix=_word(request, "prefix"),
        delimiter=_word(request, "delimiter"),
        after=after,
        limit=_limit(request),
    )


def _limit(request: Request) -> int:
    return integer(request.param("max-keys") or "100", "max-keys", 1, MAX_KEYS)


def _word(request: Request, name: str) -> str:
    value = request.param(name)
    if len(value.encode()) > MAX_KEY_BYTES:
        raise ApiError("InvalidArgument", f"{name} is longer than {MAX_KEY_BYTES} bytes.", ArgumentName=name)
    return value


def _encoding(request: Request, found: Page[ObjectInfo]) -> Encoding:
    return Encoding(request, [*found.prefixes, *(row.key for row in found.rows)])


def _head(request: Request, encoding: Encoding, found: Page[ObjectInfo]) -> list[Element]:
    return [
        Element("Name", request.bucket_name()),
        encoding.element("Prefix", request.param("prefix")),
        Element("MaxKeys", _limit(request)),
        encoding.element("Delimiter", request.param("delimiter")),
        *encoding.note(),
        Element("IsTruncated", str(found.truncated).lower()),
    ]


def _contents(encoding: Encoding, found: Page[ObjectInfo], *, with_owner: bool) -> list[Element]:
    rows = [Element("Contents", _row(encoding, row, with_owner)) for row in found.rows]
    return rows + [Element("CommonPrefixes", [encoding.element("Prefix", prefix)]) for prefix in found.prefixes]


def _row(encoding: Encoding, row: ObjectInfo, with_owner: bool) -> list[Element]:
    return [
        encoding.element("Key", row.key),
        Element("LastModified", iso_date(row.modified_ms)),
        Element("ETag", f'"{row.etag}"'),
        Element("Type", row.kind),
        Element("Size", row.size),
        Element("StorageClass", row.attributes.storage_class),
        *([owner()] if with_owner else []),
    ]
