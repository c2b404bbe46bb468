"""One HTTP exchange with somebody else's service, with every outcome told apart by what matters: was it applied?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from functions.errors import SystemFault, TemporaryUpstreamError

__all__ = ["Peer", "Reply", "exchange"]


@dataclass(frozen=True)
class Peer:
    """The other side: what it is called in messages, and the environment variable that holds its address."""

    name: str
    variable: str


@dataclass(frozen=True)
class Reply:
    """The other side's answer: HTTP status and its JSON value (None when it was not JSON)."""

    status: int
    body: Any = field(default=None)


def exchange(
    peer: Peer, method: str, url: str, *, content: bytes | None, headers: dict[str, str], timeout: float
) -> Reply:
    """Send one request and return the answer, refusals (3xx and 4xx) included. `timeout` in seconds, for each of
    connecting, sending and waiting. Redirects are not followed: nothing must go to another place than the one
    configured. Messages never hold the address, which may hold a secret.

    Raises `TemporaryUpstreamError` (`effect_applied` False: the connection never stood, or the other side said 429 or
    503; None: it broke later, 408 or another 5xx) and `SystemFault` for an address that is none.
    """
    import httpx

    try:
        response = httpx.request(method, url, content=content, headers=headers, timeout=timeout, follow_redirects=False)
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise SystemFault(f"{peer.variable} is not an address of http or https", effect_applied=False) from error
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        raise _away(peer, f"cannot be reached ({type(error).__name__})", effect_applied=False) from error
    except httpx.HTTPError as error:
        raise _away(peer, f"broke off ({type(error).__name__})", effect_applied=None) from error
    _check_there(peer, response.status_code, response.headers.get("retry-after", ""))
    try:
        return Reply(response.status_code, response.json())
    except ValueError:
        return Reply(response.status_code)


def _check_there(peer: Peer, status: int, retry_after: str) -> None:
    seconds = float(retry_after) if retry_after.isdigit() else None
    if status in (429, 503):
        raise _away(peer, f"is busy ({status})", effect_applied=False, status=status, retry_after=seconds)
    if status >= 500 or status == 408:
        raise _away(peer, f"failed ({status})", effect_applied=None, status=status, retry_after=seconds)


def _away(
    peer: Peer, what: str, *, effect_applied: bool | None, status: int | None = None, retry_after: float | None = None
) -> TemporaryUpstreamError:
    return TemporaryUpstreamError(
        f"the {peer.name} {what}",
        upstream=peer.name,
        status=status,
        retry_after=retry_after,
        effect_applied=effect_applied,
    )
