"""Who sends this request: OSS signatures V1 and V4, in the Authorization header or in the query (presigned URL).

Sources: `oss2.auth` of oss2 2.19.1, `signer/v1.py` and `signer/v4.py` of alibabacloud-oss-v2 1.4.1. Nothing here does
I/O.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from local_sim.services.oss import signing_v1, signing_v4
from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.request import Request
from local_sim.services.oss.signing_claim import Claim

MAX_SKEW_MS = 15 * 60 * 1000
_QUERY_MARKS = ("Signature", "OSSAccessKeyId", "x-oss-signature", "x-oss-signature-version", "x-oss-credential")


@dataclass(frozen=True)
class Caller:
    """Who signed: the access key id, and whether by a presigned URL."""

    access_key_id: str
    presigned: bool


def authenticate(request: Request, credentials: Mapping[str, str] | None, now_ms: int) -> Caller | None:
    """Return who signed `request`, or None when it is not signed at all.

    `credentials` maps access key ids to secrets; None means that any key is taken and its signature is not computed,
    but a presigned URL still expires (O04). Raises the error OSS answers: `InvalidAccessKeyId`,
    `SignatureDoesNotMatch`, `AccessDenied` for an expired URL, `RequestTimeTooSkewed`, or one that says what is
    malformed.
    """
    claim = _claim(request)
    if claim is None:
        return None
    if claim.expires_ms is not None and now_ms > claim.expires_ms:
        raise ApiError("AccessDenied", "Request has expired.", Expires=claim.expires, ServerTime=now_ms)
    if credentials is not None:
        _verify(claim, credentials, now_ms)
    return Caller(claim.access_key_id, claim.presigned)


def _claim(request: Request) -> Claim | None:
    header = request.header("authorization")
    in_query = any(request.has(mark) for mark in _QUERY_MARKS)
    if header and in_query:
        raise ApiError("InvalidRequest", "Sign in the Authorization header or in the query, not in both.")
    if in_query:
        return _query_claim(request)
    if header:
        return _header_claim(request, header)
    return None


def _header_claim(request: Request, header: str) -> Claim:
    if header.startswith(signing_v4.ALGORITHM + " "):
        return signing_v4.from_header(request, header)
    if header.startswith("OSS "):
        return signing_v1.from_header(request, header)
    raise ApiError(
        "AuthorizationHeaderMalformed", "Only signature versions 1 (OSS) and 4 (OSS4-HMAC-SHA256) are offered."
    )


def _query_claim(request: Request) -> Claim:
    version = request.param("x-oss-signature-version")
    if version == signing_v4.ALGORITHM:
        return signing_v4.from_query(request)
    if version or request.has("x-oss-signature") or request.has("x-oss-credential"):
        message = f"x-oss-signature-version must be {signing_v4.ALGORITHM}."
        raise ApiError("AuthorizationQueryParametersError", message)
    return signing_v1.from_query(request)


def _verify(claim: Claim, credentials: Mapping[str, str], now_ms: int) -> None:
    secret = credentials.get(claim.access_key_id)
    if secret is None:
        raise ApiError("InvalidAccessKeyId", OSSAccessKeyId=claim.access_key_id)
    if not hmac.compare_digest(claim.compute(secret).encode(), claim.signature.encode()):
        raise ApiError(
            "SignatureDoesNotMatch",
            OSSAccessKeyId=claim.access_key_id,
            SignatureProvided=claim.signature,
            StringToSign=claim.string_to_sign.decode(errors="replace"),
        )
    if not claim.presigned and abs(now_ms - claim.signed_ms) > MAX_SKEW_MS:
        raise ApiError("RequestTimeTooSkewed", MaxAllowedSkewMilliseconds=MAX_SKEW_MS, ServerTime=now_ms)
