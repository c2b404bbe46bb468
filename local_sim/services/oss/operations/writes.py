"""PutObject, AppendObject, CopyObject, DeleteObject, DeleteMultipleObjects, and changes of ACL, tags and links."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote_to_bytes

from local_sim.services.oss.attributes import forbids_overwrite, from_headers, tags_from_header, tags_from_xml
from local_sim.services.oss.conditions import check_read, iso_date
from local_sim.services.oss.context import Context, in_thread
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.index import check_free
from local_sim.services.oss.markup import Element, Node, parse
from local_sim.services.oss.model import SYMLINK, Attributes, ObjectInfo
from local_sim.services.oss.names import OBJECT_ACLS, boolean, check_bucket, check_key, integer, one_of
from local_sim.services.oss.operations.listings import Encoding
from local_sim.services.oss.reader import ObjectReader
from local_sim.services.oss.request import Request
from local_sim.services.oss.response import Response, xml

MAX_DELETES = 1000
MAX_COPY_BYTES = 5 * 1024**3


async def put_object(context: Context) -> Response:
    """Store the body as an object."""
    bucket, key = context.request.object_name()
    attributes, forbid = from_headers(context.request), forbids_overwrite(context.request)
    _check_early(context, bucket, key, forbid)
    written = await context.receive()
    info = await in_thread(context.store.put, bucket, key, written, attributes, now_ms=context.now_ms, forbid=forbid)
    return Response(200, stored_headers(info))


def _check_early(context: Context, bucket: str, key: str, forbid: bool) -> None:
    """Refuse before the body is stored what would be refused afterwards; the commit still decides."""
    if forbid:
        check_free(context.store.connection(), bucket, key)
    else:
        context.store.bucket(bucket)


def stored_headers(info: ObjectInfo) -> tuple[tuple[str, str], ...]:
    """Return the headers that answer a write: ETag and CRC64."""
    return (("etag", f'"{info.etag}"'), ("x-oss-hash-crc64ecma", str(info.crc64)))


async def append_object(context: Context) -> Response:
    """Add the body to the end of an appendable object."""
    bucket, key = context.request.object_name()
    if not context.request.has("position"):
        raise ApiError("MissingArgument", "position is required.", ArgumentName="position")
    position = integer(context.request.param("position"), "position", 0, 2**63 - 1)
    attributes = from_headers(context.request)
    _check_early(context, bucket, key, forbid=False)
    written = await context.receive()
    info = await in_thread(context.store.append, bucket, key, position, written, attributes, now_ms=context.now_ms)
    return Response(200, (*stored_headers(info), ("x-oss-next-append-position", str(info.size))))


async def copy_object(context: Context) -> Response:
    """Make an object out of another one, with its metadata or new."""
    request = context.request
    bucket, key = request.object_name()
    forbid = forbids_overwrite(request)
    await context.read_xml()
    with open_source(context) as source:
        attributes = _copied_attributes(request, source.info)
        info = await in_thread(
            context.store.copy, source, bucket, key, attributes, now_ms=context.now_ms, forbid=forbid
        )
    elements = [Element("ETag", f'"{info.etag}"'), Element("LastModified", iso_date(info.modified_ms))]
    return xml(Element("CopyObjectResult", elements), stored_headers(info))


def open_source(context: Context) -> ObjectReader:
    """Open what `x-oss-copy-source` names, after its conditional headers held."""
    headers = context.request.headers
    reader = context.store.open(*copy_source(context.request))
    try:
        if reader.info.kind == SYMLINK:
            raise ApiError("NotImplemented", "local_sim does not copy symbolic links; copy their target.")
        if reader.info.size > MAX_COPY_BYTES:
            raise ApiError("EntityTooLarge", MaxSizeAllowed=MAX_COPY_BYTES)
        check_read(headers, reader.info.etag, reader.info.modified_ms, "x-oss-copy-source-")
    except BaseException:
        reader.close()
        raise
    return reader


def copy_source(request: Request) -> tuple[str, str]:
    """Return bucket and key of `x-oss-copy-source: /bucket/percent-encoded-key`.

    `InvalidArgument` when it is not that.
    """
    path, _, query = request.header("x-oss-copy-source").partition("?")
    if query not in {"", "versionId=null"}:
        raise ApiError("NotImplemented", "local_sim keeps no versions.")
    try:
        bucket, slash, key = unquote_to_bytes(path.encode("latin-1")).decode().removeprefix("/").partition("/")
    except UnicodeError:
        bucket, slash, key = "", "", ""
    if not (bucket and slash and key):
        message = "x-oss-copy-source must be /bucket/key, percent-encoded."
        raise ApiError("InvalidArgument", message, ArgumentName="x-oss-copy-source", ArgumentValue=path)
    return check_bucket(bucket), check_key(key)


def _copied_attributes(request: Request, source: ObjectInfo) -> Attributes:
    new = from_headers(request)
    meta = _directive(request, "x-oss-metadata-directive")
    tagging = _directive(request, "x-oss-tagging-directive")
    # A copy onto itself is how metadata is changed, whatever the directive says (O11).
    if meta == "COPY" and (source.bucket, source.key) != (request.bucket, request.key):
        new = replace(new, headers=source.attributes.headers)
    if tagging == "COPY":
        return replace(new, tags=source.attributes.tags)
    return replace(new, tags=tags_from_header(request.header("x-oss-tagging")))


def _directive(request: Request, name: str) -> str:
    return one_of(frozenset({"COPY", "REPLACE"}), request.header(name, "COPY").upper(), name)


async def delete_object(context: Context) -> Response:
    """Remove an object; it is fine when there is none."""
    bucket, key = context.request.object_name()
    await in_thread(context.store.delete, bucket, [key])
    return Response(204)


async def delete_objects(context: Context) -> Response:
    """Remove up to 1000 objects named in the body; answer with their keys, or with nothing when asked to be quiet."""
    bucket = context.request.bucket_name()
    root = parse(await context.read_xml(), "Delete")
    keys = [_doomed_key(node) for node in root.all("Object")]
    if not 1 <= len(keys) <= MAX_DELETES:
        raise ApiError("MalformedXML", f"A batch has 1 to {MAX_DELETES} objects.")
    encoding = Encoding(context.request, keys)
    quiet = root.get("Quiet")
    silent = boolean(quiet.text, "Quiet") if quiet else False
    await in_thread(context.store.delete, bucket, keys)
    if silent:
        return Response()
    deleted = [Element("Deleted", [encoding.element("Key", key)]) for key in keys]
    return xml(Element("DeleteResult", [*encoding.note(), *deleted]))


def _doomed_key(node: Node) -> str:
    version = node.get("VersionId")
    if version is not None and version.text != "null":
        raise ApiError("NotImplemented", "local_sim keeps no versions.")
    return check_key(node.value("Key"))


async def put_acl(context: Context) -> Response:
    """Change the ACL of an object to `x-oss-object-acl`."""
    acl = one_of(OBJECT_ACLS, context.request.header("x-oss-object-acl"), "x-oss-object-acl")
    await context.read_xml()
    await in_thread(context.store.set_attributes, *context.request.object_name(), acl=acl)
    return Response()


async def put_tagging(context: Context) -> Response:
    """Replace the tags of an object by those in the body."""
    tags = tags_from_xml(parse(await context.read_xml(), "Tagging"))
    await in_thread(context.store.set_attributes, *context.request.object_name(), tags=tags)
    return Response()


async def delete_tagging(context: Context) -> Response:
    """Remove the tags of an object."""
    await in_thread(context.store.set_attributes, *context.request.object_name(), tags=())
    return Response(204)


async def put_symlink(context: Context) -> Response:
    """Make a symbolic link to the key in `x-oss-symlink-target`."""
    bucket, key = context.request.object_name()
    try:
        target = unquote_to_bytes(context.request.header("x-oss-symlink-target").encode("latin-1")).decode()
    except UnicodeError:
        target = ""
    attributes, forbid = from_headers(context.request), forbids_overwrite(context.request)
    await context.read_xml()
    await in_thread(
        context.store.put_symlink, bucket, key, check_key(target), attributes, now_ms=context.now_ms, forbid=forbid
    )
    return Response()
