"""One POST of JSON, with every outcome told apart by what matters: did the message leave?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from functions.errors import StepkeeperError, SystemFault, TemporaryUpstreamError

__all__ = ["Reply", "post"]

UPSTREAM = "notice webhook"


@dataclass(frozen=True)
class Reply:
    """The other side's answer: HTTP status and its JSON value (None when it was not JSON)."""

    status: int
    body: Any = field(default=None)


def post(url: str, content: bytes, headers: dict[str, str], timeout: float) -> Reply:
    """POST `content`. Redirects are not followed: a message must not go to another place than the one configured.

    Raises `TemporaryUpstreamError` (`effect_applied` False: the connection never stood, or the other side said "busy";
    None: it broke later) and `SystemFault` for a bad address and for other 3xx and 4xx.
    """
    import httpx

    headers = {"Content-Type": "application/json; charset=utf-8", **headers}
    try:
        response = httpx.post(url, content=content, headers=headers, timeout=timeout, follow_redirects=False)
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise SystemFault("STEPKEEPER_NOTICE_URL is not an address of http or https", effect_applied=False) from error
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        raise _away(f"cannot be reached ({type(error).__name__})", effect_applied=False) from error
    except httpx.HTTPError as error:
        raise _away(f"broke off ({type(error).__name__})", effect_applied=None) from error
    if not 200 <= response.status_code < 300:
        raise _refused(response.status_code, response.headers.get("retry-after", ""))
    try:
        return Reply(response.status_code, response.json())
    except ValueError:
        return Reply(response.status_code)


def _refused(status: int, retry_after: str) -> StepkeeperError:
    seconds = float(retry_after) if retry_after.isdigit() else None
    if status in (429, 503):
        return _away(f"is busy ({status})", effect_applied=False, status=status, retry_after=seconds)
    if status >= 500 or status == 408:
        return _away(f"failed ({status})", effect_applied=None, status=status, retry_after=seconds)
    return SystemFault(f"the notice webhook refused: status {status}", effect_applied=False, status=status)


def _away(
    what: str, *, effect_applied: bool | None, status: int | None = None, retry_after: float | None = None
) -> TemporaryUpstreamError:
    return TemporaryUpstreamError(
        f"the notice webhook {what}",
        upstream=UPSTREAM,
        status=status,
        retry_after=retry_after,
        effect_applied=effect_applied,
    )
