"""Multipart uploads: start, parts (sent or copied), complete, abort, and both listings."""

from __future__ import annotations

from local_sim.services.oss.attributes import forbids_overwrite, from_headers
from local_sim.services.oss.conditions import Span, iso_date, parse_range
from local_sim.services.oss.context import Context, in_thread
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.markup import Element, Node, parse
from local_sim.services.oss.model import Part, Upload, Written
from local_sim.services.oss.names import integer
from local_sim.services.oss.operations.listings import Encoding
from local_sim.services.oss.operations.writes import open_source, stored_headers
from local_sim.services.oss.reader import ObjectReader
from local_sim.services.oss.response import Response, xml
from local_sim.services.oss.uploads import MAX_PART_NUMBER

MAX_PAGE = 1000


async def initiate(context: Context) -> Response:
    """Start an upload; answer with its id."""
    bucket, key = context.request.object_name()
    attributes, forbid = from_headers(context.request), forbids_overwrite(context.request)
    await context.read_xml()
    encoding = Encoding(context.request, [key])
    upload = await in_thread(
        context.store.uploads.create, bucket, key, attributes, now_ms=context.now_ms, forbid=forbid
    )
    elements = [
        *encoding.note(),
        Element("Bucket", bucket),
        encoding.element("Key", key),
        Element("UploadId", upload.id),
    ]
    return xml(Element("InitiateMultipartUploadResult", elements))


async def upload_part(context: Context) -> Response:
    """Store the body as a part."""
    bucket, key = context.request.object_name()
    upload_id, number = context.request.param("uploadId"), _part_number(context)
    context.store.uploads.find(bucket, key, upload_id)
    written = await context.receive()
    part = await in_thread(
        context.store.uploads.put_part, bucket, key, upload_id, number, written, now_ms=context.now_ms
    )
    return Response(200, (("etag", f'"{part.etag}"'), ("x-oss-hash-crc64ecma", str(part.crc64))))


async def copy_part(context: Context) -> Response:
    """Store a range of another object as a part."""
    bucket, key = context.request.object_name()
    upload_id, number = context.request.param("uploadId"), _part_number(context)
    context.store.uploads.find(bucket, key, upload_id)
    await context.read_xml()
    with open_source(context) as source:
        span = parse_range(context.request.headers.get("x-oss-copy-source-range"), source.info.size)
        written = await in_thread(_write_span, context, source, span or Span(0, source.info.size))
    part = await in_thread(
        context.store.uploads.put_part, bucket, key, upload_id, number, written, now_ms=context.now_ms
    )
    elements = [Element("LastModified", iso_date(part.modified_ms)), Element("ETag", f'"{part.etag}"')]
    return xml(Element("CopyPartResult", elements), (("etag", f'"{part.etag}"'),))


def _write_span(context: Context, source: ObjectReader, span: Span) -> Written:
    writer = context.store.write()
    try:
        for data in source.chunks(span.start, span.stop):
            writer.write(data)
        return writer.seal()
    except BaseException:
        writer.abandon()
        raise


def _part_number(context: Context) -> int:
    return integer(context.request.param("partNumber"), "partNumber", 1, MAX_PART_NUMBER)


async def complete(context: Context) -> Response:
    """Join the parts named in the body, or all of them with `x-oss-complete-all: yes`."""
    request = context.request
    bucket, key = request.object_name()
    forbid, body = forbids_overwrite(request), await context.read_xml()
    wanted = _wanted(request.header("x-oss-complete-all"), body)
    encoding = Encoding(request, [key])
    info = await in_thread(
        context.store.uploads.complete,
        *(bucket, key, request.param("uploadId"), wanted),
        now_ms=context.now_ms,
        forbid=forbid,
    )
    elements = [
        *encoding.note(),
        Element("Location", f"http://{request.header('host')}/{bucket}/{encoding.text(key)}"),
        Element("Bucket", bucket),
        encoding.element("Key", key),
        Element("ETag", f'"{info.etag}"'),
    ]
    return xml(Element("CompleteMultipartUploadResult", elements), stored_headers(info))


def _wanted(complete_all: str, body: bytes) -> list[tuple[int, str]] | None:
    if complete_all:
        if complete_all.lower() != "yes" or body:
            message = "x-oss-complete-all must be yes, with no body."
            raise ApiError("InvalidArgument", message, ArgumentName="x-oss-complete-all", ArgumentValue=complete_all)
        return None
    return [_named_part(node) for node in parse(body, "CompleteMultipartUpload").all("Part")]


