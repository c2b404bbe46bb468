"""FC's shapes of an HTTP request and its answer, for built-in runtimes behind an HTTP trigger (function-compute.md
section 2): the event is a JSON envelope, and so is the answer."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from functions.errors import InvalidInput
from functions.events import read_json

__all__ = ["LONGEST_BODY", "Request", "Response", "read_request", "write_response"]

LONGEST_BODY = 64 * 1024
"""Bytes of a form."""
_FIELDS = 20


@dataclass(frozen=True)
class Request:
    """One request. `path` counts from the trigger and is decoded; header names are lower-case; `source` is the
    client's address."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    source: str = ""

    def form(self) -> dict[str, str]:
        """The fields of a posted form, the first of each. Raises `InvalidInput` for a body that is none."""
        if len(self.body) > LONGEST_BODY:
            raise InvalidInput(f"the form has more than {LONGEST_BODY} bytes", reason="too large")
        try:
            fields = parse_qs(
                self.body.decode(), keep_blank_values=True, max_num_fields=_FIELDS, encoding="utf-8", errors="strict"
            )
        except ValueError as error:
            raise InvalidInput("the form cannot be read", reason="not a form") from error
        return {name: values[0].replace("\r\n", "\n") for name, values in fields.items()}


@dataclass(frozen=True)
class Response:
    """One answer. `body` is text; its length is the page's weight."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


def read_request(event: object) -> Request:
    """The request of an event. Raises `InvalidInput` for an event of no HTTP trigger."""
    envelope = read_json(event)
    http = _map(_map(envelope).get("requestContext")).get("http")
    if not isinstance(http, dict):
        raise InvalidInput("the event comes from no HTTP trigger", path="requestContext.http", reason="missing")
    headers = {str(name).lower(): str(value) for name, value in _map(envelope.get("headers")).items()}
    return Request(
        method=str(http.get("method", "GET")).upper(),
        path=str(envelope.get("rawPath") or http.get("path") or "/"),
        query={str(name): str(value) for name, value in _map(envelope.get("queryParameters")).items()},
        headers=headers,
        body=_body(envelope),
        source=str(http.get("sourceIp", "")),
    )


def write_response(response: Response) -> str:
    """The answer as the text a handler returns."""
    answer = {
        "statusCode": response.status,
        "headers": dict(response.headers),
        "isBase64Encoded": False,
        "body": response.body,
    }
    return json.dumps(answer, ensure_ascii=False)


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _body(envelope: dict[str, Any]) -> bytes:
    text = str(envelope.get("body") or "")
    if not envelope.get("isBase64Encoded"):
        return text.encode("utf-8", "replace")
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error) as error:
        raise InvalidInput("the body is not the base64 it says it is", path="body", reason="not base64") from error
