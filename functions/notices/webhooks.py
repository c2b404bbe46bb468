"""Webhooks: plain JSON with an idempotency key, and the robots of DingTalk, WeCom and Feishu.

Formats, limits and signatures follow the robots' public pages: open.dingtalk.com/document/robots/custom-robot-access,
developer.work.weixin.qq.com/document/path/91770, open.feishu.cn/document/client-docs/bot-v3/add-custom-bot. The
robots take no idempotency key, so a lost answer is never followed by a second try (`EffectKind.UNDECLARED`).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote_plus

from functions.clock import now_ms
from functions.errors import SystemFault, TemporaryUpstreamError
from functions.notices.base import Notice, Receipt
from functions.notices.http import UPSTREAM, Reply, post
from functions.settings import Settings
from ledger import EffectKind

__all__ = ["DingTalk", "Feishu", "PlainJson", "WeCom", "clipped"]


def clipped(text: str, most: int) -> str:
    """`text` within `most` bytes of UTF-8, cut at a character, never inside one."""
    data = text.encode()
    return text if len(data) <= most else data[: most - 3].decode(errors="ignore") + "…"


def _bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _hmac(key: str, message: str) -> bytes:
    return hmac.new(key.encode(), message.encode(), hashlib.sha256).digest()


class _Webhook:
    """What all webhooks share: the address, the secret and the time limit of the settings."""

    def __init__(self, settings: Settings, clock_ms: Callable[[], int] = now_ms) -> None:
        self.url = settings.notice_url.get_secret_value()
        self.secret = settings.notice_secret.get_secret_value()
        self.timeout = settings.notice_timeout
        self.clock_ms = clock_ms
        if not self.url:
            raise SystemFault("STEPKEEPER_NOTICE_URL is not set", effect_applied=False)


class PlainJson(_Webhook):
    """The notice as JSON, `Idempotency-Key` as a header, and, with a secret, `X-Stepkeeper-Signature: sha256=<hex>`
    over the body. The receiver has to drop a key it has seen; that is what makes a second try harmless."""

    name = "json"
    kind = EffectKind.IDEMPOTENT

    def send(self, notice: Notice) -> Receipt:
        """Post the notice."""
        body = _bytes(notice.as_json())
        headers = {"Idempotency-Key": notice.key}
        if self.secret:
            signature = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
            headers["X-Stepkeeper-Signature"] = f"sha256={signature}"
        reply = post(self.url, body, headers, self.timeout)
        reference = reply.body.get("id", "") if isinstance(reply.body, dict) else ""
        return Receipt(self.name, str(reference)[:200])


class DingTalk(_Webhook):
    """DingTalk's custom robot, as Markdown. With a secret: `timestamp` (ms) and `sign` in the address."""

    name = "dingtalk"
    kind = EffectKind.UNDECLARED
    busy = frozenset({-1, 130101, 130102})

    def send(self, notice: Notice) -> Receipt:
        """Post the notice."""
        text = clipped("\n\n".join([f"### {notice.title}", *notice.lines]), 20_000)
        body = {"msgtype": "markdown", "markdown": {"title": clipped(notice.title, 100), "text": text}}
        _told(self.name, post(self._address(), _bytes(body), {}, self.timeout), "errcode", "errmsg", self.busy)
        return Receipt(self.name)

    def _address(self) -> str:
        if not self.secret:
            return self.url
        moment = self.clock_ms()
        sign = base64.b64encode(_hmac(self.secret, f"{moment}\n{self.secret}")).decode()
        return f"{self.url}{'&' if '?' in self.url else '?'}timestamp={moment}&sign={quote_plus(sign)}"


class WeCom(_Webhook):
    """WeCom's group robot, as Markdown of at most 4096 bytes. Its key stands in the address; it has no signature."""

    name = "wecom"
    kind = EffectKind.UNDECLARED
    busy = frozenset({-1, 45009, 45033})

    def send(self, notice: Notice) -> Receipt:
        """Post the notice."""
        content = clipped("\n".join([f"### {notice.title}", *notice.lines]), 4096)
        body = {"msgtype": "markdown", "markdown": {"content": content}}
        _told(self.name, post(self.url, _bytes(body), {}, self.timeout), "errcode", "errmsg", self.busy)
        return Receipt(self.name)


class Feishu(_Webhook):
    """Feishu's custom bot, as text. With a secret: `timestamp` (s) and `sign` in the body; the secret signs nothing but
    itself: it is part of the HMAC's key, the message is empty."""

    name = "feishu"
    kind = EffectKind.UNDECLARED
    busy = frozenset({9499, 11232})

    def send(self, notice: Notice) -> Receipt:
        """Post the notice."""
        # The page's limit is 20 KB for the whole request, escapes of the text included.
        body: dict[str, Any] = {"msg_type": "text", "content": {"text": clipped(notice.text(), 18_000)}}
        if self.secret:
            moment = str(self.clock_ms() // 1000)
            sign = base64.b64encode(_hmac(f"{moment}\n{self.secret}", "")).decode()
            body = {"timestamp": moment, "sign": sign, **body}
        _told(self.name, post(self.url, _bytes(body), {}, self.timeout), "code", "msg", self.busy)
        return Receipt(self.name)


def _told(name: str, reply: Reply, code_key: str, text_key: str, busy: frozenset[int]) -> None:
    """Robots answer 200 whatever happens; the code in the body says whether the message was taken."""
    body = reply.body
    if not isinstance(body, dict) or code_key not in body:
        raise TemporaryUpstreamError(
            f"{name} answered {reply.status} without {code_key}", upstream=UPSTREAM, status=reply.status
        )
    code = body[code_key]
    if code == 0:
        return
    said = f"{name} answered {code_key} {code}: {str(body.get(text_key, ''))[:200]}"
    if code in busy:
        raise TemporaryUpstreamError(said, upstream=UPSTREAM, effect_applied=False)
    raise SystemFault(said, effect_applied=False)
