"""The shop as a client: every answer, and every way to get none, is a result or the right typed error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from loopback import Answer, Loopback, closed_port

from functions.errors import OrderRefused, ResultConflict, StepkeeperError, SystemFault, TemporaryUpstreamError
from functions.orders.models import Order, OrderEvent
from functions.orders.shop import Shop, named
from functions.settings import Settings
from functions.step import Call
from ledger import Compensation, ProbeVerdict

BODY = {"order": "o1"}


@dataclass
class Claim:
    """As much of a StepContext as the client looks at."""

    remaining_seconds: float


def opened(url: str, timeout: float = 5, left: float | None = None, **more: Any) -> Shop:
    settings = Settings(shop_endpoint=url, shop_timeout=timeout, **more)
    return Shop.open(settings, None if left is None else Claim(left))  # type: ignore[arg-type]


def failure(shop: Shop, kind: type[StepkeeperError], key: str = "k1") -> Any:
    with pytest.raises(kind) as caught:
        shop.post("payments", BODY, key)
    assert type(caught.value) is kind
    return caught.value


def test_a_request_carries_key_body_and_credentials(server: Loopback) -> None:
    server.answers = [Answer.of({"id": "p1"}, 201)]
    shop = opened(server.url + "/", shop_api_key="a-key")
    assert shop.post("payments", {"order": "订单"}, "k1") == {"id": "p1"}
    (asked,) = server.asked
    assert (asked.path, asked.json) == ("/payments", {"order": "订单"})
    assert (asked.headers["idempotency-key"], asked.headers["authorization"]) == ("k1", "Bearer a-key")


def test_the_carrier_gets_no_key(server: Loopback) -> None:
    server.answers = [Answer.of({})]
    opened(server.url).post("carrier/shipments", BODY)
    assert not {"idempotency-key", "authorization"} & set(server.asked[0].headers)


@pytest.mark.parametrize(
    ("status", "error"), [(409, "out_of_stock"), (402, "declined"), (422, "undeliverable"), (410, "gone")]
)
def test_a_reason_of_business_is_refused_with_its_word(server: Loopback, status: int, error: str) -> None:
    server.answers = [Answer.of({"error": error, "message": "why"}, status)]
    refused = failure(opened(server.url), OrderRefused)
    assert (refused.reason, refused.status, refused.effect_applied) == (error, status, False)
    assert "why" in str(refused)


def test_a_key_that_came_with_another_body_is_a_conflict(server: Loopback) -> None:
    server.answers = [Answer.of({"error": "key_reused"}, 422)]
    assert failure(opened(server.url), ResultConflict, "k7").key == "k7"


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404])
def test_anything_else_that_is_refused_is_the_set_ups_fault(server: Loopback, status: int) -> None:
    server.answers = [Answer.of({"error": "bad_request"}, status)]
    assert failure(opened(server.url), SystemFault).effect_applied is False


@pytest.mark.parametrize("body", [b"", b"no", b"[]", b"{}", b'{"error": 5}'])
def test_a_refusal_without_a_word_is_not_guessed_at(server: Loopback, body: bytes) -> None:
    server.answers = [Answer(409, body)]
    assert failure(opened(server.url), SystemFault).effect_applied is False


@pytest.mark.parametrize(("status", "applied"), [(429, False), (503, False), (500, None), (502, None), (408, None)])
def test_busy_and_broken_tell_whether_it_was_applied(server: Loopback, status: int, applied: bool | None) -> None:
    server.answers = [Answer(status, b"", {"Retry-After": "7"})]
    error = failure(opened(server.url), TemporaryUpstreamError)
    assert (error.effect_applied, error.retry_after, error.upstream) == (applied, 7.0, "shop")


def test_a_shop_that_cannot_be_reached_did_nothing() -> None:
    assert failure(opened(f"http://127.0.0.1:{closed_port()}"), TemporaryUpstreamError).effect_applied is False


@pytest.mark.parametrize("answer", [Answer(hang=True), Answer(201, b'{"id": "p1"}' * 9, cut=True)], ids=["late", "cut"])
def test_an_answer_that_never_comes_leaves_it_open(server: Loopback, answer: Answer) -> None:
    server.answers = [answer]
    assert failure(opened(server.url, 0.2), TemporaryUpstreamError).effect_applied is None


@pytest.mark.parametrize("body", [b"", b"ok", b"[1]"])
def test_success_that_cannot_be_read_is_asked_for_again(server: Loopback, body: bytes) -> None:
    server.answers = [Answer(201, body)]
    assert failure(opened(server.url), TemporaryUpstreamError).effect_applied is None


@pytest.mark.parametrize("thing", [None, {}, {"id": ""}, {"id": 5}, []], ids=repr)
def test_success_without_an_id_is_asked_for_again(thing: Any) -> None:
    with pytest.raises(TemporaryUpstreamError) as caught:
        named(thing)
    assert caught.value.effect_applied is None


def test_a_shop_without_an_address_is_the_set_ups_fault() -> None:
    with pytest.raises(SystemFault, match="SHOP_ENDPOINT") as caught:
        opened("")
    assert caught.value.effect_applied is False


@pytest.mark.parametrize("url", ["ftp://shop", "no address", "http://"])
def test_an_address_that_is_none_did_nothing(url: str) -> None:
    with pytest.raises((SystemFault, TemporaryUpstreamError)) as caught:
        opened(url).post("payments", BODY, "k")
    assert caught.value.effect_applied is False


def test_a_call_never_outlives_its_claim() -> None:
    assert opened("http://shop", 10, left=6).timeout == 2
    assert opened("http://shop", 1, left=6).timeout == 1
    assert 0 < opened("http://shop", 10, left=-5).timeout <= 0.05


@pytest.mark.parametrize(
    ("answer", "verdict", "result"),
    [
        (Answer.of({"shipments": []}), ProbeVerdict.NOT_APPLIED, None),
        (Answer.of({"shipments": [{"id": "s1"}]}), ProbeVerdict.APPLIED, "s1"),
        (Answer.of({"shipments": [{"id": "s1"}, {"id": "s2"}]}), ProbeVerdict.CANNOT_TELL, None),
        (Answer.of({"error": "unknown"}, 409), ProbeVerdict.CANNOT_TELL, None),
        (Answer.of({"error": "not_found"}, 404), ProbeVerdict.CANNOT_TELL, None),
        (Answer.of({"shipments": None}), ProbeVerdict.CANNOT_TELL, None),
        (Answer(200, b"<html>"), ProbeVerdict.CANNOT_TELL, None),
    ],
)
def test_the_carriers_three_answers(server: Loopback, answer: Answer, verdict: ProbeVerdict, result: Any) -> None:
    server.answers = [answer]
    probe = opened(server.url).shipment("a/b 1")
    assert (probe.verdict, probe.result) == (verdict, result)
    assert bool(probe.reason) is (verdict is ProbeVerdict.CANNOT_TELL)
    assert server.asked[0].path == "/carrier/shipments?order=a%2Fb%201"


@pytest.mark.parametrize("answer", [Answer(202), Answer(503), Answer(500), Answer(hang=True)], ids=str)
def test_a_carrier_that_cannot_answer_now_is_asked_later(server: Loopback, answer: Answer) -> None:
    server.answers = [answer]
    with pytest.raises(TemporaryUpstreamError):
        opened(server.url, 0.2).shipment("o1")


def test_the_ledger_compares_what_the_customer_ordered_and_nothing_else() -> None:
    pins = {"workflow": "w", "function": "1", "prompt": "1", "input": "i"}
    order = {"task_id": "o1", "lines": [{"sku": "a", "quantity": 1}], "amount": 5, "currency": "CNY"}
    first = Order(**order, method="m", address="x", versions=pins)  # type: ignore[arg-type]
    later = first.model_copy(update={"reservation": "r1", "payment": "p1"})
    assert OrderEvent(step="Charge", task=first).compared() == OrderEvent(step="Charge", task=later).compared()
    dearer = first.model_copy(update={"amount": 6})
    assert OrderEvent(step="Charge", task=first).compared() != OrderEvent(step="Charge", task=dearer).compared()


def test_a_handler_that_only_reads_has_no_compensation_to_complete() -> None:
    with pytest.raises(SystemFault, match="only reads"):
        Call(None, Settings()).complete(Compensation("refund"))  # type: ignore[type-var]
