"""One call of an Alibaba Cloud SDK: errors typed, throttled calls sent again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from scripts.cloud.errors import ServiceFault
from scripts.cloud.settings import current_keys

__all__ = ["call", "open_config", "pages"]

T = TypeVar("T")
_TRIES = 7
_FIRST_PAUSE = 0.5
_READ_MS = 60_000


def open_config(endpoint: str, region: str) -> Any:
    """The SDK's configuration for an endpoint, which may carry its scheme. Raises `NotConfigured`."""
    from alibabacloud_tea_openapi.models import Config

    keys = current_keys()
    scheme, _, host = endpoint.rpartition("://")
    return Config(
        access_key_id=keys.key_id,
        access_key_secret=keys.secret,
        security_token=keys.token or None,
        endpoint=host.rstrip("/"),
        protocol=scheme or "https",
        region_id=region,
        connect_timeout=10_000,
        read_timeout=_READ_MS,
    )


def call(service: str, action: str, send: Callable[[], T], sleep: Callable[[float], None] = time.sleep) -> T:
    """Send a request and return its answer. Raises `ServiceFault`.

    Only a throttled call is sent again, with growing pauses: it was never begun. Anything else may have taken effect,
    and the next run of the job looks at what is there.
    """
    pause = _FIRST_PAUSE
    for left in range(_TRIES - 1, -1, -1):
        try:
            return send()
        except Exception as error:
            fault = _fault(service, action, error)
            if fault is None:
                raise
            if not fault.throttled or not left:
                raise fault from error
        sleep(pause)
        pause *= 2
    raise AssertionError("unreachable")


def pages(service: str, action: str, fetch: Callable[[str | None], tuple[list[T], str | None]]) -> list[T]:
    """All items of a list that comes in pages; `fetch` takes the token of a page and returns items and the next one."""
    found: list[T] = []
    token: str | None = None
    while True:
        items, token = call(service, action, lambda page=token: fetch(page))  # type: ignore[misc]
        found += items
        if not token:
            return found


def _fault(service: str, action: str, error: Exception) -> ServiceFault | None:
    from Tea.exceptions import TeaException

    if not isinstance(error, TeaException):
        return None
    status = getattr(error, "status_code", None) or getattr(error, "statusCode", None) or 0
    message = str(getattr(error, "message", "") or error)
    code = str(getattr(error, "code", "") or "")
    if not status:  # no answer: the message wraps what urllib said
        return ServiceFault(service, action, "", 0, message.split("\n")[0][:300])
    request = str(getattr(error, "request_id", "") or "")
    return ServiceFault(service, action, code, int(status), _said(message), request)


def _said(message: str) -> str:
    """The service's own words of `code: 404, Flow 'x' does not exist. request id: ...`."""
    text = message.split(" request id:")[0].strip()
    return text.split(", ", 1)[1] if text.startswith("code: ") and ", " in text else text
