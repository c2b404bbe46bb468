"""Faults on demand hit the requests their rules name, as often as they say, the same way every time."""

from __future__ import annotations

import asyncio
import http.client
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from local_sim.services import Dialect, FaultHit, FaultKind, FaultRule, Faults, InvalidFaultRule, ServiceHost
from local_sim.services.asgi import Receive, Reply, Scope, Send, read_body, send_reply

LOST = (http.client.RemoteDisconnected, ConnectionResetError)
DIALECT = Dialect(
    "box", lambda scope, body: scope["path"][1:], lambda code: Reply(503, (), (code or "SlowDown").encode())
)


class Box:
    """A service that keeps every body it was given, in order."""

    def __init__(self) -> None:
        self.got: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_body(receive)
        self.got.append(body or b"")
        await send_reply(send, Reply(200, (), b"kept %d of " % len(self.got) + (body or b"")))


class Rig:
    """A faulty box on a port, and a client."""

    def __init__(self) -> None:
        self.box = Box()
        self.faults = Faults()
        self.host = ServiceHost(self.faults.wrap(self.box, DIALECT))

    def ask(self, body: bytes, api: str = "Put") -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.host.port, timeout=10)
        try:
            connection.request("POST", f"/{api}", body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def eventually(holds: Callable[[], bool]) -> None:
    """Wait, a few milliseconds as a rule, for what another thread does."""
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.fixture
def rig() -> Iterator[Rig]:
    made = Rig()
    with made.host:
        yield made


def test_without_rules_nothing_changes(rig: Rig) -> None:
    assert rig.ask(b"a") == (200, b"kept 1 of a")
    assert rig.faults.hits == []


def test_drop_before_never_reaches_the_service(rig: Rig) -> None:
    rig.faults.add(FaultRule("box", "Put", FaultKind.DROP_BEFORE, times=1))
    with pytest.raises(LOST):
        rig.ask(b"a")
    assert rig.box.got == []
    assert rig.ask(b"b") == (200, b"kept 1 of b")


def test_drop_after_is_applied_without_an_answer(rig: Rig) -> None:
    rig.faults.add(FaultRule("box", "Put", FaultKind.DROP_AFTER, times=1))
    with pytest.raises(LOST):
        rig.ask(b"a")
    assert rig.box.got == [b"a"]


@pytest.mark.parametrize(("code", "body"), [(None, b"SlowDown"), ("Conflict", b"Conflict")])
def test_applied_then_error_answers_in_the_services_own_words(rig: Rig, code: str | None, body: bytes) -> None:
    rig.faults.add(FaultRule("box", "Put", FaultKind.APPLIED_THEN_ERROR, times=1, code=code))
    assert rig.ask(b"a") == (503, body)
    assert rig.box.got == [b"a"]


def test_throttle_applies_nothing(rig: Rig) -> None:
    rig.faults.add(FaultRule("box", "Put", FaultKind.THROTTLE, times=2))
    assert [rig.ask(b"a"), rig.ask(b"b"), rig.ask(b"c")] == [
        (503, b"SlowDown"),
        (503, b"SlowDown"),
        (200, b"kept 1 of c"),
    ]


def test_duplicate_delivers_twice_and_answers_with_the_first(rig: Rig) -> None:
    rig.faults.add(FaultRule("box", "Put", FaultKind.DUPLICATE, times=1))
    assert rig.ask(b"a") == (200, b"kept 1 of a")
    assert rig.box.got == [b"a", b"a"]


@pytest.mark.parametrize("rules", [[], [FaultRule("box", "Get", FaultKind.THROTTLE)]])
def test_a_body_streams_through_piece_by_piece(rules: list[FaultRule]) -> None:
    asked, taken = [], []

    async def receive() -> dict[str, object]:
        asked.append(len(taken))
        return {"type": "http.request", "body": b"x", "more_body": len(asked) < 3}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while len(taken) < 3:
            taken.append(await receive())

    async def send(message: object) -> None:
        pass

    faults = Faults()
    for rule in rules:
        faults.add(rule)
    asyncio.run(faults.wrap(app, DIALECT)({"type": "http", "path": "/Put"}, receive, send))
    assert asked == [0, 1, 2]  # no piece is read before the app wants it


@pytest.mark.parametrize("size", [0, 1, 1024 * 1024, 5_000_000])
def test_a_repeated_body_of_any_size_is_the_same_again(rig: Rig, size: int) -> None:
    rig.faults.add(FaultRule("box", "Put", FaultKind.DUPLICATE, times=1))
    body = (bytes(range(251)) * (size // 251 + 1))[:size]
    assert rig.ask(body) == (200, b"kept 1 of " + body)
    assert rig.box.got == [body, body]


def test_half_of_a_large_answer_arrives(rig: Rig) -> None:
    rig.faults.add(FaultRule("box", "Put", FaultKind.PARTIAL_BODY, times=1))
    with pytest.raises(http.client.IncompleteRead) as caught:
        rig.ask(bytes(2_000_000))
    assert caught.value.partial == b"kept 1 of " + bytes(999_995)


def test_partial_body_cuts_the_answer_in_half(rig: Rig) -> None:
    rig.faults.add(FaultRule("box", "Put", FaultKind.PARTIAL_BODY, times=1))
    with pytest.raises(http.client.IncompleteRead) as caught:
        rig.ask(b"a")
    assert caught.value.partial == b"kept "
    assert rig.box.got == [b"a"]


def test_delay_waits_as_long_as_the_rule_says() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"a", "more_body": False}

    async def send(message: object) -> None:
        pass

    box, faults = Box(), Faults(sleep=sleep)
    faults.add(FaultRule("box", "Put", FaultKind.DELAY, times=1, delay_ms=250))
    app = faults.wrap(box, DIALECT)
    for _ in range(2):
        asyncio.run(app({"type": "http", "path": "/Put"}, receive, send))
    assert (slept, box.got) == ([0.25], [b"a", b"a"])


def test_reorder_lets_a_later_request_overtake(rig: Rig) -> None:
    rig.faults.add(FaultRule("box", "Put", FaultKind.REORDER, times=1, delay_ms=10_000))
    answers: list[tuple[int, bytes]] = []
    first = threading.Thread(target=lambda: answers.append(rig.ask(b"first")))
    first.start()
    eventually(lambda: bool(rig.faults.hits))
    assert rig.ask(b"second") == (200, b"kept 1 of second")
    first.join()
    assert answers == [(200, b"kept 2 of first")]
    assert rig.box.got == [b"second", b"first"]


def test_reorder_goes_on_alone_after_its_delay(rig: Rig) -> None:
    rig.faults.add(FaultRule("box", "Put", FaultKind.REORDER, times=1, delay_ms=1))
    assert rig.ask(b"only") == (200, b"kept 1 of only")


def test_late_cuts_now_and_lands_after_the_next(rig: Rig) -> None:
    rig.faults.add(FaultRule("box", "Put", FaultKind.LATE, times=1, delay_ms=10_000))
    with pytest.raises(LOST):
        rig.ask(b"first")
    assert rig.ask(b"second") == (200, b"kept 1 of second")
    eventually(lambda: len(rig.box.got) == 2)
    assert rig.box.got == [b"second", b"first"]


@pytest.mark.parametrize(
    ("service", "api", "hit"),
    [("box", "Put", True), ("*", "*", True), ("box", "*", True), ("box", "Get", False), ("other", "Put", False)],
)
def test_a_rule_matches_by_service_and_api(rig: Rig, service: str, api: str, hit: bool) -> None:
    rule = rig.faults.add(FaultRule(service, api, FaultKind.THROTTLE))
    assert rig.ask(b"a")[0] == (503 if hit else 200)
    assert rig.faults.hits == ([FaultHit(rule, "box", "Put", FaultKind.THROTTLE)] if hit else [])


def test_the_first_rule_that_strikes_decides(rig: Rig) -> None:
    rig.faults.add(FaultRule("box", "Put", FaultKind.THROTTLE, rate=0))
    second = rig.faults.add(FaultRule("box", "Put", FaultKind.DUPLICATE))
    rig.faults.add(FaultRule("box", "Put", FaultKind.DROP_BEFORE))
    assert rig.ask(b"a") == (200, b"kept 1 of a")
    assert [hit.rule for hit in rig.faults.hits] == [second]


def pattern(rig: Rig, seed: int, count: int = 60) -> list[int]:
    rig.faults.clear()
    rig.faults.add(FaultRule("box", "Put", FaultKind.THROTTLE, rate=0.3, seed=seed))
    return [rig.ask(b"")[0] for _ in range(count)]


def test_a_seed_fixes_which_requests_are_hit(rig: Rig) -> None:
    first = pattern(rig, seed=7)
    assert pattern(rig, seed=7) == first
    assert pattern(rig, seed=8) != first
    assert 5 <= first.count(503) <= 35


def test_rules_change_while_the_service_runs(rig: Rig) -> None:
    rule = FaultRule("box", "Put", FaultKind.THROTTLE)
    identity = rig.faults.add(rule)
    assert rig.faults.rules == {identity: rule}
    assert rig.ask(b"")[0] == 503
    assert rig.faults.remove(identity)
    assert not rig.faults.remove(identity)
    assert rig.ask(b"")[0] == 200
    rig.faults.add(rule)
    rig.faults.clear()
    assert (rig.faults.rules, rig.faults.hits, rig.ask(b"")[0]) == ({}, [], 200)


@pytest.mark.parametrize(
    ("field", "value"), [("rate", 1.5), ("rate", -0.1), ("times", 0), ("delay_ms", -1), ("kind", "explode")]
)
def test_an_impossible_rule_is_refused(field: str, value: object) -> None:
    with pytest.raises(InvalidFaultRule) as caught:
        FaultRule(**{"service": "box", "api": "Put", "kind": "delay", field: value})  # type: ignore[arg-type]
    assert caught.value.field == field


def test_a_kind_may_be_given_by_its_name() -> None:
    assert FaultRule("box", "Put", "drop-after").kind is FaultKind.DROP_AFTER  # type: ignore[arg-type]
