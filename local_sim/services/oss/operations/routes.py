"""Which operation a request asks for: method, whether it names bucket or object, and the query's subresource."""

from __future__ import annotations

from types import MappingProxyType

from local_sim.services.oss.context import Operation
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.operations import buckets, lifecycle, listings, multipart, reads, writes
from local_sim.services.oss.request import Request
from local_sim.services.oss.signing_v1 import SUBRESOURCES

SERVICE, BUCKET, OBJECT = "service", "bucket", "object"

# (level, method, subresource) -> operation. The subresource "" is the plain request.
_TABLE = MappingProxyType[tuple[str, str, str], Operation](
    {
        (SERVICE, "GET", ""): buckets.list_buckets,
        (BUCKET, "GET", ""): listings.list_objects,
        (BUCKET, "GET", "list-type"): listings.list_objects_v2,
        (BUCKET, "GET", "acl"): buckets.get_acl,
        (BUCKET, "GET", "bucketInfo"): buckets.get_info,
        (BUCKET, "GET", "lifecycle"): lifecycle.get_lifecycle,
        (BUCKET, "GET", "location"): buckets.get_location,
        (BUCKET, "GET", "stat"): buckets.get_stat,
        (BUCKET, "GET", "uploads"): multipart.list_uploads,
        (BUCKET, "GET", "versioning"): buckets.get_versioning,
        (BUCKET, "PUT", ""): buckets.put_bucket,
        (BUCKET, "PUT", "acl"): buckets.put_acl,
        (BUCKET, "PUT", "lifecycle"): lifecycle.put_lifecycle,
        (BUCKET, "PUT", "versioning"): buckets.put_versioning,
        (BUCKET, "POST", "delete"): writes.delete_objects,
        (BUCKET, "DELETE", ""): buckets.delete_bucket,
        (BUCKET, "DELETE", "lifecycle"): lifecycle.delete_lifecycle,
        (OBJECT, "GET", ""): reads.get_object,
        (OBJECT, "GET", "acl"): reads.get_acl,
        (OBJECT, "GET", "symlink"): reads.get_symlink,
        (OBJECT, "GET", "tagging"): reads.get_tagging,
        (OBJECT, "GET", "uploadId"): multipart.list_parts,
        (OBJECT, "HEAD", ""): reads.head_object,
        (OBJECT, "HEAD", "objectMeta"): reads.head_meta,
        (OBJECT, "POST", "append"): writes.append_object,
        (OBJECT, "POST", "uploadId"): multipart.complete,
        (OBJECT, "POST", "uploads"): multipart.initiate,
        (OBJECT, "PUT", ""): writes.put_object,
        (OBJECT, "PUT", "acl"): writes.put_acl,
        (OBJECT, "PUT", "symlink"): writes.put_symlink,
        (OBJECT, "PUT", "tagging"): writes.put_tagging,
        (OBJECT, "PUT", "uploadId"): multipart.upload_part,
        (OBJECT, "DELETE", ""): writes.delete_object,
        (OBJECT, "DELETE", "tagging"): writes.delete_tagging,
        (OBJECT, "DELETE", "uploadId"): multipart.abort,
    }
)

# Copies are puts with a header.
_COPIES = MappingProxyType[Operation, Operation](
    {writes.put_object: writes.copy_object, multipart.upload_part: multipart.copy_part}
)

_NAMES = MappingProxyType[Operation, str](
    {
        buckets.list_buckets: "ListBuckets",
        listings.list_objects: "ListObjects",
        listings.list_objects_v2: "ListObjectsV2",
        buckets.get_acl: "GetBucketAcl",
        buckets.get_info: "GetBucketInfo",
        lifecycle.get_lifecycle: "GetBucketLifecycle",
        buckets.get_location: "GetBucketLocation",
        buckets.get_stat: "GetBucketStat",
        multipart.list_uploads: "ListMultipartUploads",
        buckets.get_versioning: "GetBucketVersioning",
        buckets.put_bucket: "PutBucket",
        buckets.put_acl: "PutBucketAcl",
        lifecycle.put_lifecycle: "PutBucketLifecycle",
        buckets.put_versioning: "PutBucketVersioning",
        writes.delete_objects: "DeleteMultipleObjects",
        buckets.delete_bucket: "DeleteBucket",
        lifecycle.delete_lifecycle: "DeleteBucketLifecycle",
        reads.get_object: "GetObject",
        reads.get_acl: "GetObjectAcl",
        reads.get_symlink: "GetSymlink",
        reads.get_tagging: "GetObjectTagging",
        multipart.list_parts: "ListParts",
        reads.head_object: "HeadObject",
        reads.head_meta: "GetObjectMeta",
        writes.append_object: "AppendObject",
        multipart.complete: "CompleteMultipartUpload",
        multipart.initiate: "InitiateMultipartUpload",
        writes.put_object: "PutObject",
        writes.copy_object: "CopyObject",
        writes.put_acl: "PutObjectAcl",
        writes.put_symlink: "PutSymlink",
        writes.put_tagging: "PutObjectTagging",
        multipart.upload_part: "UploadPart",
        multipart.copy_part: "UploadPartCopy",
        writes.delete_object: "DeleteObject",
        writes.delete_tagging: "DeleteObjectTagging",
        multipart.abort: "AbortMultipartUpload",
    }
)

# Names that are signed like subresources, but only add to an operation.
_MODIFIERS = frozenset({"continuation-token", "partNumber", "position", "security-token", "sequential"})
_HARMLESS = frozenset({"x-oss-request-payer", "x-oss-traffic-limit"})
_KNOWN = frozenset(subresource for _, _, subresource in _TABLE if subresource)


def route(request: Request) -> Operation:
    """Return the operation; `NotImplemented` for parts of OSS that are not offered, `MethodNotAllowed` for the rest."""
    level = SERVICE if request.bucket is None else BUCKET if request.key is None else OBJECT
    names = [name for name, _ in request.query]
    _refuse_unoffered(request, names)
    asked = sorted({name for name in names if name in _KNOWN})
    if "list-type" in asked:
        _check_list_type(request, level)
        asked = [name for name in asked if level == BUCKET or name != "list-type"]
    if len(asked) > 1:
        raise ApiError("InvalidArgument", f"{' and '.join(asked)} exclude each other.", ArgumentName=asked[0])
    operation = _TABLE.get((level, request.method, asked[0] if asked else ""))
    if operation is None:
        raise ApiError("MethodNotAllowed", Method=request.method, ResourceType=asked[0] if asked else level)
    return _COPIES.get(operation, operation) if "x-oss-copy-source" in request.headers else operation


def api_name(operation: Operation) -> str:
    """Return the name of an operation in OSS's API reference."""
    return _NAMES[operation]


def _refuse_unoffered(request: Request, names: list[str]) -> None:
    for name in names:
        offered = name in _KNOWN or name in _MODIFIERS or name in _HARMLESS or name.startswith("response-")
        if name == "versionId" and request.param(name) == "null":
            continue
        if name in SUBRESOURCES and not offered:
            raise ApiError("NotImplemented", f"local_sim does not offer ?{name}.", SubResource=name)


def _check_list_type(request: Request, level: str) -> None:
    if level == BUCKET and request.param("list-type") != "2":
        value = request.param("list-type")
        raise ApiError("InvalidArgument", "list-type must be 2.", ArgumentName="list-type", ArgumentValue=value)
