"""The small shop over HTTP: first answers for ever, effects counted, faults on demand, all there after kill -9."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_sim.services.host import ServiceHost
from scripts import shop
from scripts.shop import Effect, Store, create_app
from scripts.shop.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
CARD = {"amount": 300, "currency": "CNY", "method": "card-1"}


@dataclass
class Client:
    """Speaks to a shop. `post` gives status and body."""

    http: httpx.Client

    def post(self, place: str, body: Any, key: str = "") -> tuple[int, Any]:
        reply = self.http.post(f"/{place}", json=body, headers={"Idempotency-Key": key} if key else {})
        return reply.status_code, reply.json()

    def get(self, place: str) -> tuple[int, Any]:
        reply = self.http.get(f"/{place}")
        return reply.status_code, reply.json()

    def stock(self, sku: str, available: int) -> None:
        assert self.http.put(f"/stock/{sku}", json={"available": available}).status_code == 200

    def fault(self, place: str, kind: str, **more: Any) -> None:
        assert self.http.post("/faults", json={"place": place, "kind": kind, **more}).status_code == 204

    def effects(self, order: str = "o1") -> list[str]:
        return list(self.get(f"effects?order={order}")[1]["effects"])


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    app = create_app(tmp_path)
    with ServiceHost(app) as host, httpx.Client(base_url=host.endpoint, timeout=10) as http:
        yield Client(http)
    app.close()


def lines(quantity: int = 2) -> dict[str, Any]:
    return {"order": "o1", "lines": [{"sku": "tea", "quantity": quantity}]}


def test_what_the_package_exports() -> None:
    assert shop.__all__ == sorted(shop.__all__, key=lambda name: (name[0].islower(), name))
    assert all(hasattr(shop, name) for name in shop.__all__)


def test_a_repeat_gets_the_first_answer_and_nothing_happens_twice(client: Client) -> None:
    client.stock("tea", 5)
    first = client.post("reservations", lines(), "k1")
    assert first == (201, {"id": "reservation-1", "order": "o1", "state": "open"})
    assert client.post("reservations", lines(), "k1") == first
    assert (client.effects(), client.get("stock/tea")[1]["available"]) == (["reserve"], 3)


def test_a_refusal_is_a_first_answer_too(client: Client) -> None:
    refused = client.post("reservations", lines(), "k1")
    assert (refused[0], refused[1]["error"]) == (409, "out_of_stock")
    client.stock("tea", 5)
    assert client.post("reservations", lines(), "k1") == refused
    assert client.post("reservations", lines(), "k2")[0] == 201


def test_the_same_key_with_another_body_or_for_another_thing_is_422(client: Client) -> None:
    client.stock("tea", 5)
    client.post("reservations", lines(), "k1")
    for place, body in (("reservations", lines(3)), ("payments", {"order": "o1", **CARD})):
        status, answer = client.post(place, body, "k1")
        assert (status, answer["error"]) == (422, "key_reused")
    assert client.effects() == ["reserve"]


def test_the_order_of_fields_makes_no_other_body(client: Client) -> None:
    body = {"order": "o1", **CARD}
    assert client.post("payments", body, "k") == client.post("payments", dict(reversed(body.items())), "k")


def test_what_was_answered_under_a_key_can_be_asked(client: Client) -> None:
    status, paid = client.post("payments", {"order": "o1", **CARD}, "key/1 %")
    assert client.get("requests/key%2F1%20%25") == (200, {"key": "key/1 %", "status": status, "body": paid})
    assert client.get("requests/never")[0] == 404


@pytest.mark.parametrize(
    ("place", "body", "named"),
    [
        ("reservations", {"lines": []}, "order"),
        ("reservations", {"order": "o1", "lines": []}, "lines"),
        ("reservations", {"order": "o1", "lines": [{"sku": "tea", "quantity": 0}]}, "quantity"),
        ("reservations", {"order": "o1", "lines": [{"sku": "tea", "quantity": True}]}, "quantity"),
        ("payments", {"order": "o1", **CARD, "amount": 1.5}, "amount"),
        ("refunds", {}, "key"),
        ("refunds", {"payment": "payment-99"}, "payment-99"),
        ("refunds", {"payment": "reservation-1"}, "reservation-1"),
    ],
)
def test_a_bad_request_is_400_and_is_not_kept(client: Client, place: str, body: Any, named: str) -> None:
    status, answer = client.post(place, body, "k1")
    assert (status, answer["error"]) == (400, "bad_request")
    assert named in answer["message"]
    assert client.get("requests/k1")[0] == 404
    assert client.http.post("/payments", content=b"{", headers={"Idempotency-Key": "k"}).status_code == 400
    assert client.http.post("/payments", json=[], headers={"Idempotency-Key": "k"}).status_code == 400


def test_a_key_is_wanted(client: Client) -> None:
    status, answer = client.post("payments", {"order": "o1", **CARD})
    assert (status, "Idempotency-Key" in answer["message"]) == (400, True)


def test_nothing_else_is_there(client: Client) -> None:
    assert client.get("nowhere")[0] == client.get("requests/")[0] == client.post("stock/tea", {})[0] == 404
    assert client.http.put("/stock/tea", json={"available": -1}).status_code == 400
    assert client.http.post("/faults", json={"place": "payments", "kind": "meteor"}).status_code == 400


def test_undoing_by_id_or_by_key_happens_once(client: Client) -> None:
    client.stock("tea", 5)
    made = client.post("reservations", lines(), "k1")[1]["id"]
    client.post("payments", {"order": "o1", **CARD}, "k2")
    assert client.post("releases", {"reservation": made}, "u1") == (200, {"undone": True, "id": made})
    assert client.post("releases", {"reservation": made}, "u2") == (200, {"undone": True, "id": made})
    assert client.post("refunds", {"key": "k2"}, "u3")[1]["undone"] is True
    assert client.post("refunds", {"key": "k2"}, "u3")[1]["undone"] is True
    assert client.effects() == ["reserve", "charge", "release", "refund"]
    assert client.get("stock/tea")[1]["available"] == 5


def test_undoing_what_never_came_closes_its_key(client: Client) -> None:
    """Case C37 at the other side: the undo arrives before the step."""
    assert client.post("refunds", {"key": "k1"}, "u1") == (200, {"undone": False})
    status, answer = client.post("payments", {"order": "o1", **CARD}, "k1")
    assert (status, answer["error"], client.effects()) == (409, "closed", [])


def test_the_carrier_ships_every_time_it_is_asked_and_can_be_asked_what_it_has(client: Client) -> None:
    assert client.get("carrier/shipments?order=o1") == (200, {"order": "o1", "shipments": []})
    for _ in range(2):
        assert client.post("carrier/shipments", {"order": "o1", "address": "x"}, "same-key")[0] == 201
    assert [one["id"] for one in client.get("carrier/shipments?order=o1")[1]["shipments"]] == [
        "shipment-1",
        "shipment-2",
    ]
    assert client.post("carrier/cancellations", {"order": "o1", "shipment": "shipment-1"})[1] == {
        "cancelled": ["shipment-1"]
    }
    assert client.post("carrier/cancellations", {"order": "o1"})[1] == {"cancelled": ["shipment-2"]}
    assert client.post("carrier/cancellations", {"order": "o1"})[1] == {"cancelled": []}
    assert client.effects() == ["ship", "ship", "cancel", "cancel"]
    assert client.get("carrier/shipments?order=o1")[1]["shipments"] == []


@pytest.mark.parametrize(("kind", "applied"), [("drop", True), ("lose", False)])
def test_a_connection_breaks_after_or_before_it_is_applied(client: Client, kind: str, applied: bool) -> None:
    client.fault("payments", kind)
    with pytest.raises(httpx.TransportError):
        client.post("payments", {"order": "o1", **CARD}, "k1")
    assert client.effects() == (["charge"] if applied else [])
    assert client.post("payments", {"order": "o1", **CARD}, "k1")[0] == 201
    assert client.effects() == ["charge"]


@pytest.mark.parametrize(("kind", "status", "applied"), [("error", 500, True), ("busy", 503, False)])
def test_an_error_after_or_before_it_is_applied(client: Client, kind: str, status: int, applied: bool) -> None:
    client.fault("payments", kind)
    assert client.post("payments", {"order": "o1", **CARD}, "k1")[0] == status
    assert client.effects() == (["charge"] if applied else [])


@pytest.mark.parametrize(
    ("place", "status", "word"),
    [
        ("reservations", 409, "out_of_stock"),
        ("payments", 402, "declined"),
        ("carrier/shipments", 422, "undeliverable"),
        ("carrier/cancellations", 409, "already_left"),
    ],
)
def test_each_place_refuses_in_its_own_words(client: Client, place: str, status: int, word: str) -> None:
    client.stock("tea", 5)
    client.fault(place, "refuse")
    answer = client.post(place, {**lines(), **CARD, "address": "x"}, "k1")
    assert (answer[0], answer[1]["error"], client.effects()) == (status, word, [])


def test_a_late_answer_is_late_and_applied(client: Client) -> None:
    client.fault("payments", "late", delay_ms=400)
    with pytest.raises(httpx.ReadTimeout):
        client.http.post("/payments", json={"order": "o1", **CARD}, headers={"Idempotency-Key": "k"}, timeout=0.1)
    assert client.effects() == ["charge"]


def arrived(folder: Path) -> None:
    """Wait until the carrier has a request for o1. Asking over HTTP could meet the fault meant for that request."""
    store = Store(folder / "shop.sqlite3")
    while not store.arriving("o1"):
        time.sleep(0.01)
    store.close()


def test_while_the_carrier_works_it_says_so(client: Client, tmp_path: Path) -> None:
    client.fault("carrier/shipments", "slow", delay_ms=1500)
    asking = threading.Thread(target=client.post, args=("carrier/shipments", {"order": "o1", "address": "x"}))
    asking.start()
    arrived(tmp_path)
    assert client.get("carrier/shipments?order=o1") == (202, {"order": "o1", "in_progress": True})
    asking.join()
    assert client.get("carrier/shipments?order=o1")[0] == 200
    assert client.effects() == ["ship"]


def test_a_fault_strikes_its_place_and_order_only_so_many_times_until_it_is_cleared(client: Client) -> None:
    client.fault("payments", "busy", times=1, order="o2")
    assert client.post("payments", {"order": "o1", **CARD}, "k1")[0] == 201
    assert client.post("reservations", {**lines(), "order": "o2"}, "k2")[0] == 409
    assert client.post("payments", {"order": "o2", **CARD}, "k3")[0] == 503
    assert client.post("payments", {"order": "o2", **CARD}, "k3")[0] == 201
    client.fault("payments", "busy", times=9)
    assert client.http.delete("/faults").status_code == 204
    assert client.post("payments", {"order": "o2", **CARD}, "k4")[0] == 201


def test_many_at_once_under_one_key_are_one_effect(client: Client) -> None:
    answers: list[Any] = []

    def pay() -> None:
        answers.append(client.post("payments", {"order": "o1", **CARD}, "k1"))

    threads = [threading.Thread(target=pay) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 16
    assert all(answer == answers[0] for answer in answers)
    assert client.effects() == ["charge"]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.booleans()), max_size=25))
def test_stock_is_never_oversold_and_comes_back(asked: list[tuple[str, int, bool]]) -> None:
    """Keys, quantities, and whether the reservation is undone afterwards, in any order."""
    from scripts.shop.desk import Desk

    store = Store(Path(":memory:"))
    desk = Desk(store)
    store.set_stock("tea", 4)
    held: dict[str, int] = {}
    for key, quantity, back in asked:
        if desk.once("reservations", key, lines(quantity)).status == 201:
            held.setdefault(key, quantity)
        if back:
            desk.once("releases", f"undo-{key}", {"key": key})
            held[key] = 0
        assert store.stock("tea") == 4 - sum(held.values()) >= 0
    store.close()


def command(*words: str) -> int:
    return main(words)


def test_the_command_sets_up_and_looks(
    client: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHOP_ENDPOINT", str(client.http.base_url))
    assert command("stock", "青茶/1", "5") == command("stock", "青茶/1") == 0
    assert [json.loads(line)["available"] for line in capsys.readouterr().out.splitlines()] == [5, 5]
    assert command("fault", "payments", "refuse", "--order", "o1") == 0
    assert client.post("payments", {"order": "o1", **CARD}, "k1")[0] == 402
    assert command("fault", "payments", "busy", "--times", "9") == command("clear") == 0
    assert client.post("payments", {"order": "o1", **CARD}, "k2")[0] == 201
    assert command("effects", "o1") == 0
    assert json.loads(capsys.readouterr().out) == {"effects": ["charge"]}


def test_the_command_says_when_the_shop_says_no_or_is_away(
    client: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHOP_ENDPOINT", str(client.http.base_url))
    assert command("stock", "tea", "-1") == 1
    monkeypatch.delenv("SHOP_ENDPOINT")
    assert command("effects") == 2
    assert "SHOP_ENDPOINT" in capsys.readouterr().err


SERVE = """\
import sys
from pathlib import Path
from local_sim.services.host import ServiceHost
from scripts.shop import create_app
import time
host = ServiceHost(create_app(Path(sys.argv[1]))).start()
print(host.endpoint, flush=True)
time.sleep(600)
"""


def served(folder: Path) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen([sys.executable, "-c", SERVE, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_it_remembers_everything_after_kill_9(tmp_path: Path) -> None:
    process, endpoint = served(tmp_path)
    try:
        with httpx.Client(base_url=endpoint, timeout=10) as http:
            client = Client(http)
            first = client.post("payments", {"order": "o1", **CARD}, "k1")
            client.fault("carrier/shipments", "slow", delay_ms=60_000)
            stop = threading.Thread(target=_ignoring, args=(client,))
            stop.start()
            arrived(tmp_path)
            process.send_signal(signal.SIGKILL)
            stop.join()
    finally:
        process.kill()
        process.communicate()
    process, endpoint = served(tmp_path)
    try:
        with httpx.Client(base_url=endpoint, timeout=10) as http:
            client = Client(http)
            assert client.post("payments", {"order": "o1", **CARD}, "k1") == first
            assert client.effects() == ["charge"]
            # A request that died with its shop was never applied, and the carrier knows it.
            assert client.get("carrier/shipments?order=o1") == (200, {"order": "o1", "shipments": []})
    finally:
        process.kill()
        process.communicate()
    store = Store(tmp_path / "shop.sqlite3")
    assert store.effects() == [Effect("charge", "o1")]
    store.close()


def _ignoring(client: Client) -> None:
    with pytest.raises(httpx.TransportError):
        client.post("carrier/shipments", {"order": "o1", "address": "x"})


def test_any_asgi_server_can_serve_it_and_drops_as_told(tmp_path: Path) -> None:
    import uvicorn

    app = create_app(tmp_path)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=10) as http:
            client = Client(http)
            client.fault("payments", "drop")
            with pytest.raises(httpx.TransportError):
                client.post("payments", {"order": "o1", **CARD}, "k1")
            assert client.effects() == ["charge"]
    finally:
        server.should_exit = True
        thread.join(20)
        app.close()
