"""The host serves ASGI apps on loopback, fails with typed errors, and ends cleanly."""

from __future__ import annotations

import asyncio
import http.client
import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from local_sim.services import AddressUnusable, ConnectionCut, PortInUse, ServiceHost, ServiceNotRunning, Services
from local_sim.services import host as host_module
from local_sim.services.asgi import Receive, Reply, Scope, Send, read_body, send_reply


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = await read_body(receive)
    await send_reply(send, Reply(200, ((b"x-path", scope["path"].encode()),), body or b""))


async def crash(scope: Scope, receive: Receive, send: Send) -> None:
    raise RuntimeError("a bug in the app")


async def cut_before(scope: Scope, receive: Receive, send: Send) -> None:
    await read_body(receive)
    raise ConnectionCut


async def cut_in_body(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"10")]})
    await send({"type": "http.response.body", "body": b"half", "more_body": True})
    raise ConnectionCut


def ask(host: ServiceHost, path: str = "/", body: bytes = b"") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(host.host, host.port, timeout=5)
    try:
        connection.request("POST", path, body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.fixture(params=["uvloop", "asyncio"])
def loop_kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "asyncio":
        monkeypatch.setattr(host_module, "_new_loop", asyncio.new_event_loop)
    return request.param


def test_serves_an_app_on_a_free_port(loop_kind: str) -> None:
    with ServiceHost(echo) as host:
        assert ask(host, "/some/path", b"x" * 300_000) == (200, b"x" * 300_000)
        assert host.endpoint == f"http://127.0.0.1:{host.port}"


def test_many_requests_share_a_connection(loop_kind: str) -> None:
    with ServiceHost(echo) as host:
        connection = http.client.HTTPConnection("127.0.0.1", host.port, timeout=5)
        for number in range(20):
            connection.request("POST", "/", b"%d" % number)
            assert connection.getresponse().read() == b"%d" % number
        connection.close()


def test_header_and_body_leave_in_one_segment(loop_kind: str) -> None:
    with ServiceHost(echo) as host, socket.create_connection(("127.0.0.1", host.port), timeout=5) as client:
        for _ in range(20):
            # In two parts, so that the app has to wait: some loops join writes only when it has not.
            client.sendall(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n")
            client.sendall(b"hello")
            assert client.recv(65536).endswith(b"\r\n\r\nhello")


def test_a_port_in_use_is_a_typed_error() -> None:
    with ServiceHost(echo) as first:
        with pytest.raises(PortInUse) as caught:
            ServiceHost(echo, port=first.port).start()
        assert (caught.value.host, caught.value.port) == ("127.0.0.1", first.port)


@pytest.mark.parametrize(("host", "port"), [("203.0.113.7", 0), ("127.0.0.1", 70_000), ("no such name", 0)])
def test_an_unusable_address_is_a_typed_error(host: str, port: int) -> None:
    with pytest.raises(AddressUnusable) as caught:
        ServiceHost(echo, host=host, port=port).start()
    assert (caught.value.host, caught.value.port) == (host, port)


def test_a_stopped_port_can_be_taken_again_at_once() -> None:
    with ServiceHost(echo) as first:
        ask(first)
        port = first.port
    with ServiceHost(echo, port=port) as second:
        assert ask(second, body=b"again") == (200, b"again")


def test_no_address_before_start_and_after_stop() -> None:
    host = ServiceHost(echo, name="ots")
    with pytest.raises(ServiceNotRunning):
        _ = host.port
    host.start()
    host.stop()
    host.stop()
    with pytest.raises(ServiceNotRunning) as caught:
        _ = host.endpoint
    assert caught.value.name == "ots"


def test_stops_quickly_with_idle_keep_alive_clients(loop_kind: str) -> None:
    host = ServiceHost(echo).start()
    clients = [http.client.HTTPConnection("127.0.0.1", host.port, timeout=5) for _ in range(8)]
    for client in clients:
        client.request("GET", "/")
        client.getresponse().read()
    begin = time.perf_counter()
    host.stop()
    assert time.perf_counter() - begin < 0.5
    assert all(client.sock is None or client.sock.recv(1) == b"" for client in clients)
    for client in clients:
        client.close()


def test_a_request_in_progress_ends_before_the_stop() -> None:
    entered = threading.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        entered.set()
        await asyncio.sleep(0.1)
        await send_reply(send, Reply(200, (), b"done"))

    host = ServiceHost(slow).start()
    answers: list[tuple[int, bytes]] = []
    client = threading.Thread(target=lambda: answers.append(ask(host)))
    client.start()
    assert entered.wait(5)
    host.stop()
    client.join()
    assert answers == [(200, b"done")]


def test_a_request_that_never_ends_is_cut_after_the_grace() -> None:
    entered = threading.Event()

    async def stuck(scope: Scope, receive: Receive, send: Send) -> None:
        entered.set()
        await asyncio.Event().wait()

    host = ServiceHost(stuck, grace=0.05).start()
    client = socket.create_connection(("127.0.0.1", host.port), timeout=5)
    client.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    assert entered.wait(5)
    begin = time.perf_counter()
    host.stop()
    assert time.perf_counter() - begin < 1
    client.close()


def test_a_crash_in_the_app_is_answered_and_logged(loop_kind: str, caplog: pytest.LogCaptureFixture) -> None:
    with ServiceHost(crash) as host, caplog.at_level(logging.ERROR):
        status, body = ask(host, "/PutRow")
    assert (status, body) == (500, b"internal error of the local service; see its log\n")
    assert "POST /PutRow failed" in caplog.text
    assert "a bug in the app" in caplog.text


def test_a_crash_after_the_start_of_an_answer_still_gives_one(caplog: pytest.LogCaptureFixture) -> None:
    async def late_crash(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
        raise RuntimeError

    with ServiceHost(late_crash) as host:
        assert ask(host)[0] == 500


def test_an_answer_in_parts_arrives_whole(loop_kind: str) -> None:
    async def parts(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1500000")]})
        for number in range(15):
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": number < 14})

    with ServiceHost(parts) as host:
        assert ask(host) == (200, b"x" * 1_500_000)


def test_connection_cut_drops_the_client_without_a_reply(loop_kind: str, caplog: pytest.LogCaptureFixture) -> None:
    with ServiceHost(cut_before) as host:
        for _ in range(3):
            with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
                ask(host, body=b"body")
    assert caplog.text == ""


def test_connection_cut_in_the_body_leaves_a_partial_answer(loop_kind: str, caplog: pytest.LogCaptureFixture) -> None:
    with ServiceHost(cut_in_body) as host, pytest.raises(http.client.IncompleteRead) as caught:
        ask(host)
    assert caught.value.partial == b"half"
    assert caplog.text == ""


def test_garbage_is_answered_with_400_and_without_noise(capfd: pytest.CaptureFixture[str]) -> None:
    with ServiceHost(echo) as host, socket.create_connection(("127.0.0.1", host.port), timeout=5) as client:
        client.sendall(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 400 ")
    assert capfd.readouterr() == ("", "")


def test_services_share_one_thread_and_have_a_port_each() -> None:
    names: dict[str, str] = {}

    def app(name: str) -> host_module.ASGIApp:
        async def run(scope: Scope, receive: Receive, send: Send) -> None:
            names[name] = threading.current_thread().name
            await send_reply(send, Reply(200, (), name.encode()))

        return run

    services = Services()
    services.add("ots", app("ots"))
    services.add("oss", app("oss"))
    with services:
        services.add("fnf", app("fnf"))
        assert [ask(services[name])[1] for name in services] == [b"ots", b"oss", b"fnf"]
        assert len({host.port for host in services.values()}) == 3
        assert len(set(names.values())) == 1
    assert len(services) == 0
    with pytest.raises(ServiceNotRunning):
        _ = services["ots"]


def test_services_stop_what_they_started_when_one_cannot_start() -> None:
    with ServiceHost(echo) as taken:
        before = threading.active_count()
        services = Services()
        services.add("first", echo)
        services.add("second", echo, port=taken.port)
        with pytest.raises(PortInUse):
            services.start()
        assert len(services) == 0
        assert threading.active_count() == before


def test_starting_twice_is_starting_once() -> None:
    host = ServiceHost(echo).start()
    port = host.port
    assert host.start().port == port
    host.stop()


def test_importing_the_package_does_not_import_uvicorn() -> None:
    code = "import sys, local_sim.services; sys.exit('uvicorn' in sys.modules or 'tablestore' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_ready_in_well_under_a_second() -> None:
    ServiceHost(echo).start().stop()  # the first one imports uvicorn
    begin = time.perf_counter()
    with ServiceHost(echo) as host:
        ask(host)
        assert time.perf_counter() - begin < 0.3
