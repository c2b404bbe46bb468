"""What the states that wait for a person share: the callback token, the notice, and how to answer.

Each visit of a waiting state has a token of its own. It is kept in OSS, one object a token, before anybody is told; a
notice never carries it, and nothing in a notice decides anything when it is fetched (case C44). Answering tools take
the newest token of the state (assumption K04).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from functions.errors import redact
from functions.models import ErrorContext
from functions.notices import Notice, Receipt, sender
from functions.notices.base import NoticeKind
from functions.payloads import Payloads, object_key
from functions.settings import Settings

__all__ = ["ReviewToken", "hint", "keep_token", "readable", "tell", "token_folder", "tokens"]


@dataclass(frozen=True)
class ReviewToken:
    """A kept callback token: the waiting state with its lap, the token, and when it was kept (s since 1970)."""

    step: str
    token: str
    kept_at: int


def token_folder(task_id: str, step: str = "") -> str:
    """Where the tokens of a task, or of one of its waiting states, lie."""
    return object_key("tokens", task_id, f"{step}/" if step else "")


def keep_token(payloads: Payloads, task_id: str, step: str, token: str) -> None:
    """Keep the token of this visit; quiet when it is kept already."""
    name = hashlib.sha256(token.encode()).hexdigest()[:32]
    body = json.dumps({"step": step, "token": token}).encode()
    payloads.put(f"{token_folder(task_id, step)}{name}.json", body, "application/json")


def tokens(payloads: Payloads, task_id: str) -> list[ReviewToken]:
    """The kept tokens of a task, newest first. All but the newest of a state belong to visits that are over."""
    kept = []
    for info in payloads.bucket.listing(token_folder(task_id)):
        data = payloads.bucket.get(info.key, info.size)
        if data is not None:
            body = json.loads(data)
            kept.append(ReviewToken(body["step"], body["token"], info.modified))
    return kept


def tell(settings: Settings, kind: NoticeKind, task_id: str, title: str, lines: list[str], key: str) -> Receipt:
    """Send a notice with the sender of the settings."""
    return sender(settings).send(Notice(kind, task_id, title, tuple(lines), key))


def hint(settings: Settings, task_id: str, command: str) -> str:
    """How to answer from a terminal, with `command` of scripts/review.py (`show` for reviews, `answer` for others)."""
    return settings.answer_hint.replace("{command}", command).replace("{task_id}", task_id)


def readable(error: ErrorContext) -> dict[str, str]:
    """Code and message of a caught error, redacted. FC's error body is unpacked, its stack is left to the log.

    The body's form is not promised (decision A06), so anything that cannot be unpacked is kept as text.
    """
    body = error.detail
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return {"code": redact(error.code, 200), "message": redact(str(error.detail))}
    if isinstance(body, dict):
        message = body.get("errorMessage", body.get("message", json.dumps(body, ensure_ascii=False)))
    else:
        message = "" if body is None else body
    return {"code": redact(error.code, 200), "message": redact(str(message))}