def _named_part(node: Node) -> tuple[int, str]:
    return integer(node.value("PartNumber").strip(), "PartNumber", 1, MAX_PART_NUMBER), node.value("ETag").strip()


async def abort(context: Context) -> Response:
    """Drop an upload and its parts."""
    await in_thread(context.store.uploads.abort, *context.request.object_name(), context.request.param("uploadId"))
    return Response(204)


async def list_parts(context: Context) -> Response:
    """Answer with the parts uploaded so far, from `part-number-marker` on."""
    request = context.request
    bucket, key = request.object_name()
    upload_id = request.param("uploadId")
    limit = integer(request.param("max-parts") or str(MAX_PAGE), "max-parts", 1, MAX_PAGE)
    marker = integer(request.param("part-number-marker") or "0", "part-number-marker", 0, 2**31 - 1)
    parts = [part for part in context.store.uploads.parts(bucket, key, upload_id) if part.number > marker]
    shown, truncated = parts[:limit], len(parts) > limit
    encoding = Encoding(request, [key])
    elements = [
        *encoding.note(),
        Element("Bucket", bucket),
        encoding.element("Key", key),
        Element("UploadId", upload_id),
        Element("StorageClass", context.store.uploads.find(bucket, key, upload_id).attributes.storage_class),
        Element("PartNumberMarker", marker),
        Element("NextPartNumberMarker", shown[-1].number if shown else marker),
        Element("MaxParts", limit),
        Element("IsTruncated", str(truncated).lower()),
        *(Element("Part", _part(part)) for part in shown),
    ]
    return xml(Element("ListPartsResult", elements))


def _part(part: Part) -> list[Element]:
    return [
        Element("PartNumber", part.number),
        Element("LastModified", iso_date(part.modified_ms)),
        Element("ETag", f'"{part.etag}"'),
        Element("Size", part.size),
        Element("HashCrc64ecma", str(part.crc64)),
    ]


async def list_uploads(context: Context) -> Response:
    """Answer with the uploads under way, from the markers on, grouped by `delimiter`."""
    request = context.request
    bucket, prefix, delimiter = request.bucket_name(), request.param("prefix"), request.param("delimiter")
    key_marker, id_marker = request.param("key-marker"), request.param("upload-id-marker")
    limit = integer(request.param("max-uploads") or str(MAX_PAGE), "max-uploads", 1, MAX_PAGE)
    after = (key_marker, id_marker or "\U0010ffff") if key_marker else ("", "")
    uploads = [each for each in context.store.uploads.all(bucket) if each.key.startswith(prefix)]
    shown, groups, last = _grouped(uploads, prefix, delimiter, after, limit)
    truncated = last is not None
    encoding = Encoding(request, [*groups, *(each.key for each in shown)])
    next_key, next_id = last or ("", "")
    elements = [
        *encoding.note(),
        Element("Bucket", bucket),
        encoding.element("KeyMarker", key_marker),
        Element("UploadIdMarker", id_marker),
        encoding.element("NextKeyMarker", next_key),
        Element("NextUploadIdMarker", next_id),
        encoding.element("Delimiter", delimiter),
        encoding.element("Prefix", prefix),
        Element("MaxUploads", limit),
        Element("IsTruncated", str(truncated).lower()),
        *(Element("Upload", _upload(encoding, each)) for each in shown),
        *(Element("CommonPrefixes", [encoding.element("Prefix", group)]) for group in groups),
    ]
    return xml(Element("ListMultipartUploadsResult", elements))


def _grouped(
    uploads: list[Upload], prefix: str, delimiter: str, after: tuple[str, str], limit: int
) -> tuple[list[Upload], list[str], tuple[str, str] | None]:
    """Return uploads and common prefixes of one page, and where the next page starts when there is one."""
    shown: list[Upload] = []
    groups: list[str] = []
    last = after
    for each in uploads:
        at = each.key.find(delimiter, len(prefix)) if delimiter else -1
        group = each.key[: at + len(delimiter)] if at >= 0 else None
        if (each.key, each.id) <= after or (group is not None and (group in groups or after[0].startswith(group))):
            continue
        if len(shown) + len(groups) == limit:
            return shown, groups, last
        if group is None:
            shown.append(each)
            last = (each.key, each.id)
        else:
            groups.append(group)
            last = (group, "")
    return shown, groups, None


def _upload(encoding: Encoding, upload: Upload) -> list[Element]:
    return [
        encoding.element("Key", upload.key),
        Element("UploadId", upload.id),
        Element("StorageClass", upload.attributes.storage_class),
        Element("Initiated", iso_date(upload.initiated_ms)),
    ]
