"""HTTP triggers: a request becomes the event's JSON envelope, the handler's answer becomes the response. Pure.

Shapes: function-compute page, section 2; limits: section 6. A handler's failure is a 502 with the error header (S14).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from local_sim.services.timestamps import format_ms
from local_sim.workers import InvokeResult

from .calls import Answer
from .errors import BadResponse, InvalidArgument

_HEADER_BYTES = 8 * 1024
_TARGET_BYTES = 4 * 1024
_HOP_BY_HOP = frozenset({"connection", "content-length", "keep-alive", "transfer-encoding", "upgrade"})


def build_event(
    *,
    method: str,
    path: str,
    query: str,
    headers: Mapping[str, str],
    body: bytes,
    request_id: str,
    account: str,
    at_ms: int,
) -> bytes:
    """Return the handler's event for a request; `path` is decoded and counts from the trigger.

    Raises InvalidArgument over a limit.
    """
    if sum(len(name) + len(value) for name, value in headers.items()) > _HEADER_BYTES:
        raise InvalidArgument(f"the request headers have more than {_HEADER_BYTES} bytes")
    if len(path.encode()) + len(query) > _TARGET_BYTES:
        raise InvalidArgument(f"path and query have more than {_TARGET_BYTES} bytes")
    text, encoded = _body(body)
    host = headers.get("host", "")
    event = {
        "version": "v1",
        "rawPath": path,
        "headers": {"-".join(part.capitalize() for part in name.split("-")): value for name, value in headers.items()},
        "queryParameters": dict(parse_qsl(query, keep_blank_values=True)),
        "body": text,
        "isBase64Encoded": encoded,
        "requestContext": {
            "accountId": account,
            "domainName": host,
            "domainPrefix": host.partition(".")[0],
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": headers.get("user-agent", ""),
            },
            "requestId": request_id,
            "time": format_ms(at_ms),
            "timeEpoch": str(at_ms),
        },
    }
    return json.dumps(event, ensure_ascii=False).encode("utf-8", "replace")


def read_answer(result: InvokeResult) -> Answer:
    """Return the response for a handler's answer.

    An object with `statusCode` says all of it; anything else is the body of a 200. Raises BadResponse for an object
    whose parts are not what they should be, or whose headers are over the limit.
    """
    failed = {"X-Fc-Request-Id": result.request_id}
    if result.failed:
        return Answer(502, None, result.body, {**failed, "X-Fc-Error-Type": result.error_type or result.code})
    try:
        document = json.loads(result.body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or "statusCode" not in document:
        return Answer(200, None, result.body, failed)
    return _from_document(document, failed)


def _from_document(document: Mapping[str, Any], base: Mapping[str, str]) -> Answer:
    try:
        status = int(document["statusCode"])
    except (TypeError, ValueError) as error:
        raise BadResponse("statusCode of the function's answer is no number") from error
    given = document.get("headers") or {}
    if not 200 <= status <= 599 or not isinstance(given, dict):
        raise BadResponse("statusCode of the function's answer is out of range, or headers is no object")
    headers = {str(name): str(value) for name, value in given.items() if str(name).lower() not in _HOP_BY_HOP}
    if sum(len(name) + len(value) for name, value in headers.items()) > _HEADER_BYTES:
        raise BadResponse(f"the response headers have more than {_HEADER_BYTES} bytes")
    if any(character in name + value for name, value in headers.items() for character in "\r\n\0"):
        raise BadResponse("a response header holds a line break")
    return Answer(status, None, _answer_body(document), {**base, **headers})


def _answer_body(document: Mapping[str, Any]) -> bytes:
    body = document.get("body")
    if body is None:
        return b""
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    if not document.get("isBase64Encoded"):
        return text.encode("utf-8", "replace")
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error) as error:
        raise BadResponse("body of the function's answer is not the base64 it says it is") from error


def _body(body: bytes) -> tuple[str, bool]:
    try:
        return body.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(body).decode(), True
