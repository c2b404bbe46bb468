"""What the ledger's tests share: a clock one can turn, a wire one can break, and an outside world that counts."""

from __future__ import annotations

import functools
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from direct import DirectApp
from tablestore.protobuf import table_store_pb2
from urllib3.exceptions import ProtocolError, ReadTimeoutError

from ledger import Credentials, Ledger, LedgerSettings
from ledger.client import _new_client as new_sdk_client
from local_sim.services.tablestore import LOCAL_KEY_ID, LOCAL_SECRET

START_MS = 1_780_000_000_000
WV = "flow-1"


class TurnableClock:
    """Virtual time shared by several workers; each sees it `skew_ms` off. Sleeping moves it."""

    def __init__(self, skew_ms: int = 0, base: list[float] | None = None) -> None:
        self._base = base if base is not None else [0.0]
        self._skew_ms = skew_ms

    def skewed(self, skew_ms: int) -> TurnableClock:
        return TurnableClock(skew_ms, self._base)

    def now_ms(self) -> int:
        return START_MS + self._skew_ms + int(self._base[0] * 1000)

    def monotonic(self) -> float:
        return self._base[0]

    def sleep(self, seconds: float) -> None:
        self._base[0] += seconds


class StoreClock:
    """The store's own time: strictly rising, and nobody's wall clock."""

    def __init__(self) -> None:
        self._now = START_MS
        self._lock = threading.Lock()

    def now_ms(self) -> int:
        with self._lock:
            self._now += 1
            return self._now

    def sleep_until(self, due_ms: int) -> None:
        self._now = max(self._now, due_ms)


class Crash(BaseException):
    """The process dies here: nothing that catches Exception may run."""


def local_credentials() -> Credentials:
    return Credentials(LOCAL_KEY_ID, LOCAL_SECRET)


Wire = Callable[[str, Any, bytes], tuple[int, str, dict[str, str], bytes]]


class DirectWire:
    """The real SDK's requests handed to the real service without a socket."""

    def __init__(self, app: Any) -> None:
        self._app = DirectApp(app)
        self.requests: list[str] = []

    def __call__(self, url: str, headers: Any, body: bytes) -> tuple[int, str, dict[str, str], bytes]:
        self.requests.append(url.lstrip("/"))
        answer = self._app.ask("POST", url, {name: _text(value) for name, value in headers.items()}, body)
        return answer.status, "", answer.headers, answer.body


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


class _Connection:
    def __init__(self, wire: Wire) -> None:
        self.send_receive = wire


def sdk_client(wire: Wire) -> Any:
    """The unmodified SDK client over a wire of ours."""
    client = new_sdk_client(settings(), local_credentials)
    client.connection = _Connection(wire)
    return client


def service_error(code: str, status: int = 503) -> tuple[int, str, dict[str, str], bytes]:
    """The smallest legal error answer."""
    return status, "", {}, table_store_pb2.Error(code=code, message="injected").SerializeToString()


@dataclass
class Faults:
    """A wire that breaks. `plan` gives the fault of each request in turn; `None` lets it through."""

    inner: Wire
    plan: Callable[[int, str], str | None]
    clock: TurnableClock | None = None
    count: int = 0
    log: list[str] = field(default_factory=list)
    held_back: list[tuple[str, Any, bytes]] = field(default_factory=list)

    def __call__(self, url: str, headers: Any, body: bytes) -> tuple[int, str, dict[str, str], bytes]:
        number, self.count = self.count, self.count + 1
        fault = self.plan(number, url)
        self.log.append(f"{url} {fault or '-'}")
        return getattr(self, f"_{fault or 'pass'}")(url, headers, body)

    def release(self) -> None:
        """Deliver what was held back, late and out of order."""
        while self.held_back:
            self.inner(*self.held_back.pop())

    def _pass(self, *request: Any) -> Any:
        return self.inner(*request)

    def _crash_before(self, *request: Any) -> Any:
        raise Crash

    def _crash_after(self, *request: Any) -> Any:
        self.inner(*request)
        raise Crash

    def _drop_before(self, *request: Any) -> Any:
        raise ProtocolError("connection aborted")

    def _drop_after(self, *request: Any) -> Any:
        self.inner(*request)
        raise ReadTimeoutError(None, "", "read timed out")  # type: ignore[arg-type]

    def _busy_after(self, *request: Any) -> Any:
        self.inner(*request)
        return service_error("OTSServerBusy")

    def _conflict_after(self, *request: Any) -> Any:
        self.inner(*request)
        return service_error("OTSRowOperationConflict", 409)

    def _throttle(self, *request: Any) -> Any:
        return service_error("OTSNotEnoughCapacityUnit", 403)

    def _broken_500(self, *request: Any) -> Any:
        return 500, "", {}, b"<html>bad gateway</html>"

    def _duplicate(self, *request: Any) -> Any:
        self.inner(*request)
        return self.inner(*request)

    def _delay(self, *request: Any) -> Any:
        """The answer comes after every lease has run out."""
        answer = self.inner(*request)
        if self.clock:
            self.clock.sleep(45)
        return answer

    def _hold_back(self, *request: Any) -> Any:
        """The request arrives much later than everybody thinks."""
        self.held_back.append(request)  # type: ignore[arg-type]
        raise ReadTimeoutError(None, "", "read timed out")  # type: ignore[arg-type]


NET_FAULTS = (
    "drop_before",
    "drop_after",
    "busy_after",
    "conflict_after",
    "throttle",
    "broken_500",
    "duplicate",
    "delay",
    "hold_back",
)


class Outside:
    """The other side: it counts what takes effect, and honours idempotency keys when asked to."""

    def __init__(self) -> None:
        self.effects: list[str] = []
        self.calls: list[str] = []
        self._results: dict[str, Any] = {}
        self._lock = threading.Lock()

    def apply(self, name: str, key: str | None = None, result: Any = None) -> Any:
        with self._lock:
            self.calls.append(name)
            if key is not None and key in self._results:
                return self._results[key]
            self.effects.append(name)
            if key is not None:
                self._results[key] = result
            return result

    def lookup(self, key: str) -> tuple[bool, Any]:
        with self._lock:
            return key in self._results, self._results.get(key)


@functools.cache
def settings(**more: Any) -> LedgerSettings:
    base: dict[str, Any] = {
        "tablestore_endpoint": "http://127.0.0.1:1",
        "tablestore_instance": "local",
        "oss_endpoint": "",
        "oss_bucket": "",
    }
    return LedgerSettings(**{**base, **more})


def ledger_over(wire: Wire, clock: Any, seed: int = 0, blobs: Any = None, **more: Any) -> Ledger:
    return Ledger(settings(**more), sdk_client(wire), clock=clock, blobs=blobs, jitter=random.Random(seed))
