"""HTTP:Request (language page 6.3)."""

from __future__ import annotations

import json

from .function import parse_body
from .model import Call, CallFailed, CallSucceeded, Json, Outcome

METHODS = ("GET", "POST", "PATCH", "PUT", "DELETE", "HEAD")
TOKEN_HEADER = "X-FnF-Http-Callback-Task-Token"  # noqa: S105 - a header's name
_SECONDS = 60.0


def request(call: Call) -> Outcome:
    """Send the request and return `{Header, Code, Body}`.

    Text is sent as it is, anything else as JSON. In the custom callback mode the token goes along in a header. An
    answer of 400 and above fails as `HTTP.<status>`, a broken connection as `HTTP.RequestFailed` (R06).
    """
    given = call.parameters if isinstance(call.parameters, dict) else {}
    url, method = given.get("url"), str(given.get("method", "")).upper()
    if not isinstance(url, str) or method not in METHODS:
        return CallFailed("HTTP.InvalidArgument", f"HTTP:Request needs url and method (one of {', '.join(METHODS)})")
    return _send(method, url, _headers(call, given), _content(given.get("body")))


def _headers(call: Call, given: dict[str, Json]) -> dict[str, str]:
    headers = {str(key): str(value) for key, value in (given.get("headers") or {}).items()}
    names = {name.lower() for name in headers}
    if "body" in given and not isinstance(given["body"], str) and "content-type" not in names:
        headers["Content-Type"] = "application/json"
    if call.token:
        headers[TOKEN_HEADER] = call.token
    return headers


def _content(body: Json) -> bytes | None:
    if body is None or isinstance(body, str):
        return body.encode() if body else None
    return json.dumps(body, ensure_ascii=False).encode()


def _send(method: str, url: str, headers: dict[str, str], content: bytes | None) -> Outcome:
    import httpx

    try:
        with httpx.Client(timeout=_SECONDS, trust_env=False, follow_redirects=True) as client:
            answer = client.request(method, url, headers=headers, content=content)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return CallFailed("HTTP.RequestFailed", f"{method} {url}: {type(error).__name__}: {error}")
    if answer.status_code >= 400:
        return CallFailed(f"HTTP.{answer.status_code}", answer.text)
    return CallSucceeded({"Header": dict(answer.headers), "Code": answer.status_code, "Body": parse_body(answer.text)})
