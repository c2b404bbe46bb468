"""One POST of JSON to a webhook."""

from __future__ import annotations

from functions.errors import SystemFault
from functions.web import Peer, Reply, exchange

__all__ = ["UPSTREAM", "Reply", "post"]

UPSTREAM = "notice webhook"
_PEER = Peer(UPSTREAM, "STEPKEEPER_NOTICE_URL")


def post(url: str, content: bytes, headers: dict[str, str], timeout: float) -> Reply:
    """POST `content`; returns the answer when its status is 2xx.

    Raises what `exchange` raises, and `SystemFault` for any other status: a message that is refused was set up wrongly.
    """
    headers = {"Content-Type": "application/json; charset=utf-8", **headers}
    reply = exchange(_PEER, "POST", url, content=content, headers=headers, timeout=timeout)
    if not 200 <= reply.status < 300:
        raise SystemFault(
            f"the notice webhook refused: status {reply.status}", effect_applied=False, status=reply.status
        )
    return reply
