"""Requests of the clients a handler may use, answered without a socket."""

from __future__ import annotations

import asyncio
import http.client
import urllib.error
import urllib.request

import httpx
import pytest
import requests
import urllib3
from urllib3.connectionpool import HTTPConnectionPool

from local_sim.explore import transport
from local_sim.explore.wire import ConnectionLost, Request, Response

URL = "http://127.0.0.1:4010"


class Desk:
    """Stands for a world: answers one request after the other, and remembers them."""

    def __init__(self) -> None:
        self.seen: list[Request] = []
        self.answer: Response | ConnectionLost = Response(200, (("content-type", "text/plain"), ("x-a", "1")), b"fine")

    def __call__(self, request: Request) -> Response:
        self.seen.append(request)
        if isinstance(self.answer, ConnectionLost):
            raise self.answer
        return self.answer


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    places: list[tuple[type, str]] = [
        (HTTPConnectionPool, "_make_request"),
        (httpx.HTTPTransport, "handle_request"),
        (httpx.AsyncHTTPTransport, "handle_async_request"),
        (http.client.HTTPConnection, "connect"),
    ]
    for owner, name in places:  # so that they are put back
        monkeypatch.setattr(owner, name, getattr(owner, name))
    found = Desk()
    transport.install(found, lambda host, port: port == 4010)
    return found


def test_requests(desk: Desk) -> None:
    answer = requests.post(f"{URL}/p?q=1", data=b"body", headers={"X-K": "v"}, timeout=5)
    assert (answer.status_code, answer.text, answer.headers["x-a"]) == (200, "fine", "1")
    (seen,) = desk.seen
    assert (seen.method, seen.target, seen.path, seen.body, seen.header("x-k")) == (
        "POST",
        "/p?q=1",
        "/p",
        b"body",
        "v",
    )


def test_urllib3_with_an_iterator(desk: Desk) -> None:
    pool = urllib3.PoolManager()
    assert pool.request("PUT", f"{URL}/a", body=iter([b"one", b"two"])).data == b"fine"
    assert desk.seen[0].body == b"onetwo"


def test_httpx(desk: Desk) -> None:
    assert httpx.post(f"{URL}/p", json={"a": 1}, timeout=5).text == "fine"
    assert desk.seen[0].body == b'{"a":1}'


def test_httpx_asynchronous(desk: Desk) -> None:
    async def ask() -> str:
        async with httpx.AsyncClient() as client:
            return (await client.get(f"{URL}/p")).text

    assert asyncio.run(ask()) == "fine"
    assert desk.seen[0].method == "GET"


def test_urllib(desk: Desk) -> None:
    request = urllib.request.Request(f"{URL}/p", b"data", {"X-K": "v"}, method="PUT")
    with urllib.request.urlopen(request, timeout=5) as answer:
        assert answer.read() == b"fine"
    assert (desk.seen[0].method, desk.seen[0].body, desk.seen[0].header("x-k")) == ("PUT", b"data", "v")


def test_urllib_with_a_body_in_chunks(desk: Desk) -> None:
    request = urllib.request.Request(f"{URL}/p", iter([b"ab", b"", b"cd"]), method="POST")
    with urllib.request.urlopen(request, timeout=5) as answer:
        assert answer.status == 200
    assert desk.seen[0].body == b"abcd"


def test_an_error_status_is_the_clients_own_affair(desk: Desk) -> None:
    desk.answer = Response(503, (), b"busy")
    assert requests.get(URL, timeout=5).status_code == 503
    assert httpx.get(URL, timeout=5).status_code == 503
    with pytest.raises(urllib.error.HTTPError, match="503"):
        urllib.request.urlopen(URL, timeout=5)


def test_a_head_has_no_body(desk: Desk) -> None:
    assert requests.head(URL, timeout=5).status_code == 200
    with urllib.request.urlopen(urllib.request.Request(URL, method="HEAD"), timeout=5) as answer:
        assert answer.read() == b""


@pytest.mark.parametrize("sent", [True, False])
def test_a_broken_connection_is_each_client_s_own_error(desk: Desk, sent: bool) -> None:
    desk.answer = ConnectionLost(sent=sent)
    with pytest.raises(requests.ConnectionError):
        requests.get(URL, timeout=5)
    with pytest.raises(httpx.ReadError if sent else httpx.ConnectError):
        httpx.get(URL, timeout=5)
    with pytest.raises((ConnectionError, urllib.error.URLError)):
        urllib.request.urlopen(URL, timeout=5)


def test_a_client_s_own_retries_run(desk: Desk) -> None:
    desk.answer = ConnectionLost(sent=True)
    pool = urllib3.PoolManager(retries=urllib3.Retry(2, backoff_factor=0))
    with pytest.raises(urllib3.exceptions.MaxRetryError):
        pool.request("GET", URL)
    assert len(desk.seen) == 3


def test_other_addresses_are_reached_for_real(desk: Desk) -> None:
    with pytest.raises(requests.ConnectionError):
        requests.get("http://127.0.0.1:9", timeout=5)
    assert desk.seen == []
