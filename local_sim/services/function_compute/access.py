"""Checks who calls, when the server has a secret: ACS3 for the API, the old FC signature for the upload token."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from local_sim.services.signing import acs3_fields, acs3_signature, same
from local_sim.services.timestamps import parse_ms

from .errors import AccessDenied

_SKEW_MS = 15 * 60 * 1000


def check_access(method: str, raw_path: str, query: str, headers: Mapping[str, str], secret: str, now_ms: int) -> None:
    """Raise AccessDenied unless the request is signed with `secret` and of the last quarter of an hour."""
    authorization = headers.get("authorization", "")
    if not authorization:
        raise AccessDenied("InvalidAccessKeyID", "the request is not signed")
    fields = acs3_fields(authorization)
    if fields is not None:
        names = fields.get("SignedHeaders", "").split(";")
        expected = acs3_signature(method, raw_path, query, headers, names, secret)
        given = fields.get("Signature", "")
    else:
        expected = old_signature(method, raw_path, headers, secret)
        given = authorization.rpartition(":")[2]
    if not same(expected, given):
        raise AccessDenied("SignatureNotMatch", "the signature does not match the one the server computed")
    _check_time(headers.get("x-acs-date") or headers.get("date", ""), now_ms)


def old_signature(method: str, path: str, headers: Mapping[str, str], secret: str) -> str:
    """Return the signature of an `Authorization: FC <key>:<signature>` header."""
    own = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers) if name.startswith("x-fc-"))
    lines = [method, *(headers.get(name, "") for name in ("content-md5", "content-type", "date"))]
    text = "\n".join(lines) + "\n" + own + path
    return base64.b64encode(hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()).decode()


def _check_time(text: str, now_ms: int) -> None:
    try:
        at = _http_time(text) if "," in text else parse_ms(text)
    except (ValueError, TypeError, OverflowError) as error:
        raise AccessDenied("AccessDenied", "the request has no readable time") from error
    if abs(at - now_ms) > _SKEW_MS:
        raise AccessDenied("AccessDenied", f"the request's time is {abs(at - now_ms) // 1000} s off")


def _http_time(text: str) -> int:
    moment: datetime = parsedate_to_datetime(text)
    return int(moment.replace(tzinfo=moment.tzinfo or timezone.utc).timestamp() * 1000)
