"""The shipped handlers with every request they send going through one gate, at which the process can be made to end.

Tablestore, OSS and the shop are the real local services, asked by the real SDKs; only the sockets are left out. In the
process that ends nothing runs any more (`Stopped` is no `Exception`); the next one begins with fresh objects and a
clock that is past every lease.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import requests
from direct import DirectApp
from requests.adapters import BaseAdapter, HTTPAdapter
from urllib3 import HTTPResponse

from functions.entry import fc_handlers
from functions.payloads import Payloads
from ledger import Credentials, Ledger, LedgerSettings
from ledger.client import _new_client as new_sdk_client
from local_sim.services.tablestore import LOCAL_KEY_ID, LOCAL_SECRET
from scripts.shop import Store

START_MS = 1_780_000_000_000
AWAY = "http://127.0.0.1:1"
BUCKET = "stepkeeper-stopped"
Point = tuple[int, str]
Json = dict[str, Any]
_numbers = itertools.count()


class Stopped(BaseException):
    """The process ends here: nothing that catches Exception may run."""


class Clock:
    """The workers' clock; sleeping moves it."""

    def __init__(self) -> None:
        self.passed = 0.0

    def now_ms(self) -> int:
        return START_MS + int(self.passed * 1000)

    def monotonic(self) -> float:
        return self.passed

    def sleep(self, seconds: float) -> None:
        self.passed += seconds


@dataclass
class Gate:
    """Counts the requests of one process, and ends it before or after the one that `stop` names."""

    stop: Point | None = None
    sent: list[str] = field(default_factory=list)

    def open(self, stop: Point | None = None) -> None:
        self.stop, self.sent = stop, []

    def through(self, kind: str, send: Callable[[], Any]) -> Any:
        number = len(self.sent)
        self.sent.append(kind)
        if self.stop == (number, "before"):
            raise Stopped
        answer = send()
        if self.stop == (number, "after"):
            raise Stopped
        return answer


class Wires:
    """The three SDKs' ways out, each through the gate to a local service."""

    def __init__(self, gate: Gate, tables: Any, objects: Any, shop: Any) -> None:
        self.gate = gate
        self._tables, self._objects, self._shop = DirectApp(tables), DirectApp(objects), DirectApp(shop)
        self._http = httpx.Client(transport=httpx.MockTransport(self._web))

    def send_receive(self, url: str, headers: Any, body: bytes) -> tuple[int, str, dict[str, str], bytes]:
        """As the Tablestore SDK's connection."""
        texts = {name: value.decode() if isinstance(value, bytes) else str(value) for name, value in headers.items()}
        answer = self.gate.through(url.lstrip("/"), lambda: self._tables.ask("POST", url, texts, body))
        return answer.status, "", answer.headers, answer.body

    def oss(self, request: requests.PreparedRequest) -> requests.Response:
        """As an adapter of requests."""
        where = urlsplit(str(request.url))
        body = request.body if request.body is not None else b""
        data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else body.read()
        headers = {name: _latin(value) for name, value in {"host": where.netloc, **request.headers}.items()}
        kind = f"OSS {request.method}"
        answer = self.gate.through(
            kind, lambda: self._objects.ask(str(request.method), where.path, headers, data, where.query)
        )
        raw = HTTPResponse(
            io.BytesIO(answer.body), answer.headers, answer.status, preload_content=False, request_method=request.method
        )
        return HTTPAdapter().build_response(request, raw)

    def web(self, method: str, url: str, **more: Any) -> httpx.Response:
        """As httpx.request."""
        return self._http.request(method, url, **more)

    def _web(self, request: httpx.Request) -> httpx.Response:
        headers = dict(request.headers)
        kind = f"shop {request.method} {request.url.path.strip('/')}"
        answer = self.gate.through(
            kind,
            lambda: self._shop.ask(
                request.method,
                request.url.raw_path.decode().partition("?")[0],
                headers,
                request.read(),
                request.url.query.decode(),
            ),
        )
        return httpx.Response(answer.status, headers=answer.headers, content=answer.body)


