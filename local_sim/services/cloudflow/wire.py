"""Bytes of a request -> a typed action call; a reply or an error -> bytes. No I/O.

Every action is RPC on `/`, by GET or POST, with query and form merged (cloudflow-api page, sections 2 and 3).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from local_sim.services.signing import acs3_fields, acs3_signature, rpc_signature, same
from local_sim.services.timestamps import parse_ms

from . import limits
from .errors import (
    ActionNotSupported,
    CloudFlowError,
    EntityTooLarge,
    InvalidArgument,
    MissingParameter,
    Refused,
    UnsupportedMediaType,
    VersionNotSupported,
)
from .parameters import decode_call
from .requests import ACTIONS, ActionCall

VERSION = "2019-03-15"
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request whose body has been read; header names are lower-case, `query` is as sent, without the `?`."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What every request has: the action's name and all parameters, the common ones included."""

    action: str
    parameters: Mapping[str, str]


def open_envelope(request: HttpRequest) -> Envelope:
    """Merge query and form and find the action. Raises a CloudFlowError for what is no RPC request."""
    size = len(request.body) + len(request.query)
    if size > limits.REQUEST_BYTES:
        raise EntityTooLarge("The request", size, limits.REQUEST_BYTES)
    if request.path not in ("", "/"):
        raise InvalidArgument(f"Path '{request.path}' is not served: every action is called on '/'.")
    if request.method not in ("GET", "POST"):
        raise InvalidArgument(f"Method {request.method} is not served: use GET or POST.")
    parameters = _pairs(request.query.encode("latin-1", "replace"))
    if request.body:
        _check_media_type(request.headers)
        parameters |= _pairs(request.body)
    action = parameters.get("Action") or request.headers.get("x-acs-action", "")
    if not action:
        raise MissingParameter("Action")
    _check_version(parameters.get("Version") or request.headers.get("x-acs-version", VERSION))
    return Envelope(action, parameters)


def decode(envelope: Envelope) -> ActionCall:
    """Return the typed call. Raises ActionNotSupported, MissingParameter, InvalidArgument or EntityTooLarge."""
    kind = ACTIONS.get(envelope.action)
    if kind is None:
        raise ActionNotSupported(f"Action '{envelope.action}' is not supported.")
    return decode_call(kind, envelope.parameters)


def check_signature(request: HttpRequest, envelope: Envelope, secret: str, now_ms: int) -> None:
    """Raise Refused unless the request is signed with `secret`, by RPC v1 or ACS3; any access key id will do."""
    authorization = request.headers.get("authorization", "")
    if authorization:
        stamp, good = request.headers.get("x-acs-date", ""), _acs3_matches(request, authorization, secret)
    else:
        given = envelope.parameters
        if not given.get("AccessKeyId"):
            raise Refused("InvalidAccessKeyID", "The AccessKeyId is missing.")
        good = same(given.get("Signature", ""), rpc_signature(request.method, given, secret))
        stamp = given.get("Timestamp", "")
    if not good:
        raise Refused("SignatureNotMatch", "The signature does not match the one the server computed.")
    try:
        skew = abs(parse_ms(stamp) - now_ms)
    except (ValueError, OverflowError) as error:
        raise Refused("RequestTimeTooSkewed", "The request has no readable time.") from error
    if skew > limits.SKEW_MS:
        raise Refused("RequestTimeTooSkewed", f"The request's time is {skew // 1000} s off.")


def encode_reply(reply: Mapping[str, Any], request_id: str) -> bytes:
    """Return the JSON body of a success: `RequestId` and the reply's fields."""
    return _dump({"RequestId": request_id, **reply})


def encode_error(error: CloudFlowError, request_id: str, host: str) -> bytes:
    """Return the JSON body of a refusal, keys with capitals (cloudflow-api page, section 2, rule 4)."""
    return _dump({"RequestId": request_id, "HostId": host, "Code": error.code, "Message": error.message})


def _dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _pairs(encoded: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(encoded.decode("ascii"), keep_blank_values=True, errors="strict")
        text = dict(pairs)
    except ValueError as error:
        raise InvalidArgument(f"The parameters are not percent-encoded UTF-8: {error}") from error
    return text


def _check_media_type(headers: Mapping[str, str]) -> None:
    media_type = headers.get("content-type", _FORM).partition(";")[0].strip().lower()
    if media_type != _FORM:
        raise UnsupportedMediaType(f"Content type '{media_type}' is not supported: send {_FORM}.")


def _check_version(version: str) -> None:
    if version != VERSION:
        raise VersionNotSupported(f"API version '{version}' is not supported: use {VERSION}.")


def _acs3_matches(request: HttpRequest, authorization: str, secret: str) -> bool:
    fields = acs3_fields(authorization)
    if fields is None:
        return False
    names = fields.get("SignedHeaders", "").split(";")
    expected = acs3_signature(request.method, request.path, request.query, request.headers, names, secret)
    return same(fields.get("Signature", ""), expected)
