"""Attributes of an object from request headers: stored headers, metadata, tags, ACL and storage class."""

from __future__ import annotations

from urllib.parse import unquote_plus

from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.markup import Node
from local_sim.services.oss.model import Attributes, Pairs
from local_sim.services.oss.names import OBJECT_ACLS, STORAGE_CLASSES, boolean, one_of
from local_sim.services.oss.request import Request

MAX_META_BYTES = 8 * 1024
MAX_TAGS = 10

_STORED = ("content-type", "cache-control", "content-disposition", "content-encoding", "content-language", "expires")
_META = "x-oss-meta-"
_UNSUPPORTED = (
    "if-match",
    "if-none-match",
    "x-oss-callback",
    "x-oss-object-worm-legal-hold",
    "x-oss-object-worm-mode",
    "x-oss-server-side-encryption",
    "x-oss-server-side-data-encryption",
    "x-oss-server-side-encryption-key-id",
)


def from_headers(request: Request) -> Attributes:
    """Return the attributes a put, append, copy or multipart start asks for.

    Raises `InvalidArgument`, `InvalidTag`, or `NotImplemented` for headers that promise something local_sim does not
    do (O10).
    """
    for name in _UNSUPPORTED:
        if name in request.headers:
            raise ApiError("NotImplemented", f"local_sim does not offer the header {name} here.", Header=name)
    return Attributes(
        stored_headers(request),
        tags_from_header(request.header("x-oss-tagging")),
        one_of(OBJECT_ACLS, request.header("x-oss-object-acl", "default"), "x-oss-object-acl"),
        one_of(STORAGE_CLASSES, request.header("x-oss-storage-class", "Standard"), "x-oss-storage-class"),
    )


def stored_headers(request: Request) -> Pairs:
    """Return the headers that are kept with the object and given back by get and head."""
    stored = {name: request.headers[name] for name in _STORED if name in request.headers}
    meta = {name: value for name, value in request.headers.items() if name.startswith(_META)}
    if sum(len(name) + len(value) for name, value in meta.items()) > MAX_META_BYTES:
        raise ApiError("InvalidArgument", f"The user metadata is larger than {MAX_META_BYTES} bytes.")
    stored.setdefault("content-type", "application/octet-stream")
    return tuple(sorted({**stored, **meta}.items()))


def forbids_overwrite(request: Request) -> bool:
    """Return whether `x-oss-forbid-overwrite` is true; `InvalidArgument` when it is neither true nor false."""
    return boolean(request.header("x-oss-forbid-overwrite", "false"), "x-oss-forbid-overwrite")


def tags_from_header(text: str) -> Pairs:
    """Return the tags of `x-oss-tagging: a=1&b=2`."""
    pairs = (word.partition("=") for word in text.split("&") if word)
    try:
        return check_tags(
            tuple((unquote_plus(key, errors="strict"), unquote_plus(value, errors="strict")) for key, _, value in pairs)
        )
    except UnicodeDecodeError:
        raise ApiError("InvalidTag", "The tags are not encoded in UTF-8.") from None


def tags_from_xml(root: Node) -> Pairs:
    """Return the tags of a `<Tagging>` body."""
    tag_set = root.get("TagSet")
    if tag_set is None:
        raise ApiError("MalformedXML", "<Tagging> must have <TagSet>.")
    return check_tags(tuple((tag.value("Key"), tag.value("Value")) for tag in tag_set.all("Tag")))


def check_tags(tags: Pairs) -> Pairs:
    """Return tags in order of their keys; `InvalidTag` for more than 10, doubles, or lengths out of bounds."""
    keys = [key for key, _ in tags]
    if len(tags) > MAX_TAGS:
        raise ApiError("InvalidTag", f"An object can have at most {MAX_TAGS} tags.")
    if len(set(keys)) < len(keys):
        raise ApiError("InvalidTag", "A tag key is given twice.")
    if any(not 1 <= len(key) <= 128 or len(value) > 256 for key, value in tags):
        raise ApiError("InvalidTag", "A tag key must have 1 to 128 and a tag value 0 to 256 characters.")
    return tuple(sorted(tags))