class _Adapter(BaseAdapter):
    def __init__(self, wires: Wires) -> None:
        super().__init__()
        self._wires = wires

    def send(self, request: Any, *_: Any, **__: Any) -> requests.Response:
        return self._wires.oss(request)

    def close(self) -> None:
        """Nothing is open."""


def _latin(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


@dataclass
class Stage:
    """The handlers, the services behind them, and what can be seen of the world outside."""

    wires: Wires
    store: Store
    outbox: Path
    clock: Clock = field(default_factory=Clock)
    ledger: Ledger | None = None

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        adapter = _Adapter(self.wires)
        monkeypatch.setattr(requests.Session, "get_adapter", lambda *_, **__: adapter)
        monkeypatch.setattr(httpx, "request", self.wires.web)
        monkeypatch.setattr(Ledger, "open", classmethod(lambda cls, *_, **__: self.ledger))

    def process(self, stop: Point | None = None) -> None:
        """Begin a new process, long after the last one ended."""
        self.clock.sleep(3_700)
        settings = _settings()
        client = new_sdk_client(settings, lambda: Credentials(LOCAL_KEY_ID, LOCAL_SECRET))
        client.connection = self.wires
        self.ledger = Ledger(settings, client, clock=self.clock, jitter=random.Random(0))
        self.ledger._checked = True
        self.wires.gate.open(stop)

    def call(self, handler: str, event: Json) -> Json:
        """Call a function through its entry point, with bytes, as FC does."""
        text = getattr(fc_handlers, handler)(json.dumps(event, ensure_ascii=False).encode(), None)
        return dict(json.loads(text))

    def seen(self, task_id: str) -> Json:
        """What the world outside and the record hold of a task, its own name left out. Objects and notices are taken
        away, so that the next one finds an empty room."""
        self.wires.gate.open()
        assert self.ledger is not None
        rows = self.ledger.rows(task_id)
        return {
            "shop": [effect.kind for effect in self.store.effects(task_id)],
            "notices": sorted(self._notices()),
            "objects": sorted(self._objects(task_id)),
            "steps": sorted((row.step, row.direction.value, row.state) for row in rows),
            "reviews": self._reviews(task_id),
        }

    def _notices(self) -> Iterator[str]:
        for path in list(self.outbox.glob("*.json")):
            yield path.name.split("-")[0]
            path.unlink()

    def _objects(self, task_id: str) -> Iterator[tuple[str, str]]:
        bucket = Payloads.open().bucket
        for info in bucket.listing(""):
            data = bucket.get(info.key, info.size) or b""
            bucket.remove(info.key)
            digest = hashlib.sha256(data.replace(task_id.encode(), b"TASK")).hexdigest()
            yield info.key.replace(task_id, "TASK"), digest

    def _reviews(self, task_id: str) -> list[tuple[str, str]]:
        from functions.review import Desk

        rounds = Desk.open().reviews.of_task(task_id)
        return [(record.review.id.step, record.review.state.value) for record in rounds]


def _settings() -> LedgerSettings:
    return LedgerSettings(tablestore_endpoint=AWAY, tablestore_instance="local", oss_endpoint="", oss_bucket="")


Act = Callable[[Stage, str], Any]


@dataclass(frozen=True)
class Scene:
    """`before` sets the stage; `act` is what is stopped and repeated, until it ends."""

    name: str
    before: Act
    act: Act

    def play(self, stage: Stage, stops: tuple[Point, ...] = ()) -> tuple[str, int, int]:
        """Play to the end, a process for each stop and one more; returns the task, the processes begun, and the
        requests of the last one."""
        task_id = f"t{next(_numbers)}"
        stage.process()
        given = self.before(stage, task_id)
        for number in itertools.count():
            stage.process(stops[number] if number < len(stops) else None)
            try:
                self.act(stage, given)
            except Stopped:
                continue
            return task_id, number + 1, len(stage.wires.gate.sent)
        raise AssertionError("unreachable")


__all__ = ["AWAY", "BUCKET", "Gate", "Point", "Scene", "Stage", "Stopped", "Wires"]
