"""Faults on demand: an ASGI wrapper that loses, delays, repeats or refuses requests by rule.

Same rules, same seeds and same order of requests give the same faults. Rules can change while the service runs, from
any thread. What differs between services - the name of the API and the shape of an error - comes as a `Dialect`.
"""

from __future__ import annotations

import asyncio
import enum
import random
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from local_sim.services.asgi import ASGIApp, Receive, Reply, Scope, Send, read_body, send_reply
from local_sim.services.deliveries import Delivery, HeldAnswer, ignore, replayed
from local_sim.services.errors import ConnectionCut, InvalidFaultRule

_HITS_KEPT = 100_000
_LONGEST_DELAY_MS = 86_400_000
_TYPES: Mapping[str, tuple[type, ...]] = {
    "service": (str,),
    "api": (str,),
    "rate": (int, float),
    "times": (int, type(None)),
    "seed": (int,),
    "delay_ms": (int,),
    "code": (str, type(None)),
}


class FaultKind(str, enum.Enum):
    """What can happen to a request. `drop` is short for `drop-before`."""

    @classmethod
    def _missing_(cls, value: object) -> FaultKind | None:
        return cls.DROP_BEFORE if value == "drop" else None

    DROP_BEFORE = "drop-before"
    """The connection is cut and the service never sees the request."""
    DROP_AFTER = "drop-after"
    """The service applies the request, then the connection is cut without an answer."""
    APPLIED_THEN_ERROR = "applied-then-error"
    """The service applies the request, the client is told that the service is busy."""
    DELAY = "delay"
    """The request waits `delay_ms` before the service sees it."""
    THROTTLE = "throttle"
    """The service's own throttling error, nothing applied."""
    DUPLICATE = "duplicate"
    """The request is delivered twice; the client gets the first answer."""
    PARTIAL_BODY = "partial-body"
    """The request is applied, half of the answer's body arrives, then the connection is cut."""
    REORDER = "reorder"
    """The request waits until a later one is over, at most `delay_ms`."""
    LATE = "late"
    """The connection is cut at once, and the request still lands after a later one, at most `delay_ms` later."""


_UNSEEN = frozenset({FaultKind.DROP_BEFORE, FaultKind.THROTTLE, FaultKind.LATE})


@dataclass(frozen=True)
class FaultRule:
    """Which requests meet which fault.

    `service` and `api` are names or `*`. `rate` is the chance of each matching request, 0 to 1; `times` is the most
    hits; with neither every matching request is hit. `code` replaces the dialect's usual error code. Raises
    `InvalidFaultRule`.
    """

    service: str
    api: str
    kind: FaultKind
    rate: float = 1.0
    times: int | None = None
    seed: int = 0
    delay_ms: int = 100
    code: str | None = None

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "kind", FaultKind(self.kind))
        except ValueError:
            known = ", ".join(kind.value for kind in FaultKind)
            raise InvalidFaultRule("kind", f"{self.kind!r} is none of {known}") from None
        self._check_types()
        if not 0 <= self.rate <= 1:
            raise InvalidFaultRule("rate", f"{self.rate} is not between 0 and 1")
        if self.times is not None and self.times < 1:
            raise InvalidFaultRule("times", f"{self.times} is less than 1")
        if not 0 <= self.delay_ms <= _LONGEST_DELAY_MS:
            raise InvalidFaultRule("delay_ms", f"{self.delay_ms} is not between 0 and {_LONGEST_DELAY_MS}")

    def _check_types(self) -> None:
        """Refuse what JSON lets through; a bool is no number here."""
        for name, types in _TYPES.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, types):
                raise InvalidFaultRule(name, f"{value!r} is of the wrong type")


@dataclass(frozen=True)
class FaultHit:
    """A fault that happened; `rule` is the id that `add` returned."""

    rule: int
    service: str
    api: str
    kind: FaultKind


@dataclass(frozen=True)
class Dialect:
    """What the wrapper must know of a service.

    `api_of` names the API of a request from its scope and body. `error` makes the answer of a refused request, with
    the given code or, for None, the one the service throttles with. With `reads_body` the body, which must then be
    small, is read first for `api_of`; else it gets an empty one and bodies stream through.
    """

    service: str
    api_of: Callable[[Scope, bytes], str]
    error: Callable[[str | None], Reply]
    reads_body: bool = False


@dataclass
class _Armed:
    id: int
    rule: FaultRule
    chance: random.Random
    hits: int = 0

    def strikes(self, service: str, api: str) -> bool:
        rule = self.rule
        if rule.service not in ("*", service) or rule.api not in ("*", api):
            return False
        if rule.times is not None and self.hits >= rule.times:
            return False
        # One draw for every matching request, hit or not, so that the n-th request's fate depends on the seed alone.
        if self.chance.random() >= rule.rate:
            return False
        self.hits += 1
        return True


