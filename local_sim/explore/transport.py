"""Where requests leave a handler: the transports of urllib3 (requests, oss2, tablestore, boto3, the Tea SDKs), httpx
(openai) and http.client (urllib).

Each is replaced at the one place where bytes would meet a socket, so everything above - pools, retries, redirects,
decoding - is the client's own. What goes to an address outside of the world goes to the real one.
"""

from __future__ import annotations

import http.client
import io
from collections.abc import Callable
from typing import Any

from .wire import ConnectionLost, Headers, Request, Response

Gate = Callable[[Request], Response]
"""Answers a request, or raises ConnectionLost."""

Known = Callable[[str, int], bool]
"""Says whether the world answers at an address."""


def install(gate: Gate, known: Known) -> None:
    """Let all requests of this process go through `gate`."""
    _urllib3(gate, known)
    _httpx(gate, known)
    _http_client(gate, known)


def _urllib3(gate: Gate, known: Known) -> None:
    try:
        from urllib3.connectionpool import HTTPConnectionPool
        from urllib3.exceptions import NewConnectionError, ProtocolError
        from urllib3.response import HTTPResponse
    except ImportError:  # a project without it
        return
    pool_class: Any = HTTPConnectionPool
    real = pool_class._make_request

    def made(self: Any, conn: Any, method: str, url: str, body: Any = None, headers: Any = None, **more: Any) -> Any:
        if not known(self.host, self.port):
            return real(self, conn, method, url, body=body, headers=headers, **more)
        request = Request(method, self.host, self.port, url, _pairs(headers or {}), _bytes(body))
        try:
            response = gate(request)
        except ConnectionLost as lost:
            if not lost.sent:
                raise NewConnectionError(conn, str(lost)) from None
            raise ProtocolError("Connection aborted.", http.client.RemoteDisconnected(str(lost))) from None
        # HTTPResponse takes a mapping: a header that comes twice is joined, as urllib3's own reader does.
        return HTTPResponse(
            body=io.BytesIO(b"" if method == "HEAD" else response.body),
            headers=_joined(response.headers),
            status=response.status,
            version=11,
            reason=http.client.responses.get(response.status, ""),
            preload_content=more.get("preload_content", True),
            decode_content=more.get("decode_content", True),
            request_method=method,
            request_url=url,
        )

    pool_class._make_request = made


def _httpx(gate: Gate, known: Known) -> None:
    try:
        import httpx
    except ImportError:  # a project without it
        return
    plain: Any = httpx.HTTPTransport
    awaited: Any = httpx.AsyncHTTPTransport
    real, real_awaited = plain.handle_request, awaited.handle_async_request

    def answered(request: Any, content: bytes) -> Any:
        url = request.url
        port = url.port or (443 if url.scheme == "https" else 80)
        target = url.raw_path.decode("ascii")
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw)
        try:
            response = gate(Request(request.method, url.host, port, target, headers, content))
        except ConnectionLost as lost:
            kind = httpx.ReadError if lost.sent else httpx.ConnectError
            raise kind(str(lost), request=request) from None
        return Response(response.status, response.headers) if request.method == "HEAD" else response

    def handled(self: Any, request: Any) -> Any:
        if not known(request.url.host, request.url.port or 80):
            return real(self, request)
        response = answered(request, request.read())
        return httpx.Response(response.status, headers=list(response.headers), stream=_Stream(response.body))

    async def handled_awaited(self: Any, request: Any) -> Any:
        if not known(request.url.host, request.url.port or 80):
            return await real_awaited(self, request)
        response = answered(request, await request.aread())
        return httpx.Response(response.status, headers=list(response.headers), stream=_Stream(response.body))

    class _Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
        def __init__(self, body: bytes) -> None:
            self._body = body

        def __iter__(self) -> Any:
            yield self._body

        async def __aiter__(self) -> Any:
            yield self._body

    plain.handle_request, awaited.handle_async_request = handled, handled_awaited


def _http_client(gate: Gate, known: Known) -> None:
    connection: Any = http.client.HTTPConnection
    real = connection.connect

    def connect(self: Any) -> None:
        if known(self.host, self.port):
            self.sock = _MemorySocket(self.host, self.port, gate)
        else:
            real(self)

    connection.connect = connect


class _MemorySocket:
    """A connected socket for http.client: what is written is one request, what is read is its answer."""

    def __init__(self, host: str, port: int, gate: Gate) -> None:
        self._host, self._port, self._gate = host, port, gate
        self._sent = bytearray()

    def sendall(self, data: Any) -> None:
        self._sent += bytes(data)

    def makefile(self, mode: str, *_: object) -> io.BytesIO:
        request = self._request()
        self._sent.clear()
        try:
            response = self._gate(request)
        except ConnectionLost as lost:
            raise (ConnectionResetError if lost.sent else ConnectionRefusedError)(str(lost)) from None
        return io.BytesIO(_written(response, head=request.method == "HEAD"))

    def _request(self) -> Request:
        head, _, body = bytes(self._sent).partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        pairs = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))
        if any(name.lower() == "transfer-encoding" for name, _ in pairs):
            body = _unchunked(body)
        return Request(method, self._host, self._port, target, pairs, body)

    def settimeout(self, seconds: float | None) -> None:
        """Take no notice: an answer is there at once, or the run's clock says how long it took."""

    def close(self) -> None:
        """Forget what was written."""
        self._sent.clear()

    def setsockopt(self, *_: object) -> None:
        """Take no notice."""


def _unchunked(body: bytes) -> bytes:
    whole, rest = bytearray(), body
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size.split(b";")[0] or b"0", 16)
        if length == 0:
            break
        whole += rest[:length]
        rest = rest[length + 2 :]
    return bytes(whole)


def _written(response: Response, *, head: bool) -> bytes:
    lines = [f"HTTP/1.1 {response.status} {http.client.responses.get(response.status, '')}"]
    names = {name.lower() for name, _ in response.headers}
    lines += [f"{name}: {value}" for name, value in response.headers if name.lower() != "transfer-encoding"]
    if "content-length" not in names and not head:
        lines.append(f"content-length: {len(response.body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (b"" if head else response.body)


def _pairs(headers: Any) -> Headers:
    return tuple((_text(name), _text(value)) for name, value in headers.items())


def _joined(headers: Headers) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers:
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _bytes(body: Any) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytes | bytearray | memoryview):
        return bytes(body)
    if hasattr(body, "read"):
        return _bytes(body.read())
    return b"".join(_bytes(part) for part in body)
