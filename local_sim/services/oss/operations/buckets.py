"""ListBuckets and what is done to a bucket as a whole."""

from __future__ import annotations

from local_sim.services.oss.conditions import iso_date
from local_sim.services.oss.context import Context, in_thread
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.markup import Element, parse
from local_sim.services.oss.model import Bucket
from local_sim.services.oss.names import BUCKET_ACLS, REDUNDANCIES, STORAGE_CLASSES, integer, one_of
from local_sim.services.oss.response import Response, xml

OWNER = "local-sim"


def owner() -> Element:
    """Return the `<Owner>` of everything: there is one account."""
    return Element("Owner", [Element("ID", OWNER), Element("DisplayName", OWNER)])


async def list_buckets(context: Context) -> Response:
    """Answer with the buckets, by name, from `marker` on."""
    prefix, marker = context.request.param("prefix"), context.request.param("marker")
    limit = integer(context.request.param("max-keys", "100"), "max-keys", 1, 1000)
    wanted = [each for each in context.store.buckets() if each.name.startswith(prefix) and each.name > marker]
    shown, truncated = wanted[:limit], len(wanted) > limit
    elements = [
        owner(),
        Element("Prefix", prefix),
        Element("Marker", marker),
        Element("MaxKeys", limit),
        Element("IsTruncated", str(truncated).lower()),
        Element("NextMarker", shown[-1].name if truncated else ""),
        Element("Buckets", [Element("Bucket", _summary(context, each)) for each in shown]),
    ]
    return xml(Element("ListAllMyBucketsResult", elements))


async def put_bucket(context: Context) -> Response:
    """Make a bucket; making it again changes nothing, since there is one owner."""
    name = context.request.bucket_name()
    acl = one_of(BUCKET_ACLS, context.request.header("x-oss-acl", "private"), "x-oss-acl")
    storage_class, redundancy = "Standard", "LRS"
    if body := await context.read_xml():
        root = parse(body, "CreateBucketConfiguration")
        storage_class = (node.text if (node := root.get("StorageClass")) else "") or storage_class
        redundancy = (node.text if (node := root.get("DataRedundancyType")) else "") or redundancy
    one_of(STORAGE_CLASSES, storage_class, "StorageClass")
    one_of(REDUNDANCIES, redundancy, "DataRedundancyType")
    await in_thread(context.store.create_bucket, Bucket(name, context.now_ms, acl, storage_class, redundancy))
    return Response(200, (("location", f"/{name}"),))


async def delete_bucket(context: Context) -> Response:
    """Remove an empty bucket."""
    await in_thread(context.store.delete_bucket, context.request.bucket_name())
    return Response(204)


async def get_info(context: Context) -> Response:
    """Answer with everything known about a bucket; what is off or not offered says so."""
    bucket = context.store.bucket(context.request.bucket_name())
    elements = [
        *_summary(context, bucket),
        owner(),
        _grant(bucket.acl),
        Element("DataRedundancyType", bucket.redundancy),
        Element("AccessMonitor", "Disabled"),
        Element("TransferAcceleration", "Disabled"),
        Element("CrossRegionReplication", "Disabled"),
        Element("BlockPublicAccess", "false"),
        Element("ServerSideEncryptionRule", [Element("SSEAlgorithm", "None")]),
        Element("Comment"),
    ]
    return xml(Element("BucketInfo", [Element("Bucket", elements)]))


async def get_location(context: Context) -> Response:
    """Answer with the region."""
    context.store.bucket(context.request.bucket_name())
    return xml(Element("LocationConstraint", f"oss-{context.region}"))


async def get_stat(context: Context) -> Response:
    """Answer with the totals of a bucket, counted now."""
    name = context.request.bucket_name()
    size, objects, uploads = await in_thread(context.store.totals, name)
    elements = [
        Element("Storage", size),
        Element("ObjectCount", objects),
        Element("MultipartUploadCount", uploads),
        Element("LiveChannelCount", 0),
        Element("LastModifiedTime", context.now_ms // 1000),
    ]
    return xml(Element("BucketStat", elements))


async def get_acl(context: Context) -> Response:
    """Answer with the ACL of a bucket."""
    bucket = context.store.bucket(context.request.bucket_name())
    return acl_document(bucket.acl)


async def put_acl(context: Context) -> Response:
    """Change the ACL of a bucket to `x-oss-acl`."""
    acl = one_of(BUCKET_ACLS, context.request.header("x-oss-acl"), "x-oss-acl")
    await context.read_xml()
    await in_thread(context.store.set_bucket_acl, context.request.bucket_name(), acl)
    return Response()


async def get_versioning(context: Context) -> Response:
    """Answer that versioning was never switched on."""
    context.store.bucket(context.request.bucket_name())
    return xml(Element("VersioningConfiguration"))


async def put_versioning(context: Context) -> Response:
    """Refuse to switch versioning on: claims rely on it being off."""
    await context.read_xml()
    raise ApiError("NotImplemented", "local_sim keeps no versions; forbid-overwrite would lose its meaning with them.")


def acl_document(acl: str) -> Response:
    """Return the answer for an ACL of a bucket or object."""
    return xml(Element("AccessControlPolicy", [owner(), _grant(acl)]))


def _grant(acl: str) -> Element:
    return Element("AccessControlList", [Element("Grant", acl)])


def _summary(context: Context, bucket: Bucket) -> list[Element]:
    host = f"oss-{context.region}"
    return [
        Element("Name", bucket.name),
        Element("Location", host),
        Element("Region", context.region),
        Element("CreationDate", iso_date(bucket.created_ms)),
        Element("StorageClass", bucket.storage_class),
        Element("ExtranetEndpoint", f"{host}.aliyuncs.com"),
        Element("IntranetEndpoint", f"{host}-internal.aliyuncs.com"),
    ]