class Faults:
    """The rules of all services. The first rule that strikes decides a request's fate."""

    def __init__(self, *, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self._sleep = sleep
        self._lock = threading.Lock()
        self._armed: dict[int, _Armed] = {}
        self._hits: deque[FaultHit] = deque(maxlen=_HITS_KEPT)
        self._last_id = 0

    def add(self, rule: FaultRule) -> int:
        """Put `rule` last and return its id."""
        with self._lock:
            self._last_id += 1
            chance = random.Random(rule.seed)  # noqa: S311 - reproducible on purpose
            self._armed[self._last_id] = _Armed(self._last_id, rule, chance)
            return self._last_id

    def remove(self, rule_id: int) -> bool:
        """Take a rule out; False when there is none of that id."""
        with self._lock:
            return self._armed.pop(rule_id, None) is not None

    def clear(self) -> None:
        """Take all rules out and forget the hits."""
        with self._lock:
            self._armed.clear()
            self._hits.clear()

    @property
    def rules(self) -> Mapping[int, FaultRule]:
        """The rules by id, in the order in which they are asked."""
        with self._lock:
            return {armed.id: armed.rule for armed in self._armed.values()}

    @property
    def hits(self) -> list[FaultHit]:
        """The faults that happened, oldest first; the last 100,000 of them."""
        with self._lock:
            return list(self._hits)

    def wrap(self, app: ASGIApp, dialect: Dialect) -> ASGIApp:
        """Return `app` with the faults of the rules for `dialect.service`."""
        return _FaultyApp(app, dialect, self._pick, self._sleep)

    def _pick(self, service: str, api: str) -> FaultRule | None:
        with self._lock:
            for armed in self._armed.values():
                if armed.strikes(service, api):
                    self._hits.append(FaultHit(armed.id, service, api, armed.rule.kind))
                    return armed.rule
        return None


_Pick: TypeAlias = "Callable[[str, str], FaultRule | None]"
_Sleep: TypeAlias = "Callable[[float], Awaitable[object]]"


class _FaultyApp:
    """Stands before an app. Bodies of any size stream through; a fault that repeats one keeps it on the disk."""

    def __init__(self, app: ASGIApp, dialect: Dialect, pick: _Pick, sleep: _Sleep) -> None:
        self._app = app
        self._dialect = dialect
        self._pick = pick
        self._sleep = sleep
        self._waiting: set[asyncio.Event] = set()
        self._late: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = b""
        if self._dialect.reads_body:
            body = await read_body(receive)
            if body is None:
                return  # the client left before the end of its request
            head, receive = body, replayed(body, receive)
        rule = self._pick(self._dialect.service, self._dialect.api_of(scope, head))
        request = Delivery(self._app, scope, receive)
        try:
            if rule is None:
                await request.deliver(send)
            else:
                await self._suffer(rule, request, send)
        finally:
            if rule is None or rule.kind not in (FaultKind.REORDER, FaultKind.LATE):
                self._wake()

    async def _suffer(self, rule: FaultRule, request: Delivery, send: Send) -> None:
        if rule.kind is FaultKind.DELAY:
            await self._sleep(rule.delay_ms / 1000)
            await request.deliver(send)
        elif rule.kind is FaultKind.REORDER:
            await self._overtaken(rule)
            await request.deliver(send)
        elif rule.kind in _UNSEEN:
            await self._keep_away(rule, request, send)
        else:
            await self._answer_badly(rule, request, send)

    async def _keep_away(self, rule: FaultRule, request: Delivery, send: Send) -> None:
        """The faults of a request that the service does not see now: read to its end, then refused or cut."""
        whole = await request.keep()
        if rule.kind is FaultKind.LATE and whole:
            self._deliver_late(rule, request)
        if rule.kind is not FaultKind.THROTTLE:
            raise ConnectionCut
        if whole:
            await send_reply(send, self._dialect.error(rule.code))

    async def _answer_badly(self, rule: FaultRule, request: Delivery, send: Send) -> None:
        """The faults in which the service sees the request first."""
        if rule.kind is FaultKind.APPLIED_THEN_ERROR:
            await request.deliver(ignore)
            await send_reply(send, self._dialect.error(rule.code))
        elif rule.kind is FaultKind.DUPLICATE:
            if await request.keep():
                answer = HeldAnswer()
                await request.deliver(answer.take)
                await request.deliver(ignore)
                await answer.send(send)
        else:
            answer = HeldAnswer()
            await request.deliver(answer.take if rule.kind is FaultKind.PARTIAL_BODY else ignore)
            if rule.kind is FaultKind.PARTIAL_BODY:
                await answer.send_half(send)
            raise ConnectionCut

    def _deliver_late(self, rule: FaultRule, request: Delivery) -> None:
        async def deliver() -> None:
            await self._overtaken(rule)
            await request.deliver(ignore)

        task = asyncio.get_running_loop().create_task(deliver())
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    async def _overtaken(self, rule: FaultRule) -> None:
        """Return when a later request is over, at the latest after `delay_ms`."""
        overtaken = asyncio.Event()
        self._waiting.add(overtaken)
        timer = asyncio.ensure_future(self._sleep(rule.delay_ms / 1000))
        event = asyncio.ensure_future(overtaken.wait())
        try:
            await asyncio.wait({timer, event}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._waiting.discard(overtaken)
            timer.cancel()
            event.cancel()

    def _wake(self) -> None:
        for overtaken in self._waiting:
            overtaken.set()
