"""The same request twice is one request: at an HTTP entry, or wherever a message with a business key is sent.

    gate = RequestGate(Ledger.open().entries)
    answer = gate.run(Request("refund", entity="order-7", intent="refund", round=1), effect)

The first to come runs the effect and keeps its answer. Whoever comes while it runs gets `AlreadyRunning` (HTTP 425 Too
Early, RFC 8470, with Retry-After); whoever comes afterwards gets the answer that was kept. A runner that died is
followed by another once its lease is over; the effect has to be exactly-once by its own key then, as a step's is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from functions.clock import now_ms
from functions.errors import InvalidInput, StepkeeperError
from ledger import Entries, Entry

__all__ = ["AlreadyRunning", "Request", "RequestGate", "fingerprint"]

Claim: TypeAlias = "dict[str, str | int | float | bool]"
_LEASE_SECONDS = 60.0
_TOO_EARLY = 425


class AlreadyRunning(StepkeeperError):
    """The same request is being worked on. `retry_after` is in seconds; as HTTP it is 425 Too Early."""

    retryable = True
    advice = "Wait and ask again: the answer of the first request will be there."
    status = _TOO_EARLY

    def __init__(self, request: Request, retry_after: float) -> None:
        super().__init__(
            f"the request {request.intent} of {request.entity} is being worked on",
            effect_applied=False,
            retry_after=retry_after,
        )
        self.retry_after = retry_after


@dataclass(frozen=True)
class Request:
    """What makes two requests the same: kind, entity, intent and round, all of the business. Never a time, a random
    number or an attempt: those differ between two clicks that mean the same.

    `content` is a fingerprint of what was asked; the same key with another content is refused.
    """

    kind: str
    entity: str
    intent: str
    round: int = 1
    content: str = ""

    @property
    def key(self) -> str:
        """The idempotency key: it goes along to the other side, too."""
        text = json.dumps([self.kind, self.entity, self.intent, self.round], ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def fingerprint(value: Any) -> str:
    """Return a fingerprint of a JSON value that does not depend on the order of keys."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class RequestGate:
    """Lets the first of equal requests through. `lease_seconds` is the longest an effect takes."""

    def __init__(
        self, entries: Entries, *, lease_seconds: float = _LEASE_SECONDS, clock_ms: Callable[[], int] = now_ms
    ) -> None:
        self._entries, self._lease_ms, self._clock_ms = entries, round(lease_seconds * 1000), clock_ms

    def run(self, request: Request, effect: Callable[[Request], Any]) -> Any:
        """Return the effect's answer, run now or kept from before: a JSON value.

        Raises `AlreadyRunning`, `InvalidInput` for another content under the same key, and what the effect raises; a
        failed effect leaves the gate open for the next one.
        """
        entry = self._enter(request)
        if str(entry.columns["state"]) == "done":
            return json.loads(str(entry.columns["answer"]))
        try:
            answer = effect(request)
        except BaseException:
            self._entries.change(entry, {"state": "open"}, {"state": "failed"})
            raise
        text = json.dumps(answer, ensure_ascii=False, allow_nan=False)
        # Lost against a successor that took over after the lease: its answer is the one that counts.
        if self._entries.change(entry, {"state": "done", "answer": text}, {"state": "done"}) is None:
            return self.run(request, effect)
        return answer

    def _enter(self, request: Request) -> Entry:
        """Return the entry, claimed for us or done."""
        until = self._clock_ms() + self._lease_ms
        claim: Claim = {"state": "running", "until_ms": until, "content": request.content, "answer": ""}
        made = self._entries.create(*_place(request), claim, {"state": "running"})
        if made is not None:
            return made
        entry = self._entries.read(*_place(request))
        if entry is None:
            raise AlreadyRunning(request, 1.0)
        return self._join(request, entry, claim)

    def _join(self, request: Request, entry: Entry, claim: Claim) -> Entry:
        columns = entry.columns
        if str(columns["content"]) != request.content:
            raise InvalidInput(
                f"{request.intent} of {request.entity} was asked for before with another content",
                path="content",
                reason="differs",
            )
        state, until = str(columns["state"]), int(str(columns["until_ms"]))
        if state == "done":
            return entry
        left = (until - self._clock_ms()) / 1000
        if state == "running" and left > 0:
            raise AlreadyRunning(request, round(min(left, 5.0), 3))
        taken = self._entries.change(entry, claim, {"state": "running"})
        if taken is None:
            raise AlreadyRunning(request, 1.0)
        return taken


def _place(request: Request) -> tuple[str, str]:
    """The task and the entry of a request. Spread over 256 tasks, as one would be one partition for all requests."""
    return f"requests-{request.key[:2]}", f"request/{request.key}"
