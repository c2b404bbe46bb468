"""Signature version 1: HMAC-SHA1 over method, three headers, `x-oss-*` headers and the resource."""

from __future__ import annotations

import base64
import hashlib
import hmac
from email.utils import parsedate_to_datetime

from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.request import Request
from local_sim.services.oss.signing_claim import Claim

# The query names that V1 signs: what oss2 2.19.1 and alibabacloud-oss-v2 1.4.1 sign, together.
_NAMES = """
accessPoint accessPointPolicy acl append asyncFetch bucketArchiveDirectRead bucketInfo callback callback-var
cloudboxes cname comp continuation-token cors delete encryption endTime group httpsConfig inventory inventoryId
lifecycle link live location logging metaQuery objectInfo objectMeta partNumber policy position publicAccessBlock
qos qosInfo qosRequester redundancyTransition referer regionList replication replicationLocation replicationProgress
requestPayment requesterQosInfo resourceGroup resourcePool resourcePoolBuckets resourcePoolInfo
response-cache-control response-content-disposition response-content-encoding response-content-language
response-content-type response-expires restore security-token sequential startTime stat status style styleName
symlink tagging transferAcceleration uploadId uploads versionId versioning versions vod website worm wormExtend
wormId x-oss-ac-forward-allow x-oss-ac-source-ip x-oss-ac-subnet-mask x-oss-ac-vpc-id x-oss-access-point-name
x-oss-async-process x-oss-process x-oss-redundancy-transition-taskid x-oss-request-payer
x-oss-target-redundancy-type x-oss-traffic-limit x-oss-write-get-object-response
"""
SUBRESOURCES = frozenset(_NAMES.split())


def from_header(request: Request, header: str) -> Claim:
    """Return the claim of `Authorization: OSS id:signature`; `AuthorizationHeaderMalformed` when it is not that."""
    access_key_id, colon, signature = header.removeprefix("OSS ").strip().rpartition(":")
    if not colon or not access_key_id or not signature:
        raise ApiError("AuthorizationHeaderMalformed", "Expected: OSS AccessKeyId:Signature.")
    date = request.header("x-oss-date") or request.header("date")
    return _claim(request, access_key_id, signature, date, signed_ms=_http_date_ms(date))


def from_query(request: Request) -> Claim:
    """Return the claim of a presigned URL; `AccessDenied` when one of its three parameters is missing or malformed."""
    access_key_id, expires = request.param("OSSAccessKeyId"), request.param("Expires")
    signature = request.param("Signature")
    if not (access_key_id and signature and expires.isascii() and expires.isdigit() and len(expires) <= 12):
        raise ApiError("AccessDenied", "A presigned URL needs OSSAccessKeyId, Expires (seconds) and Signature.")
    return _claim(request, access_key_id, signature, expires, presigned=True, expires_ms=int(expires) * 1000)


def _claim(
    request: Request,
    access_key_id: str,
    signature: str,
    date: str,
    *,
    presigned: bool = False,
    signed_ms: int = 0,
    expires_ms: int | None = None,
) -> Claim:
    text = string_to_sign(request, date)

    def compute(secret: str) -> str:
        return base64.b64encode(hmac.new(secret.encode(), text, hashlib.sha1).digest()).decode()

    expires = date if presigned else ""
    return Claim(access_key_id, signature, text, compute, presigned, signed_ms, expires, expires_ms)


def string_to_sign(request: Request, date: str) -> bytes:
    """Return the bytes that V1 signs; `date` is the Date header or, for presigned URLs, the expiry in seconds."""
    signed = sorted((name, value) for name, value in request.headers.items() if name.startswith("x-oss-"))
    lines = [request.method, request.header("content-md5"), request.header("content-type"), date]
    lines += [f"{name}:{value}" for name, value in signed]
    return "\n".join(lines).encode("latin-1", "replace") + b"\n" + _resource(request).encode()


def _resource(request: Request) -> str:
    path = "/" if request.bucket is None else f"/{request.bucket}/{request.key or ''}"
    pairs = sorted((name, value) for name, value in request.query if name in SUBRESOURCES)
    query = "&".join(f"{name}={value}" if value else name for name, value in pairs)
    return f"{path}?{query}" if query else path


def _http_date_ms(date: str) -> int:
    try:
        return int(parsedate_to_datetime(date).timestamp() * 1000)
    except (ValueError, TypeError, IndexError, OverflowError):
        raise ApiError("AccessDenied", "OSS authentication requires a valid Date.") from None
