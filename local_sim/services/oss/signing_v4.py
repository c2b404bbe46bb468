"""Signature version 4: HMAC-SHA256 with a key derived from date, region and product, over a canonical request."""

from __future__ import annotations

import hashlib
import hmac
import re
from datetime import datetime, timezone
from urllib.parse import quote

from local_sim.services.oss.errors import ApiError
from local_sim.services.oss.request import Request
from local_sim.services.oss.signing_claim import Claim

ALGORITHM = "OSS4-HMAC-SHA256"
UNSIGNED = "UNSIGNED-PAYLOAD"
MAX_EXPIRES_SECONDS = 7 * 24 * 3600

_SCOPE_END = "aliyun_v4_request"
_FIELD = re.compile(r"\s*(Credential|AdditionalHeaders|Signature)=([^,]*?)\s*(?:,|$)")
_DATE_TIME = re.compile(r"\d{8}T\d{6}Z", re.ASCII)


def from_header(request: Request, header: str) -> Claim:
    """Return the claim of a V4 Authorization header.

    `AuthorizationHeaderMalformed` or `AccessDenied` when malformed.
    """
    fields = dict(_FIELD.findall(header.removeprefix(ALGORITHM)))
    if "Credential" not in fields or not fields.get("Signature"):
        raise ApiError("AuthorizationHeaderMalformed", f"Expected: {ALGORITHM} Credential=...,Signature=...")
    # The service takes no other value: bodies are never part of the signature.
    if request.header("x-oss-content-sha256") != UNSIGNED:
        raise ApiError(
            "InvalidArgument", f"x-oss-content-sha256 must be {UNSIGNED}.", ArgumentName="x-oss-content-sha256"
        )
    stamp = request.header("x-oss-date")
    signed_ms = _moment_ms(stamp, "AccessDenied")
    scope = _scope(fields["Credential"], stamp, "AuthorizationHeaderMalformed")
    return _claim(request, scope, fields["Signature"], stamp, fields.get("AdditionalHeaders", ""), signed_ms=signed_ms)


def from_query(request: Request) -> Claim:
    """Return the claim of a V4 presigned URL; `AuthorizationQueryParametersError` when malformed."""
    code = "AuthorizationQueryParametersError"
    stamp, expires = request.param("x-oss-date"), request.param("x-oss-expires")
    signature = request.param("x-oss-signature")
    if not (signature and re.fullmatch(r"[0-9]{1,6}", expires) and 1 <= int(expires) <= MAX_EXPIRES_SECONDS):
        raise ApiError(code, f"A presigned URL needs x-oss-signature and x-oss-expires of 1 to {MAX_EXPIRES_SECONDS}.")
    end_ms = _moment_ms(stamp, code) + int(expires) * 1000
    scope = _scope(request.param("x-oss-credential"), stamp, code)
    additional = request.param("x-oss-additional-headers")
    return _claim(request, scope, signature, stamp, additional, presigned=True, expires=expires, expires_ms=end_ms)


def _scope(credential: str, stamp: str, code: str) -> list[str]:
    """Return access key id, date, region, product and the closing word of a credential."""
    scope = credential.rsplit("/", 4)
    if len(scope) != 5 or not all(scope[:4]) or scope[4] != _SCOPE_END or scope[1] != stamp[:8]:
        raise ApiError(code, f"The credential must be AccessKeyId/{stamp[:8]}/region/product/{_SCOPE_END}.")
    return scope


def _claim(
    request: Request,
    scope: list[str],
    signature: str,
    stamp: str,
    additional: str,
    *,
    presigned: bool = False,
    signed_ms: int = 0,
    expires: str = "",
    expires_ms: int | None = None,
) -> Claim:
    digest = hashlib.sha256(canonical_request(request, additional)).hexdigest()
    text = "\n".join([ALGORITHM, stamp, "/".join(scope[1:]), digest]).encode()

    def compute(secret: str) -> str:
        key = ("aliyun_v4" + secret).encode()
        for word in scope[1:]:
            key = hmac.new(key, word.encode(), hashlib.sha256).digest()
        return hmac.new(key, text, hashlib.sha256).hexdigest()

    return Claim(scope[0], signature, text, compute, presigned, signed_ms, expires, expires_ms)


def canonical_request(request: Request, additional: str) -> bytes:
    """Return the canonical request; `additional` names more signed headers, joined by semicolons."""
    names = sorted(name.lower() for name in additional.split(";") if name)
    path = "/" if request.bucket is None else f"/{request.bucket}/{request.key or ''}"
    signed = sorted((name, value) for name, value in request.headers.items() if _is_signed(name, names))
    headers = "".join(f"{name}:{value}\n" for name, value in signed)
    payload = request.header("x-oss-content-sha256", UNSIGNED)
    head = f"{request.method}\n{quote(path, safe='/')}\n{_query(request)}\n"
    return (head + headers + "\n" + ";".join(names) + "\n" + payload).encode("latin-1", "replace")


def _is_signed(name: str, additional: list[str]) -> bool:
    return name.startswith("x-oss-") or name in {"content-type", "content-md5"} or name in additional


def _query(request: Request) -> str:
    pairs = sorted(
        (quote(name, safe=""), quote(value, safe="")) for name, value in request.query if name != "x-oss-signature"
    )
    return "&".join(f"{name}={value}" if value else name for name, value in pairs)


def _moment_ms(stamp: str, code: str) -> int:
    try:
        if not _DATE_TIME.fullmatch(stamp):
            raise ValueError(stamp)
        moment = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        raise ApiError(code, "x-oss-date must look like 20260131T235959Z.") from None
    return int(moment.timestamp()) * 1000
