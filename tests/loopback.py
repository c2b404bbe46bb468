"""A web server on loopback that answers as told and remembers what it was asked."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """`body` is sent as it is; `hang`: never answer; `cut`: send half of the body, then break the connection."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False
    cut: bool = False

    @classmethod
    def of(cls, value: Any, status: int = 200, **headers: str) -> Answer:
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return cls(status, json.dumps(value).encode(), {"Content-Type": "application/json", **named})


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: bytes
    method: str = "POST"

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Loopback:
    """`answers` are given in turn, the last one for ever; a callable answer sees the request."""

    def __init__(self) -> None:
        self.answers: list[Answer | Callable[[Asked], Answer]] = [Answer()]
        self.asked: list[Asked] = []
        self.released = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                headers = {name.lower(): text for name, text in self.headers.items()}
                asked = Asked(self.path, headers, body, self.command)
                server.asked.append(asked)
                given = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
                server.send(self, given(asked) if callable(given) else given)

            do_GET = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_POST  # noqa: N815 (the library's names)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def send(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        if answer.hang:
            self.released.wait(20)
            handler.close_connection = True
            return
        handler.send_response(answer.status)
        for name, text in answer.headers.items():
            handler.send_header(name, text)
        handler.send_header("Content-Length", str(len(answer.body)))
        handler.end_headers()
        if answer.cut:
            handler.wfile.write(answer.body[: len(answer.body) // 2])
            handler.wfile.flush()
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()
            handler.close_connection = True
            return
        handler.wfile.write(answer.body)

    def close(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(5)


@contextmanager
def loopback() -> Iterator[Loopback]:
    server = Loopback()
    try:
        yield server
    finally:
        server.close()


def closed_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
