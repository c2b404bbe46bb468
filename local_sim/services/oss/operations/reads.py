"""GetObject, HeadObject, GetObjectMeta, and what is asked about an object: ACL, tags, symbolic link."""

from __future__ import annotations

import base64
from dataclasses import replace
from urllib.parse import quote

from local_sim.services.oss.conditions import Span, check_read, http_date, parse_range
from local_sim.services.oss.context import Context
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.markup import Element
from local_sim.services.oss.model import SYMLINK, ObjectInfo, Pairs
from local_sim.services.oss.operations.buckets import acl_document
from local_sim.services.oss.reader import ObjectReader
from local_sim.services.oss.request import Request
from local_sim.services.oss.response import Response, Stream, xml

_OVERRIDES = (
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-type",
    "expires",
)


async def get_object(context: Context) -> Response:
    """Answer with an object or a range of it."""
    reader = open_followed(context)
    try:
        response = describe(context.request, reader.info)
        span = parse_range(context.request.headers.get("range"), reader.info.size)
        if span is None:
            return replace(response, body=Stream(reader, Span(0, reader.info.size)))
        content_range = ("content-range", f"bytes {span.start}-{span.stop - 1}/{reader.info.size}")
        return Response(206, (*response.headers, content_range), Stream(reader, span))
    except BaseException:
        reader.close()
        raise


async def head_object(context: Context) -> Response:
    """Answer with the headers of an object."""
    return await get_object(context)


async def head_meta(context: Context) -> Response:
    """Answer with ETag, size and time of an object only."""
    reader = context.store.open(*context.request.object_name())
    headers = (("etag", f'"{reader.info.etag}"'), ("last-modified", http_date(reader.info.modified_ms)))
    return Response(200, headers, Stream(reader, Span(0, reader.info.size)))


async def get_acl(context: Context) -> Response:
    """Answer with the ACL of an object."""
    return acl_document(context.store.find(*context.request.object_name()).attributes.acl)


async def get_tagging(context: Context) -> Response:
    """Answer with the tags of an object."""
    tags = context.store.find(*context.request.object_name()).attributes.tags
    elements = [Element("Tag", [Element("Key", key), Element("Value", value)]) for key, value in tags]
    return xml(Element("Tagging", [Element("TagSet", elements)]))


async def get_symlink(context: Context) -> Response:
    """Answer with the target of a symbolic link, in a header."""
    info = context.store.find(*context.request.object_name())
    if info.kind != SYMLINK:
        raise ApiError("NotSymlink", Key=info.key)
    target = ("x-oss-symlink-target", quote(info.target, safe=""))
    return Response(200, (target, *_state(info), *_user_meta(info)))


def open_followed(context: Context) -> ObjectReader:
    """Open the requested object; a symbolic link opens its target, shown under the link's own metadata.

    Raises `SymlinkTargetNotExist` or `InvalidTargetType` for links that lead nowhere or to another link.
    """
    bucket, key = context.request.object_name()
    reader = context.store.open(bucket, key)
    if reader.info.kind != SYMLINK:
        return reader
    link = reader.info
    reader.close()
    try:
        target = context.store.open(bucket, link.target)
    except ApiError as error:
        if error.code != "NoSuchKey":
            raise
        raise ApiError("SymlinkTargetNotExist", SymlinkTarget=link.target) from None
    if target.info.kind == SYMLINK:
        target.close()
        raise ApiError("InvalidTargetType", SymlinkTarget=link.target)
    modified_ms = max(link.modified_ms, target.info.modified_ms)
    target.info = replace(target.info, kind=SYMLINK, attributes=link.attributes, modified_ms=modified_ms)
    return target


def describe(request: Request, info: ObjectInfo) -> Response:
    """Return the headers of an object, after its conditional headers held.

    Raises `NotModified` or `PreconditionFailed`.
    """
    check_read(request.headers, info.etag, info.modified_ms)
    stored = dict(info.attributes.headers)
    for name in _OVERRIDES:
        if value := request.param(f"response-{name}"):
            stored[name] = _header_text(value, f"response-{name}")
    if info.attributes.tags:
        stored["x-oss-tagging-count"] = str(len(info.attributes.tags))
    fixed = (
        ("accept-ranges", "bytes"),
        ("x-oss-object-type", info.kind),
        ("x-oss-storage-class", info.attributes.storage_class),
        ("x-oss-hash-crc64ecma", str(info.crc64)),
        ("content-md5", _content_md5(info)),
    )
    return Response(200, (*_state(info), *((k, v) for k, v in fixed if v), *stored.items()))


def _state(info: ObjectInfo) -> Pairs:
    return (("etag", f'"{info.etag}"'), ("last-modified", http_date(info.modified_ms)))


def _user_meta(info: ObjectInfo) -> Pairs:
    return tuple((name, value) for name, value in info.attributes.headers if name.startswith("x-oss-meta-"))


def _content_md5(info: ObjectInfo) -> str:
    """Return the base64 MD5 where the ETag is one: objects put in one go."""
    return base64.b64encode(bytes.fromhex(info.etag)).decode() if info.kind == "Normal" and "-" not in info.etag else ""


def _header_text(value: str, name: str) -> str:
    """Return `value` as header text; `InvalidArgument` for characters that would end the header."""
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ApiError("InvalidArgument", f"{name} has control characters.", ArgumentName=name)
    return value.encode().decode("latin-1")
